"""How the trainer refuses a user's mistake: what was found, what was wanted, what to do."""

from __future__ import annotations


class Refused(ValueError):
    """The user's mistake; printed without a traceback."""


def refusal(found: str, wanted: str, do: str) -> Refused:
    return Refused(f"found:   {found}\nwanted:  {wanted}\ndo this: {do}")
