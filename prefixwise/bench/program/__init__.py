"""Programs of many calls, with reuse and without: what the cache saves from the first call to the last answer."""
