"""One probe a module."""
