"""Python sources, read by their syntax trees: values that change by themselves, and their way into prompts."""

from prefixwise.analyzers.static.python.reading import read_python

__all__ = ["read_python"]
