import os
import subprocess

import anthropic

RULES = """You answer questions about ferry crossings for a booking office.
Quote the timetable, never a guess. Name the harbour, the deck and the fare class.
If a crossing is cancelled, say so first and offer the next two departures.
Refunds above the price of one ticket are passed on to a colleague."""


def environment():
    branch = subprocess.check_output(["git", "status", "--short"], text=True)
    return f"Folder: {os.getcwd()}\nGit:\n{branch}"


def step(messages):
    system = "\n\n".join(["You repair timetables.", environment(), RULES])
    return anthropic.Anthropic().messages.create(
        model="claude-opus-4-5", max_tokens=2000, system=system, messages=messages
    )
