"""A log or trace sent again: open loop at its arrivals, or closed loop, with hit rate, TTFT and goodput."""
