"""Fixes: edits of sources that mend what a finding speaks of, and copies of logs with what their rules repair."""
