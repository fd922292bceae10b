"""The Dockerfiles, read without Docker."""

from __future__ import annotations

import pytest

from tests.conftest import ROOT
from tests.helpers import images

FILES = sorted((ROOT / "images").glob("*.Dockerfile"))
STAGES = [(path, name) for path in FILES for name in images.stages(path) if name != "base"]
NAMES = [f"{path.stem.split('.')[0]}-{name}" for path, name in STAGES]


@pytest.mark.parametrize(("path", "stage"), STAGES, ids=NAMES)
def test_image_does_not_run_as_root(path, stage):
    users = [step.rest for step in images.stages(path)[stage] if step.word == "USER"]
    assert stage == "wheel" or (users and users[-1] not in ("root", "0"))


def test_image_contains_no_submissions_or_marks():
    for name in ("submitted/ada/a1/x.ipynb", "gradebook.db", "gradebook.db-journal", ".git/config", ".venv/bin/python",
                 "feedback/ada/a1/x.html", "marks.json", "autograder/__pycache__/x.pyc", "grades.csv"):  # fmt: skip
        assert images.ignored(name), name
    for name in ("pyproject.toml", "autograder/cli.py", "source/a1_scaled_dot_product/scaled_dot_product.ipynb",
                 "constraints.txt", "attention_course/course.toml"):  # fmt: skip
        assert not images.ignored(name), name
