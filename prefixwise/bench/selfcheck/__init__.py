"""The error of the client itself, here and now: against a server on this machine whose delays are known."""
