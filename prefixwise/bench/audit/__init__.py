"""Are tenants apart in the cache? Measured on recorded timings, and live on an endpoint that its operator names."""
