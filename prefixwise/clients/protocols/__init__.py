"""Wire protocols, one a file; the registry walks this folder."""
