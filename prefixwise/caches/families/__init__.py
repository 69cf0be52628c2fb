"""Matching families of hosted caches, one file each: how the rows of one model go through one cache."""
