"""One workload in every format that the readers take."""
