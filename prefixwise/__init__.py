"""prefixwise: audit and benchmark LLM prompt caching."""

__version__ = "0.1.0"
