"""What a student installs: the wheel alone, in a fresh environment, without PyTorch, JupyterLab, or a course around."""

from __future__ import annotations

import io
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
import numpy as np
import pytest

from autograder.authoring.sample_class import model_answers
from autograder.diagnosis import visible_fingerprints
from autograder.testing.catalogue import read_catalogue
from tests.conftest import ROOT
from tests.helpers.in_process import ASSIGNMENTS
from tests.helpers.releases import filled, released

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
def wheels(tmp_path_factory):
    """The course's, the sandbox's and the engine's, in this order."""
    folder = tmp_path_factory.mktemp("wheels")
    sources = (ROOT, ROOT / "cellcage", ROOT / "attention_course")
    done, said = run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", folder, *sources)
    assert done.returncode == 0, said
    sandbox, course, engine = sorted(folder.glob("*.whl"))
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


@pytest.fixture(scope="module")
def contents(wheels):
    found = {}
    for wheel in wheels:
        with zipfile.ZipFile(wheel) as archive:
            found |= {name: archive.read(name).decode(errors="replace") for name in archive.namelist()}
    return found


def test_the_wheels_hold_no_suite_no_solution_and_no_catalogue(contents):
    a1 = "attention_course/a1_scaled_dot_product"
    for name in ("softmax/visible_tests.py", "softmax/hint.toml", "attention_scores/picture.toml"):
        assert f"{a1}/{name}" in contents
    assert f"{a1}/shared_visible_tests.py" in contents and f"{a1}/shared_picture.toml" in contents
    assert "autograder/py.typed" in contents
    assert "attention_course/helpers/copycat.safetensors" in contents
    assert "attention_course/helpers/block_losses.json" in contents
    assert "attention_course/helpers/copycat_training.py" not in contents
    packages = ("autograder/", "cellcage/", "attention_course/")
    assert [name for name in contents if not name.startswith(packages) and ".dist-info/" not in name] == []
    of_the_course = [name for name in contents if name.startswith("attention_course/")]
    for name in of_the_course:
        secret = r"hidden|mistakes|solutions|source|^tests|rubric.toml|not_shown|/fingerprints.npz|saved_model"
        assert not re.search(secret, name), name


@pytest.mark.parametrize("assignment", ASSIGNMENTS, ids=lambda a: a.name)
def test_no_line_of_a_solution_no_hint_of_a_mistake_and_no_hidden_message_is_in_the_wheel(assignment, contents):
    everything = "\n".join(contents.values())
    # What cuts across exercises `check` says to everybody, in the engine's words and in those of `relations.py`.
    own = {name: text for name, text in contents.items() if "attention" in name}
    assert own.pop("attention_course/relations.py")
    course = "\n".join(own.values())
    for entry in read_catalogue(assignment.mistakes).mistakes:
        assert entry.hint not in course
    text = released(assignment).read_text()
    for line in map(str.strip, "\n".join(model_answers(assignment).values()).splitlines()):
        told = json.dumps(line)[1:-1] in text  # signatures and docstrings
        assert len(line) < 25 or told or line not in everything, line
    suites = "\n".join(path.read_text() for path in assignment.content.rglob("*hidden_tests.py"))
    for sentence in re.findall(r'fail\(\s*"(.{30,}?)"', suites):
        assert sentence not in everything


@pytest.mark.parametrize("assignment", ASSIGNMENTS, ids=lambda a: a.name)
def test_names_of_mistakes_are_there_and_nobody_reads_one_without_its_answers(assignment, wheels):
    """No name, no hint, no code, no input and no answer: places and enciphered texts, of which each has its own key."""
    with zipfile.ZipFile(wheels[0]) as archive:
        held = io.BytesIO(archive.read(f"attention_course/{assignment.name}/{visible_fingerprints.FILE}"))
    with np.load(held, allow_pickle=False) as kept:
        arrays = {name: kept[name] for name in kept.files}
    assert arrays.keys() == {"stamp", "places", "ends", "texts"}
    readable = b"".join(array.tobytes() for array in arrays.values())
    for mistake in read_catalogue(assignment.mistakes).mistakes:
        for secret in (mistake.name, mistake.hint, mistake.exercise):
            assert len(secret) < 8 or secret.encode() not in readable
    rows = visible_fingerprints.read(assignment.content)
    assert len(rows) > 20
    assert not any(text.startswith(b'["') for text in rows.values())


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
    assert "softmax: 6 of 6 visible tests pass" in said
    assert "3 of 4 exercises of a1, scaled dot product, pass their checks." in said
    assert f"torch_scaled_dot_product_attention: {HOW_TO_GET_IT}" in said
    assert "d_k = 1024 q . k is typically" in said  # the slider's pictures, without ipywidgets
    assert "belong 0.44 0.04 0.04 0.04 0.04 0.04 0.44" in said.replace("0.02", "0.04")


def test_the_command_line_checks_a_notebook_without_a_course(laptop):
    answers = model_answers(A1)
    worked_through(laptop, {name: answers[name] for name in NUMPY_HALF})
    done, said = run(laptop / "venv/bin/autograder", "check", laptop / "a1" / A1.notebook.name, cwd=laptop)
    assert done.returncode == 1
    assert "scaled_dot_product_attention: 6 of 6 visible tests pass" in said
    assert f"torch_scaled_dot_product_attention: {HOW_TO_GET_IT}" in said
    assert "3 of 4 exercises" in said


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


@pytest.mark.parametrize("words", [("grade", "a1"), ("demo",), ("dev", "sync")])
def test_what_needs_a_course_says_so_in_a_line(laptop, words):
    done, said = run(laptop / "venv/bin/autograder", *words, cwd=laptop)
    assert done.returncode == 2
    assert "no course here" in said
    assert "Traceback" not in said
