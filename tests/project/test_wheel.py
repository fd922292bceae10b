"""The wheels in a fresh environment, without PyTorch, JupyterLab or a course folder."""

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


# IPython would use the activated environment, and Python the folders in PYTHONPATH.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name not in ("VIRTUAL_ENV", "PYTHONPATH")}


def run(*command, cwd=None):
    done = subprocess.run(
        list(map(str, command)), capture_output=True, text=True, check=False, cwd=cwd, env=ENVIRONMENT
    )
    return done, " ".join((done.stdout + done.stderr).split())


@pytest.fixture(scope="module")
def wheels(packages):
    """The wheels of the course, the sandbox and the engine, in this order."""
    sandbox, course, engine = sorted(packages.glob("*.whl"))
    return course, sandbox, engine


@pytest.fixture(scope="module")
def laptop(wheels, tmp_path_factory):
    """A folder with an environment that has only the wheels; nothing is compiled.

    The test environment's pip fills it.
    """
    folder = tmp_path_factory.mktemp("laptop")
    run(sys.executable, "-m", "venv", "--without-pip", folder / "venv")
    pip = (sys.executable, "-m", "pip", "--python", folder / "venv" / "bin" / "python", "install", "--no-compile")
    pins = ROOT / "constraints.txt"
    done, output = run(*pip, "--quiet", "--only-binary=:all:", "--constraint", pins, *wheels)
    assert done.returncode == 0, output
    return folder


def test_import_is_quick_and_does_not_load_torch(laptop):
    code = "import sys, time; t = time.perf_counter(); import autograder; print(time.perf_counter() - t, *sys.modules)"
    run(laptop / "venv/bin/python", "-c", code)  # compiles the modules
    done, _ = run(laptop / "venv/bin/python", "-c", code, cwd=laptop)
    seconds, *modules = done.stdout.split()
    assert float(seconds) < 0.3
    assert "torch" not in modules


def run_notebook(laptop, answers):
    """The output of the released notebook's cells with these answers."""
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


def test_a1_works_without_pytorch_and_names_the_missing_package(laptop):
    untouched = run_notebook(laptop, {})
    for name in NUMPY_HALF:
        assert f"{name}: not started yet. Replace `raise NotImplementedError()`" in untouched
    answers = model_answers(A1)
    output = run_notebook(laptop, {name: answers[name] for name in NUMPY_HALF})
    assert re.search(r"softmax: (\d+) of \1 visible tests pass", output)
    assert "3 of 4 exercises of a1, scaled dot product, pass their checks." in output
    assert f"torch_scaled_dot_product_attention: {HOW_TO_GET_IT}" in output
    assert "d_k = 1024 q . k is typically" in output  # pictures instead of a slider, without ipywidgets
    assert "belong 0.44 0.04 0.04 0.04 0.04 0.04 0.44" in output.replace("0.02", "0.04")


@pytest.mark.catalogue
def test_command_line_checks_a_notebook_without_a_course(laptop):
    answers = model_answers(A1)
    run_notebook(laptop, {name: answers[name] for name in NUMPY_HALF})
    done, output = run(laptop / "venv/bin/autograder", "check", laptop / "a1" / A1.notebook.name, cwd=laptop)
    assert done.returncode == 1
    assert re.search(r"scaled_dot_product_attention: (\d+) of \1 visible tests pass", output)
    assert f"torch_scaled_dot_product_attention: {HOW_TO_GET_IT}" in output
    assert "3 of 4 exercises" in output


@pytest.mark.catalogue
def test_engine_without_this_course_creates_and_grades_a_course(wheels, tmp_path):
    """The environment has only its dependencies; no clone of the repository is needed."""
    run(sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv")
    here, packages = Path(pytest.__file__).parents[1], f"lib/python3.{sys.version_info.minor}/site-packages"
    own = shutil.ignore_patterns("__editable__*", "*autograder*", "*attention*", "*cellcage*", "_virtualenv*")
    shutil.rmtree(tmp_path / "venv" / packages)
    shutil.copytree(here, tmp_path / "venv" / packages, ignore=own, copy_function=os.link, symlinks=True)
    for wheel in wheels[1:]:
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(tmp_path / "venv" / packages)
    autograder = [tmp_path / "venv" / "bin" / "python", "-P", "-m", "autograder"]
    done, output = run(*autograder, "dev", "new-course", "statistics", cwd=tmp_path)
    assert done.returncode == 0, output
    course = tmp_path / "statistics"
    assert (course / "statistics_course" / "a1_first" / "row_centred" / "hidden_tests.py").is_file()
    done, output = run(*autograder, "grade", "source/a1_first/first.ipynb", "--json", "marks.json", cwd=course)
    assert done.returncode == 0, output
    (report,) = json.loads((course / "marks.json").read_text())
    assert (report["status"], report["score"], report["max_score"]) == ("graded", 3, 3)
    done, output = run(*autograder, "grade", "assignments/a1_first/first.ipynb", cwd=course)
    assert "0 / 3" in output
