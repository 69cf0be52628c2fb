"""Statistics of cache measurements: pure functions over numbers, no clock, no randomness but from a given seed."""
