"""A log on a live engine: what a cache rule predicts, held against what the engine reports, request by request."""
