"""Clients of inference endpoints: one timed exchange at a time, one file a wire protocol."""
