"""formgrader's pages, careful with the names in their addresses.

nbgrader 0.9.6 writes a student's id into its pages as it is, also one that only stands in an address: a link in a
student's text to `/formgrader/manage_students/<img ...>` would act with the instructor's rights.
"""

from __future__ import annotations

from typing import Any

from nbgrader.server_extensions.formgrader.base import BaseHandler

from autograder.submission import ACTS
from autograder.text import REPLACEMENT

_render = BaseHandler.render


def render(self: Any, name: str, **names: Any) -> Any:
    """nbgrader's own, with what would act in an id shown as a question mark."""
    return _render(self, name, **{key: _inert(value) if key.endswith("_id") else value for key, value in names.items()})


def _inert(value: Any) -> Any:
    return ACTS.sub(REPLACEMENT, value) if isinstance(value, str) else value


def make_pages_careful() -> None:
    """From now on formgrader's pages are made by the function above."""
    BaseHandler.render = render
