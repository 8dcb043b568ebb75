"""Checks that find training defects which raise no error."""

from gradarbiter.ask import ask, check
from gradarbiter.frameworks import subject
from gradarbiter.result import Finding, NotAsked, Report, Result
from gradarbiter.subject import Answer, Expect, Group, Parameter, Subject
from gradarbiter.watch import DefectFound, watch

__all__ = [
    "Answer",
    "DefectFound",
    "Expect",
    "Finding",
    "Group",
    "NotAsked",
    "Parameter",
    "Report",
    "Result",
    "Subject",
    "ask",
    "check",
    "subject",
    "watch",
]
