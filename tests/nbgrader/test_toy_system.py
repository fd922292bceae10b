"""A package can add a learning-management system with an entry point."""

from __future__ import annotations

import csv
import sys
import zipfile

from tests.helpers.downloads import collected, download
from tests.helpers.small_course import NAME, NOTEBOOK, command, nbgrader, released, said_by

TOY = '''
"""Names files `ada@first.ipynb`, and imports lines with a name and points."""

from pathlib import Path

from autograder.systems.collecting import Owner
from autograder.systems.system import System


class Toy(System):
    title = "Toy"

    def owner(self, path):
        name, at, rest = path.name.partition("@")
        return Owner(name, name, path.name, f"{name}@", rest) if at else None

    def write_marks(self, found, path):
        rows = [f"{one.student},{one.score:g}" for one in found.marks if one.student in found.handed]
        path.write_text("name,points\\n" + "\\n".join(rows))
        return []
'''


def installed(folder):
    """The installed package: a module, and metadata with an entry point."""
    package, metadata = folder / "toy_lms", folder / "toy_lms-1.dist-info"
    for path, text in {
        package / "__init__.py": TOY,
        metadata / "METADATA": "Metadata-Version: 2.1\nName: toy-lms\nVersion: 1\n",
        metadata / "entry_points.txt": "[autograder.systems]\ntoy = toy_lms:Toy\n",
    }.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def test_added_system_collects_and_returns_marks(course, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(installed(tmp_path / "site"))
    download(course, {f"ada@{NOTEBOOK}": released(course).read_text(), "notes.txt": "of nobody"})
    output = nbgrader(course, "zip_collect", NAME, "--force", "--collector=toy_lms.Toy", code=1)
    assert "notes.txt: its name does not say whose it is, as Toy's names do" in output
    assert collected(course).keys() == {"ada"}
    said_by(course, "grade", "--gradebook", "--feedback")
    said_by(course, "return", NAME, "--to", "toy", "--marks", "m.csv", "--feedback", "p.zip", code=1)
    (row,) = csv.DictReader((course.root / "m.csv").read_text().splitlines())
    assert row == {"name": "ada", "points": "0"}
    with zipfile.ZipFile(course.root / "p.zip") as pages:
        assert pages.namelist() == ["ada@first.html"]
    code, output = command(course, "return", NAME, "--to", "toy", "--marks", "m.csv", "--column", "x")
    assert (code, output) == (2, "autograder: Toy has no --column")
    code, output = command(course, "return", NAME, "--to", "Ilias", "--marks", "m.csv")
    assert (code, output) == (2, "autograder: no system is called Ilias; choose canvas, gradescope, moodle or toy")
    sys.modules.pop("toy_lms")
