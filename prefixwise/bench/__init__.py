"""Experiments on engines and endpoints, through their clients."""
