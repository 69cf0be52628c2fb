"""Cold against warm time to first token: paired, interleaved, verified."""
