"""Labelled traffic: logs with one injected cause each, their healthy twins, and the scorer of `prefixwise lint`."""
