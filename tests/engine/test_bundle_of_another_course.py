"""A course of one's own, bundled for Gradescope and for Classroom 50, unpacked, and run as they run it.

https://gradescope-autograders.readthedocs.io/en/latest/specs/ says what lies where in Gradescope's container, and
https://github.com/foundation50/classroom50/wiki/Advanced-Autograding what Classroom 50's runner does in a checkout.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
import zipfile

import nbformat
import pytest

from autograder.authoring.sample_class import fill
from tests.conftest import ROOT
from tests.helpers.small_course import EXERCISE, NAME, NOTEBOOK, WRONG, command, released, small_course

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """As `autograder dev new-course` begins it, in a folder that holds nothing of the kit."""
    return small_course(tmp_path_factory.mktemp("own") / "statistics")


@pytest.fixture(scope="module")
def wheels(course, tmp_path_factory):
    """The course's wheel and the kit, in a folder as pip would install them."""
    folder = tmp_path_factory.mktemp("site")
    copy_of_the_kit(folder)
    words = ("-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", folder, course.root / "statistics_course")
    done = subprocess.run([sys.executable, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


def copy_of_the_kit(site):
    """Only the packages, with no repository around them."""
    for package in (ROOT / "autograder", ROOT / "cellcage" / "src" / "cellcage"):
        shutil.copytree(package, site / package.name, ignore=shutil.ignore_patterns("__pycache__"))


def as_gradescope_runs_it(path, root, course, code):
    """results.json of a submission; setup.sh's environment is this interpreter's."""
    with zipfile.ZipFile(path) as bundle:
        bundle.extractall(root / "source")
    shutil.copy(root / "source" / "run_autograder", root)
    (root / "venv").symlink_to(sys.prefix)
    (root / "submission").mkdir()
    nbformat.write(fill(released(course), {EXERCISE: code}), root / "submission" / "mine.ipynb")
    environment = os.environ | {
        "PYTHONPATH": f"{root}/source:{root}/source/cellcage/src"  # an editable install of what was unpacked
    }
    done = subprocess.run(
        ["bash", "run_autograder"], cwd=root, capture_output=True, text=True, env=environment, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads((root / "results" / "results.json").read_text())


def test_gradescope_grades_it_with_a_kit_that_was_installed_as_a_wheel(course, tmp_path):
    site, path = tmp_path / "site-packages", tmp_path / "a1.zip"
    copy_of_the_kit(site)
    done = subprocess.run(
        [sys.executable, "-m", "autograder", "bundle", NAME, "--gradescope", path],
        cwd=course.root, capture_output=True, text=True, check=False, env=os.environ | {"PYTHONPATH": str(site)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    results = as_gradescope_runs_it(path, tmp_path / "autograder", course, WRONG)
    assert results["score"] == 0.3
    assert {test["status"] for test in results["tests"]} == {"passed", "failed"}
    names = zipfile.ZipFile(path).namelist()
    assert len(names) == len(set(names))
    assert "statistics_course/a1_first/row_centred/hidden_tests.py" in names
    assert not [name for name in names if name.startswith(("attention_course", "assignments", "gradebook", "tests"))]
    source = tmp_path / "autograder" / "source"
    assert (
        "--editable '.[course]' --editable cellcage --editable statistics_course" in (source / "setup.sh").read_text()
    )
    made, ours = (tomllib.loads((root / "pyproject.toml").read_text())["project"] for root in (source, ROOT))
    assert plain(made["dependencies"]) == plain(ours["dependencies"])


def plain(requirements):
    """Without the order in which a wheel's metadata names versions."""
    return sorted("".join(sorted(one.replace(" ", ""))) for one in requirements)


TAKES_OVER = """
import pathlib
pathlib.Path("taken_over").touch()
pathlib.Path("result.json").write_text('{"score": 2000, "max-score": 2000}')
raise SystemExit
"""


def test_nothing_in_a_students_repository_runs_in_place_of_the_kit(course, wheels, tmp_path):
    """Modules that the script or the kit imports, a course with easier tests, and a result that was committed."""
    folder, checkout = tmp_path / "bundle", tmp_path / "checkout"
    assert command(course, "bundle", NAME, "--classroom50", folder, "--requirement", "numpy")[0] == 0
    assert not [path for path in folder.iterdir() if path.suffix != ".py"], "what is public holds no hidden test"
    shutil.copytree(course.root, checkout)
    for tests in checkout.glob("*_course/*/*/visible_tests.py"):
        tests.write_text(TAKES_OVER)
    for module in ("autograder", "pip", "json", "numpy", "msgspec", "rich", "sitecustomize", "encodings", "subprocess"):
        (checkout / f"{module}.py").write_text(TAKES_OVER)
    (checkout / "result.json").write_text('{"score": 2000, "max-score": 2000}')
    (checkout / "checks.json").mkdir()
    nbformat.write(fill(released(course), {EXERCISE: WRONG}), checkout / NOTEBOOK)
    environment = os.environ | {"PYTHONPATH": str(wheels), "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    done = subprocess.run(
        [sys.executable, folder / "autograder.py"],
        cwd=checkout, capture_output=True, text=True, env=environment, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert not (checkout / "taken_over").exists()
    result = json.loads((checkout / "result.json").read_text())
    assert result["schema"] == "classroom50/result/v1"
    assert result["score"] < result["max-score"]
