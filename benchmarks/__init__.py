"""Seeded request logs, and the scripts that measure prefixwise on them."""
