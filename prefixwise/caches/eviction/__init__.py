"""Orders in which a radix tree gives up its leaves: one file an order."""
