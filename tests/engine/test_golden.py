"""Files for other programs, as golden folders: an input, the command and the expected output.

- Gradescope's `results.json`: https://gradescope-autograders.readthedocs.io/en/latest/specs/
- Classroom 50's `result.json`: https://github.com/foundation50/classroom50/wiki/Advanced-Autograding

To accept a change, remove `expected/` and run this test twice.
"""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from autograder.cli.main import app

FOLDERS = sorted(Path(__file__).with_name("golden").iterdir())
# Variables that Classroom 50's runner sets.
RUNNER = {
    "CLASSROOM": "cs-principles",
    "ASSIGNMENT": "first",
    "SUBMISSION_TAG": "submit/2026-09-01T14-32-05Z-a1b2c3d",
    "COMMIT_URL": "https://github.com/o/r/commit/a1b2c3d",
    "RELEASE_URL": "https://github.com/o/r/releases/tag/submit",
}
NOW = re.compile(r'("datetime": )"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"')


def files(folder):
    """Texts by path, without the time of writing."""
    found = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {str(path.relative_to(folder)): NOW.sub(r'\1"now"', path.read_text()) for path in found}


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_output_equals_the_golden_folder(folder, tmp_path, monkeypatch):
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    program, *words = shlex.split((folder / "command.txt").read_text())
    assert program == "autograder"
    done = CliRunner().invoke(app, words, env=RUNNER)
    assert done.exit_code == 0, done.output
    out, expected = files(tmp_path / "out"), folder / "expected"
    if not expected.is_dir():
        shutil.copytree(tmp_path / "out", expected)
        for path in (path for path in expected.rglob("*") if path.is_file()):
            path.write_text(NOW.sub(r'\1"now"', path.read_text()))
        pytest.fail(f"{expected} was missing; check the files that were written")
    assert out == files(expected)
