"""What the providers' caches would report, from their published rules; of the tool under test, only a tokenizer."""
