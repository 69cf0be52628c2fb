"""Finds out the rules of a cache from outside: block size, shortest prompt, lifetime, room, and what is counted."""
