"""What a student installs: the wheel alone, in a fresh environment, without PyTorch, JupyterLab, or a course around."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import textwrap
import zipfile
from pathlib import Path

import nbformat
import pytest

from autograder.authoring.sample_class import model_answers
from tests.conftest import ROOT
from tests.helpers.in_process import ASSIGNMENTS
from tests.helpers.releases import filled

pytestmark = pytest.mark.slow
A1 = ASSIGNMENTS[0]
NUMPY_HALF = ("softmax", "attention_scores", "scaled_dot_product_attention")
HOW_TO_GET_IT = "PyTorch is not installed here; get it with `pip install torch`, then restart."


# IPython looks into the environment that is activated, and Python into this variable's folders.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name not in ("VIRTUAL_ENV", "PYTHONPATH")}


def run(*command, cwd=None):
    done = subprocess.run(
        list(map(str, command)), capture_output=True, text=True, check=False, cwd=cwd, env=ENVIRONMENT
    )
    return done, " ".join((done.stdout + done.stderr).split())


@pytest.fixture(scope="module")
def wheels(packages):
    """The course's, the sandbox's and the engine's, in this order."""
    sandbox, course, engine = sorted(packages.glob("*.whl"))
    return course, sandbox, engine


@pytest.fixture(scope="module")
def laptop(wheels, tmp_path_factory):
    """A student's machine, which has no compiler: both wheels in an environment of its own, and a released folder.

    This environment's pip fills it, and leaves what is never imported there uncompiled.
    """
    folder = tmp_path_factory.mktemp("laptop")
    run(sys.executable, "-m", "venv", "--without-pip", folder / "venv")
    pip = (sys.executable, "-m", "pip", "--python", folder / "venv" / "bin" / "python", "install", "--no-compile")
    pins = ROOT / "constraints.txt"
    done, said = run(*pip, "--quiet", "--only-binary=:all:", "--constraint", pins, *wheels)
    assert done.returncode == 0, said
    return folder


def test_importing_it_is_quick_and_brings_no_torch(laptop):
    code = "import sys, time; t = time.perf_counter(); import autograder; print(time.perf_counter() - t, *sys.modules)"
    run(laptop / "venv/bin/python", "-c", code)  # the first time compiles
    done, _ = run(laptop / "venv/bin/python", "-c", code, cwd=laptop)
    seconds, *modules = done.stdout.split()
    assert float(seconds) < 0.3
    assert "torch" not in modules


def worked_through(laptop, answers):
    """What a console prints when the released notebook's cells run one after the other."""
    path = laptop / "a1" / A1.notebook.name
    path.parent.mkdir(exist_ok=True)
    nbformat.write(filled(A1, answers), path)
    code = """
        import json, sys
        from IPython.core.interactiveshell import InteractiveShell
        shell = InteractiveShell.instance(colors="nocolor")
        for cell in json.load(open(sys.argv[1]))["cells"]:
            if cell["cell_type"] == "code":
                shell.run_cell("".join(cell["source"]))
    """
    return run(laptop / "venv/bin/python", "-c", textwrap.dedent(code), path, cwd=laptop)[1]


def test_a1_can_be_worked_through_and_its_pytorch_half_says_what_is_missing(laptop):
    untouched = worked_through(laptop, {})
    for name in NUMPY_HALF:
        assert f"{name}: not started yet. Replace `raise NotImplementedError()`" in untouched
    answers = model_answers(A1)
    said = worked_through(laptop, {name: answers[name] for name in NUMPY_HALF})
    assert re.search(r"softmax: (\d+) of \1 visible tests pass", said)
    assert "3 of 4 exercises of a1, scaled dot product, pass their checks." in said
    assert f"torch_scaled_dot_product_attention: {HOW_TO_GET_IT}" in said
    assert "d_k = 1024 q . k is typically" in said  # the slider's pictures, without ipywidgets
    assert "belong 0.44 0.04 0.04 0.04 0.04 0.04 0.44" in said.replace("0.02", "0.04")


@pytest.mark.catalogue
def test_the_command_line_checks_a_notebook_without_a_course(laptop):
    answers = model_answers(A1)
    worked_through(laptop, {name: answers[name] for name in NUMPY_HALF})
    done, said = run(laptop / "venv/bin/autograder", "check", laptop / "a1" / A1.notebook.name, cwd=laptop)
    assert done.returncode == 1
    assert re.search(r"scaled_dot_product_attention: (\d+) of \1 visible tests pass", said)
    assert f"torch_scaled_dot_product_attention: {HOW_TO_GET_IT}" in said
    assert "3 of 4 exercises" in said


@pytest.mark.catalogue
def test_the_engine_alone_makes_a_course_and_grades_it(wheels, tmp_path):
    """In an environment with what it depends on, and nothing of this course: no clone is needed."""
    run(sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv")
    here, packages = Path(pytest.__file__).parents[1], f"lib/python3.{sys.version_info.minor}/site-packages"
    own = shutil.ignore_patterns("__editable__*", "*autograder*", "*attention*", "*cellcage*", "_virtualenv*")
    shutil.rmtree(tmp_path / "venv" / packages)
    shutil.copytree(here, tmp_path / "venv" / packages, ignore=own, copy_function=os.link, symlinks=True)
    for wheel in wheels[1:]:
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(tmp_path / "venv" / packages)
    autograder = [tmp_path / "venv" / "bin" / "python", "-P", "-m", "autograder"]
    done, said = run(*autograder, "dev", "new-course", "statistics", cwd=tmp_path)
    assert done.returncode == 0, said
    course = tmp_path / "statistics"
    assert (course / "statistics_course" / "a1_first" / "row_centred" / "hidden_tests.py").is_file()
    done, said = run(*autograder, "grade", "source/a1_first/first.ipynb", "--json", "marks.json", cwd=course)
    assert done.returncode == 0, said
    (report,) = json.loads((course / "marks.json").read_text())
    assert (report["status"], report["score"], report["max_score"]) == ("graded", 3, 3)
    done, said = run(*autograder, "grade", "assignments/a1_first/first.ipynb", cwd=course)
    assert "0 / 3" in said
