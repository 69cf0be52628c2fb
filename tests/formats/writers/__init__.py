"""A module a vendor: functions from the workload to the files that the vendor's export would hold."""
