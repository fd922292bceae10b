"""Bundles of a new course for Gradescope and Classroom 50, unpacked and run as these services run them.

- Gradescope's container: https://gradescope-autograders.readthedocs.io/en/latest/specs/
- Classroom 50's runner: https://github.com/foundation50/classroom50/wiki/Advanced-Autograding
"""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
import subprocess
import sys
import tomllib
import zipfile

import nbformat
import numpy as np
import pytest

from autograder.authoring.sample_class import fill
from autograder.course.content import Visible
from autograder.student.check import examine
from tests.conftest import ROOT
from tests.helpers.small_course import EXERCISE, NAME, NOTEBOOK, WRONG, command, released, said_by, small_course

pytestmark = pytest.mark.slow


def run(*command, cwd, **environment):
    env = os.environ | environment
    done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """A course as `autograder dev new-course` creates it, outside the repository, with fingerprints of its mistakes."""
    made = small_course(tmp_path_factory.mktemp("own") / "statistics")
    said_by(made, "dev", "catalogue")
    return made


@pytest.fixture(scope="module")
def wheels(course, tmp_path_factory):
    """A folder that holds the course's wheel and the kit as pip installs them."""
    folder = tmp_path_factory.mktemp("site")
    copy_kit(folder)
    pip = (sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", folder)
    run(*pip, course.root / "statistics_course", cwd=folder)
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


def test_course_wheel_holds_only_visible_files_and_check_uses_it(course, wheels):
    package = wheels / "statistics_course"
    held = {path.relative_to(package).as_posix() for path in package.rglob("*") if path.is_file()}
    files = {f"{NAME}/visible_fingerprints.npz", f"{NAME}/{EXERCISE}/visible_tests.py", f"{NAME}/{EXERCISE}/hint.toml"}
    assert held == files | {"__init__.py", "course.toml"}
    names = {"np": np}
    exec(WRONG, names)
    assert examine(EXERCISE, names, Visible(package)).result.diagnosis == "one-mean-for-all"


def copy_kit(site):
    """Copy only the packages, without the repository around them."""
    for package in (ROOT / "autograder", ROOT / "cellcage" / "src" / "cellcage"):
        shutil.copytree(package, site / package.name)  # with bytecode, which a sandbox cannot write


def unpacked(path, root):
    """Unpack a bundle as Gradescope does. This interpreter's environment replaces the one that setup.sh creates."""
    with zipfile.ZipFile(path) as bundle:
        modes = {info.filename: stat.S_IMODE(info.external_attr >> 16) for info in bundle.infolist()}
        bundle.extractall(root / "source")
    assert modes["setup.sh"] == modes["run_autograder"] == 0o755
    shutil.copy(root / "source" / "run_autograder", root)
    (root / "venv").symlink_to(sys.prefix)
    return root


def run_on_gradescope(root, notebook=None, **others):
    """Grade a submission as Gradescope does; returns the contents of results.json. others: notebooks beside it"""
    shutil.rmtree(root / "submission", ignore_errors=True)
    (root / "submission").mkdir()
    if notebook is not None:
        nbformat.write(notebook, root / "submission" / "my copy (1).ipynb")
    for name, other in others.items():
        nbformat.write(other, root / "submission" / f"{name}.ipynb")
    installed = f"{root}/source:{root}/source/cellcage/src"  # as setup.sh does by an editable install
    run("bash", "run_autograder", cwd=root, PYTHONPATH=installed)
    assert not (root / "results").stat().st_mode & 0o077
    return json.loads((root / "results" / "results.json").read_text())


@pytest.mark.catalogue
def test_gradescope_bundle_of_an_installed_kit_grades(course, tmp_path):
    site, path = tmp_path / "site-packages", tmp_path / "a1.zip"
    copy_kit(site)
    bundle = (sys.executable, "-m", "autograder", "bundle", NAME, "--gradescope", path)
    run(*bundle, cwd=course.root, PYTHONPATH=str(site))
    root = unpacked(path, tmp_path / "autograder")
    results = run_on_gradescope(root, fill(released(course), {EXERCISE: WRONG}))
    assert results["score"] == 0.3
    assert {test["status"] for test in results["tests"]} == {"passed", "failed"}
    untouched = nbformat.read(released(course), 4)
    results = run_on_gradescope(root, fill(released(course), {EXERCISE: RIGHT}), first=untouched)
    assert results["score"] == 3
    assert results["output"].startswith("my copy (1).ipynb was graded; first.ipynb beside it has no work in it.")
    names = zipfile.ZipFile(path).namelist()
    assert len(names) == len(set(names))
    assert "statistics_course/a1_first/row_centred/hidden_tests.py" in names
    assert not [name for name in names if name.startswith(("attention_course", "gradebook", "tests"))]
    source = root / "source"
    setup = (source / "setup.sh").read_text()
    assert "--editable '.[course]' --editable cellcage --editable statistics_course" in setup
    made, ours = (tomllib.loads((folder / "pyproject.toml").read_text())["project"] for folder in (source, ROOT))
    assert normalised(made["dependencies"]) == normalised(ours["dependencies"])


RIGHT = f"def {EXERCISE}(X):\n    return X - X.mean(axis=-1, keepdims=True)"
SPY = f"""
def {EXERCISE}(X):
    import pathlib
    raise ValueError("I have read " + str([str(p) for p in pathlib.Path("/").rglob("hidden_tests.py")][:3]) + str(X))
"""


@pytest.mark.catalogue
def test_gradescope_grades_without_a_sandbox_only_if_configured(course, tmp_path):
    """Reports then show no text of the student's code, and students see them only after the due date."""
    assert command(course, "bundle", NAME, "--gradescope", tmp_path / "a1.zip")[0] == 0
    root = unpacked(tmp_path / "a1.zip", tmp_path / "autograder")
    nothing = run_on_gradescope(root)
    assert nothing["score"] == 0
    assert f"no {NOTEBOOK}" in nothing["output"]
    spying, script = fill(released(course), {EXERCISE: SPY}), root / "run_autograder"
    kept = script.read_text()
    no_sandbox = re.sub(r'^if ! "\$python" -P -c .*; then$', "if true; then", kept, count=1, flags=re.MULTILINE)
    assert no_sandbox != kept
    script.write_text(no_sandbox)
    with pytest.raises(AssertionError, match="nothing was graded"):
        run_on_gradescope(root, spying)
    script.write_text(no_sandbox.replace('"needed" = needed', '"wished for" = needed'))
    results = run_on_gradescope(root, spying)
    assert (results["score"], {test["output"] for test in results["tests"]}) == (0, {""})
    assert "I have read" not in json.dumps(results)
    assert results["visibility"] == "after_due_date"


def normalised(requirements):
    """Requirements in a form that does not depend on the order of version specifiers."""
    return sorted("".join(sorted(one.replace(" ", ""))) for one in requirements)


TAKES_OVER = """
import pathlib
pathlib.Path("taken_over").touch()
pathlib.Path("result.json").write_text('{"score": 2000, "max-score": 2000}')
raise SystemExit
"""


def test_classroom50_runs_nothing_from_a_students_repository(course, wheels, tmp_path):
    """A repository that shadows imported modules, replaces the course's tests and holds a forged result."""
    folder, checkout = tmp_path / "bundle", tmp_path / "checkout"
    assert command(course, "bundle", NAME, "--classroom50", folder, "--requirement", "numpy")[0] == 0
    assert not [path for path in folder.iterdir() if path.suffix != ".py"], (
        "the public repository must not hold hidden tests"
    )
    shutil.copytree(course.root, checkout)
    for tests in checkout.glob("*_course/*/*/visible_tests.py"):
        tests.write_text(TAKES_OVER)
    for module in ("autograder", "pip", "json", "numpy", "msgspec", "rich", "sitecustomize", "encodings", "subprocess"):
        (checkout / f"{module}.py").write_text(TAKES_OVER)
    (checkout / "result.json").write_text('{"score": 2000, "max-score": 2000}')
    (checkout / "checks.json").mkdir()
    nbformat.write(fill(released(course), {EXERCISE: WRONG}), checkout / NOTEBOOK)
    environment = {"PYTHONPATH": str(wheels), "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    run(sys.executable, folder / "autograder.py", cwd=checkout, **environment)
    assert not (checkout / "taken_over").exists()
    result = json.loads((checkout / "result.json").read_text())
    assert result["schema"] == "classroom50/result/v1"
    assert result["score"] < result["max-score"]
