"""The Rust files of a bundle."""

from __future__ import annotations

from typing import Any

import jinja2

from harness.project import Project
from harness.repro.question import Question


def rust_files(project: Project, question: Question, jinja: jinja2.Environment, context: dict[str, Any]) -> dict[str, str]:
    raise NotImplementedError
