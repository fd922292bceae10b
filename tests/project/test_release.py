"""What is published, and how it comes to students without a hub."""

from __future__ import annotations

import io
import os
import re
import shutil
import subprocess
import sys
import tarfile
import textwrap
import zipfile

import nbformat
import numpy as np
import pytest

from autograder import __version__
from autograder.authoring.release import first_cell, members, write_release
from autograder.errors import CourseError
from autograder.submission import code_cells, read_notebook
from autograder.testing.catalogue import read_catalogue
from autograder.testing.values.core.comparing import arrays
from cellcage.notebook_calls import read
from tests.conftest import ROOT
from tests.helpers.in_process import ASSIGNMENTS, COURSE, material
from tests.helpers.slips import cells
from tests.project.conftest import ADDRESS

WHEELS = ("cellcage", "multi_head_attention_course", "sandboxed_autograder")
NAMES = [f"{name}-{__version__}-py3-none-any.whl" for name in WHEELS]
NEEDED = {"autograder": __version__, "cellcage": __version__, "attention_course": __version__}


def python(code, *words, cwd=None, path=ROOT, **more):
    """A Python of its own: everything it prints, and how it ended."""
    environment = os.environ | {"PYTHONPATH": str(path)} | more
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), *map(str, words)],
        cwd=cwd, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout + done.stderr


# ---------------------------------------------------------------- the first cell


def a_kit(folder, text):
    """A package named autograder, with one file."""
    (folder / "autograder").mkdir(parents=True)
    (folder / "autograder" / "__init__.py").write_text(text)
    return folder


def without_pip(cell):
    """The cell, with a pip that only says what it was asked for."""
    fake = "import subprocess\nrun = subprocess.run\n\ndef told(command, **_):\n    print(*command[1:])\n"
    return f"{fake}    return run(['true'], capture_output=True, text=True)\n\nsubprocess.run = told\n{cell}"


def test_the_first_cell_does_nothing_where_the_kit_is():
    assert python(without_pip(first_cell(NAMES, NEEDED, ADDRESS))) == (0, "")


def test_the_first_cell_installs_what_is_missing_beside_the_notebook_or_from_its_address(tmp_path):
    missing = "class Finder:\n    def find_spec(self, name, *_):\n        if name == 'autograder': raise ImportError\n"
    hidden = f"import sys\n{missing}\nsys.meta_path.insert(0, Finder())\n"
    code, said = python(hidden + without_pip(first_cell(NAMES, NEEDED)), cwd=tmp_path)
    assert (code, f"Put {' and '.join(NAMES)} beside this notebook" in said) == (1, True)
    _, said = python(hidden + without_pip(first_cell(NAMES, NEEDED, ADDRESS)), cwd=tmp_path)
    assert f"-m pip install --quiet --upgrade {' '.join(f'{ADDRESS}/{name}' for name in NAMES)}" in said
    for name in NAMES:
        (tmp_path / name).write_text("")
    _, said = python(hidden + without_pip(first_cell(NAMES, NEEDED, ADDRESS)), cwd=tmp_path)
    assert f"--upgrade {' '.join(NAMES)}" in said
    assert "Traceback" not in said


def test_the_first_cell_updates_an_older_kit(tmp_path):
    path = a_kit(tmp_path / "site", "__version__ = '0.0.9'\ndef hint(): ...")
    code, said = python(without_pip(first_cell(NAMES, NEEDED, ADDRESS)), cwd=tmp_path, path=path)
    assert code == 1
    assert said.splitlines()[0].startswith("-m pip install --quiet --upgrade")
    assert "It is installed now. Choose Kernel, Restart Kernel" in said


@pytest.mark.parametrize("text", ["", "import not_here"])
def test_the_first_cell_leaves_another_package_of_that_name_alone(tmp_path, text):
    """Somebody else's grader on a hub. If it cannot even be imported, pip would write over its files."""
    path = a_kit(tmp_path / "site", text)
    about = path / "autograder-3.7.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: autograder\nVersion: 3.7\n")
    (about / "RECORD").write_text("autograder/__init__.py,,\n")
    code, said = python(without_pip(first_cell(NAMES, NEEDED, ADDRESS)), cwd=tmp_path, path=path)
    assert code == 1
    assert said.startswith("Another package named autograder is here: autograder 3.7. ")
    assert "nothing was changed" in said
    assert "remove it yourself, restart the kernel, and run this cell again" in said


def test_a_notebook_that_is_newer_than_the_kit_says_so_in_a_sentence():
    code = """
        from IPython.core.interactiveshell import InteractiveShell
        shell = InteractiveShell.instance(colors="nocolor")
        shell.run_cell("from autograder import check, transmogrify")
        shell.run_cell("from autograder import check\\ncheck('transmogrified')")
        import autograder
        print(hasattr(autograder, "transmogrify"))
        from autograder import submission
    """
    code, said = python(code)
    assert code == 0, said
    said = " ".join(said.split())
    assert f"there is no 'transmogrify' in what is installed here, which has version {__version__}" in said
    assert "It is older than this notebook: install the newest one" in said
    assert f"your version ({__version__}) is older than it" in said
    assert "Traceback" not in said
    assert "False" in said


# ---------------------------------------------------------------- what is in the packages


def unpacked(sdist):
    """Names and texts of what is in it, without its own top folder."""
    with tarfile.open(sdist) as archive:
        files = [one for one in archive.getmembers() if one.isfile()]
        return {one.name.partition("/")[2]: archive.extractfile(one).read() for one in files}


@pytest.mark.slow
@pytest.mark.catalogue
def test_the_first_cell_installs_what_make_dist_has_written_into_a_fresh_environment(packages, tmp_path):
    """It gets what the wheels need from the index."""
    notebook = packages / ASSIGNMENTS[0].notebook.name
    shutil.copy(notebook, tmp_path)
    for name in NAMES:
        shutil.copy(packages / name, tmp_path)
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True)
    first, *_ = code_cells(read_notebook(notebook))
    plain = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    cells = f"{first.source}\nfrom autograder import check\ncheck('softmax')"
    command = [tmp_path / "venv" / "bin" / "python", "-c", cells]
    for _ in range(2):  # the second time it is there, and nothing happens
        done = subprocess.run(command, cwd=tmp_path, env=plain, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert "softmax: " in done.stdout


@pytest.mark.slow
def test_no_package_holds_a_hidden_test_or_a_known_mistake(packages):
    """The engine's wheel and sdist hold nothing of the course; the course's hold what students may have, or nothing."""
    _, course, engine = (dict(members(packages / name)) for name in NAMES)
    of_the_engine = unpacked(packages / f"sandboxed_autograder-{__version__}.tar.gz")
    of_the_course = unpacked(packages / f"multi_head_attention_course-{__version__}.tar.gz")
    code = {name for name in of_the_engine if name.startswith("autograder/")}
    assert code == {name for name in engine if name.startswith("autograder/")}
    beside = {"CHANGELOG.md", "LICENSE", "PKG-INFO", "README.md", ".gitignore", "pyproject.toml"}
    assert of_the_engine.keys() - code == beside
    assert set(of_the_course) <= {"PKG-INFO", ".gitignore", "pyproject.toml"}
    assert "autograder/py.typed" in engine
    a1 = "attention_course/a1_scaled_dot_product"
    for name in ("softmax/visible_tests.py", "softmax/hint.toml", "shared_visible_tests.py", "shared_picture.toml"):
        assert f"{a1}/{name}" in course
    secret = r"hidden|mistakes|solutions|source|^tests|rubric.toml|not_shown|/fingerprints.npz|saved_model"
    assert [name for name in course if re.search(secret, name)] == []
    course.pop("attention_course/relations.py")  # its words `check` says to everybody
    everything = b"\n".join([*course.values(), *of_the_course.values()]).decode(errors="replace")
    for assignment in ASSIGNMENTS:
        for entry in read_catalogue(assignment.mistakes).mistakes:
            assert entry.hint not in everything
    listed = (packages / "CONTENTS.txt").read_text()
    assert listed.startswith("commit ")
    assert all(name in listed for name in (*course, *engine))


LINE = 25  # characters of code; shorter lines, such as `weights = []`, are anybody's


def code_lines(source):
    """Lines of code between the marks of a solution, without blanks in a row and comments."""
    for part in source.split("### BEGIN SOLUTION")[1:]:
        lines = part.partition("### END SOLUTION")[0].splitlines()
        yield from (code for line in lines if len(code := " ".join(line.partition("#")[0].split())) >= LINE)


@pytest.mark.slow
def test_what_students_install_holds_no_solution_no_hidden_input_and_no_hidden_answer(packages):
    course = dict(members(packages / NAMES[1]))
    kept = {name: np.load(io.BytesIO(data)) for name, data in course.items() if name.endswith(".npz")}
    assert len(kept) == len(ASSIGNMENTS)
    for name, file in kept.items():
        assert name.endswith("/visible_fingerprints.npz")
        assert {what: file[what].dtype.kind for what in file.files} == {
            "stamp": "U", "places": "u", "ends": "u", "texts": "u"
        }  # fmt: skip
    texts = b"\n".join(data for name, data in course.items() if not name.endswith((".npz", ".safetensors")))
    names = b"\n".join(file[what].tobytes() for file in kept.values() for what in file.files)
    everything = texts + b"\n" + names
    words = " ".join(everything.decode(errors="replace").split())
    for assignment in ASSIGNMENTS:
        for source in cells(assignment.name).values():
            assert [line for line in code_lines(source) if line in words] == []
        for entry in read_catalogue(assignment.mistakes).mistakes:
            assert entry.hint.encode() not in names
    for assignment in ASSIGNMENTS[:2]:  # what hidden tests pass and hear is found in the same way for each
        for plan in material(assignment).recording.plans.values():
            for one in plan:
                secret = [*arrays(list(one.call.given())), *arrays(getattr(read(one.answer), "value", None))]
                telling = [array for array in secret if array.dtype.kind == "f" and len(np.unique(array)) >= 8]
                assert not [array for array in telling if array.tobytes()[:64] in everything]


@pytest.mark.slow
def test_the_notebooks_beside_a_release_are_the_release_and_one_cell_more(packages):
    for assignment in ASSIGNMENTS[:2]:
        beside = read_notebook(packages / assignment.notebook.name)
        released = read_notebook(ROOT / "assignments" / assignment.name / assignment.notebook.name)
        first, *rest = code_cells(beside)
        assert first.source == first_cell(NAMES, NEEDED, ADDRESS)
        assert [cell.source for cell in rest] == [cell.source for cell in code_cells(released)]
        nbformat.validate(nbformat.read(packages / assignment.notebook.name, as_version=4))


@pytest.mark.parametrize(
    "name", ["softmax/hidden_tests.py", "softmax/mistakes.py", "shared_hidden_tests.py", "fingerprints.npz"]
)
def test_a_package_with_a_secret_in_it_is_refused(tmp_path, name):
    with pytest.raises(CourseError, match=r"no wheel with autograder; pip wheel --no-deps"):
        list(write_release(COURSE, tmp_path))
    with zipfile.ZipFile(tmp_path / NAMES[2], "w") as wheel:
        wheel.writestr("autograder/__init__.py", "")
    with pytest.raises(CourseError, match=r"no wheel with cellcage; pip wheel --no-deps"):
        list(write_release(COURSE, tmp_path))
    with zipfile.ZipFile(tmp_path / NAMES[0], "w") as wheel:
        wheel.writestr("cellcage/__init__.py", "")
    with pytest.raises(CourseError, match=r"no wheel with attention_course; pip wheel --no-deps"):
        list(write_release(COURSE, tmp_path))
    with zipfile.ZipFile(tmp_path / NAMES[1], "w") as wheel:
        wheel.writestr("attention_course/__init__.py", "")
        wheel.writestr(f"attention_course/a1_scaled_dot_product/{name}", "")
    with pytest.raises(CourseError, match="which students must not have"):
        list(write_release(COURSE, tmp_path))
    assert sorted(path.name for path in tmp_path.iterdir()) == NAMES


# ---------------------------------------------------------------- elsewhere than on Linux

# What Windows lacks, taken away once everything that is not ours is loaded. A name that we use is then an error.
ELSEWHERE = """
    import importlib.abc, json, os, select, signal, socket, sys
    import IPython.core.interactiveshell, _pytest.config, nbformat, numpy, rich.console, typer
    GONE = {
        os: "fork forkpty register_at_fork sched_getaffinity getuid geteuid setsid setpgid killpg mkfifo O_NOFOLLOW "
            "O_NONBLOCK O_CLOEXEC memfd_create pidfd_open setresuid setresgid setgroups wait3 wait4 WNOHANG",
        signal: "SIGALRM SIGKILL SIGCHLD SIGHUP SIGSTOP setitimer alarm pthread_sigmask",
        socket: "AF_UNIX SCM_RIGHTS send_fds recv_fds CMSG_SPACE",
        select: "poll epoll",
    }
    for module, names in GONE.items():
        for name in names.split():
            if hasattr(module, name):
                delattr(module, name)

    class NotHere(importlib.abc.MetaPathFinder):
        def find_spec(self, name, path=None, target=None):
            if name in ("resource", "fcntl", "pwd", "grp", "termios", "torch"):
                raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    for name in ("resource", "fcntl", "pwd", "grp", "termios"):
        sys.modules.pop(name, None)
    sys.meta_path.insert(0, NotHere())
"""


@pytest.mark.slow
def test_the_students_side_needs_nothing_that_only_linux_has():
    released = ROOT / "assignments" / ASSIGNMENTS[0].name / ASSIGNMENTS[0].notebook.name
    work = """
    import autograder
    shell = IPython.core.interactiveshell.InteractiveShell.instance(colors="nocolor")
    for cell in json.load(open(sys.argv[1]))["cells"]:
        if cell["cell_type"] == "code":
            shell.run_cell("".join(cell["source"]))
    shell.run_cell("def softmax(x, axis=-1):\\n    return x")
    shell.run_cell("check('softmax'); hint('softmax'); heatmap(np.eye(2))")
    """
    code, said = python(ELSEWHERE + work, released)
    assert code == 0, said
    assert "softmax: not started yet" in said
    assert "visible tests pass" in said
    assert "softmax: hint 1 of 3" in said
    assert not [line for line in said.splitlines() if "autograder/" in line and "line" in line], said


def test_the_command_line_says_where_it_works():
    run = "\n    import runpy\n    sys.path.insert(0, '')\n    runpy.run_module('autograder', run_name='__main__')\n"
    code, said = python(ELSEWHERE + run)
    assert code == 2
    assert "autograder: the command line needs Linux or macOS" in said
    assert "Traceback" not in said
