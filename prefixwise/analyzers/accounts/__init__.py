"""Where every prompt token went, and what fixes would bring back."""
