"""`prefixwise trace`."""
def trace() -> None:
    """todo"""
