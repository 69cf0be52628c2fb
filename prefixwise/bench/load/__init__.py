"""Shared-prefix workloads at a concurrency or a rate: what users wait for, and how much comes from the cache."""
