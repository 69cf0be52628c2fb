"""What to do about a cache: searched for, and each answer replayed."""
