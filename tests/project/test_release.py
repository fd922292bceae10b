"""The packages of a release, and how students without a hub install them."""

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
from autograder.authoring.release import colab_link, first_cell, members, write_release
from autograder.errors import CourseError
from autograder.submission import code_cells, read_notebook
from autograder.testing.catalogue import read_catalogue
from cellcage.notebook_calls import read
from cellcage.values.value import arrays
from tests.conftest import ROOT
from tests.helpers.in_process import ASSIGNMENTS, COURSE, material
from tests.helpers.slips import cells
from tests.project.conftest import ADDRESS, BUILD

WHEELS = ("cellcage", "multi_head_attention_course", "sandboxed_autograder")
BUILT = f"{__version__}{BUILD}"
NAMES = [f"{name}-{BUILT if 'course' in name else __version__}-py3-none-any.whl" for name in WHEELS]
NEEDED = {"autograder": __version__, "cellcage": __version__, "attention_course": BUILT}


def python(code, *words, cwd=None, path=ROOT, **more):
    """Runs code in a fresh Python: its exit code, and all its output."""
    environment = os.environ | {"PYTHONPATH": str(path)} | more
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), *map(str, words)],
        cwd=cwd, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout + done.stderr


# ---------------------------------------------------------------- the first cell


def package_named_autograder(folder, text):
    """A folder with a package of this name, which has one file."""
    (folder / "autograder").mkdir(parents=True)
    (folder / "autograder" / "__init__.py").write_text(text)
    return folder


def without_pip(cell):
    """The cell, with a pip that only prints its arguments."""
    fake = "import subprocess\nrun = subprocess.run\n\ndef told(command, **_):\n    print(*command[1:])\n"
    return f"{fake}    return run(['true'], capture_output=True, text=True)\n\nsubprocess.run = told\n{cell}"


def test_first_cell_does_nothing_if_the_kit_is_installed():
    assert python(without_pip(first_cell(NAMES, NEEDED, ADDRESS))) == (0, "")


@pytest.mark.slow
def test_first_cell_installs_from_the_folder_or_the_address(tmp_path):
    missing = "class Finder:\n    def find_spec(self, name, *_):\n        if name == 'autograder': raise ImportError\n"
    hidden = f"import sys\n{missing}\nsys.meta_path.insert(0, Finder())\n"
    code, output = python(hidden + without_pip(first_cell(NAMES, NEEDED)), cwd=tmp_path)
    assert (code, f"Put {' and '.join(NAMES)} beside this notebook" in output) == (1, True)
    _, output = python(hidden + without_pip(first_cell(NAMES, NEEDED, ADDRESS)), cwd=tmp_path)
    assert f"-m pip install --quiet --upgrade {' '.join(f'{ADDRESS}/{name}' for name in NAMES)}" in output
    for name in NAMES:
        (tmp_path / name).write_text("")
    _, output = python(hidden + without_pip(first_cell(NAMES, NEEDED, ADDRESS)), cwd=tmp_path)
    assert f"--upgrade {' '.join(NAMES)}" in output
    assert "Traceback" not in output


def test_first_cell_updates_an_older_kit(tmp_path):
    path = package_named_autograder(tmp_path / "site", "__version__ = '0.0.9'\ndef hint(): ...")
    code, output = python(without_pip(first_cell(NAMES, NEEDED, ADDRESS)), cwd=tmp_path, path=path)
    assert code == 1
    assert output.splitlines()[0].startswith("-m pip install --quiet --upgrade")
    assert "It is installed now. Choose Kernel, Restart Kernel" in output


@pytest.mark.slow
@pytest.mark.parametrize(("build", "is_old"), [("", True), (".post6", True), (".post7", False), (".post10", False)])
def test_first_cell_updates_an_older_build_of_the_course(tmp_path, build, is_old):
    """A notebook from before never takes a newer build away."""
    about = tmp_path / f"multi_head_attention_course-{__version__}{build}.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Name: multi-head-attention-course\nVersion: {__version__}{build}\n")
    (about / "RECORD").write_text("attention_course/__init__.py,,\n")
    code, output = python(without_pip(first_cell(NAMES, NEEDED, ADDRESS)), path=f"{tmp_path}{os.pathsep}{ROOT}")
    assert (code, "It is installed now. Choose Kernel, Restart Kernel" in output) == (int(is_old), is_old)


@pytest.mark.slow
@pytest.mark.parametrize("text", ["", "import not_here"])
def test_first_cell_never_overwrites_another_autograder_package(tmp_path, text):
    """A hub may have another grader of that name. If it can't be imported, pip would overwrite its files."""
    path = package_named_autograder(tmp_path / "site", text)
    about = path / "autograder-3.7.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: autograder\nVersion: 3.7\n")
    (about / "RECORD").write_text("autograder/__init__.py,,\n")
    code, output = python(without_pip(first_cell(NAMES, NEEDED, ADDRESS)), cwd=tmp_path, path=path)
    assert code == 1
    assert output.startswith("Another package named autograder is here: autograder 3.7. ")
    assert "nothing was changed" in output
    assert "remove it yourself, restart the kernel, and run this cell again" in output


def test_notebook_newer_than_the_kit_is_reported():
    code = """
        from IPython.core.interactiveshell import InteractiveShell
        shell = InteractiveShell.instance(colors="nocolor")
        shell.run_cell("from autograder import check, transmogrify")
        shell.run_cell("from autograder import check\\ncheck('transmogrified')")
        import autograder
        print(hasattr(autograder, "transmogrify"))
        from autograder import submission
    """
    code, output = python(code)
    assert code == 0, output
    output = " ".join(output.split())
    assert f"there is no 'transmogrify' in what is installed here, which has version {__version__}" in output
    assert "It is older than this notebook: install the newest one" in output
    assert f"your version ({__version__}) is older than it" in output
    assert "Traceback" not in output
    assert "False" in output


# ---------------------------------------------------------------- contents of the packages


def unpacked(sdist):
    """The files in a source distribution, by path below its top folder."""
    with tarfile.open(sdist) as archive:
        files = [one for one in archive.getmembers() if one.isfile()]
        return {one.name.partition("/")[2]: archive.extractfile(one).read() for one in files}


@pytest.mark.slow
@pytest.mark.catalogue
def test_first_cell_installs_the_wheels_into_a_fresh_environment(packages, tmp_path):
    """pip gets their dependencies from the index."""
    notebook = packages / ASSIGNMENTS[0].notebook.name
    shutil.copy(notebook, tmp_path)
    for name in NAMES:
        shutil.copy(packages / name, tmp_path)
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True)
    first, *_ = code_cells(read_notebook(notebook))
    plain = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    cells = f"{first.source}\nfrom autograder import check\ncheck('softmax')"

    def ran(code, folder):
        command = [tmp_path / "venv" / "bin" / "python", "-c", code]
        return subprocess.run(command, cwd=folder, env=plain, capture_output=True, text=True, check=False)

    for _ in range(2):  # the second time, everything is installed
        done = ran(cells, tmp_path)
        assert done.returncode == 0, done.stderr
        assert "softmax: " in done.stdout

    # A second release in the term, with a mended test: it reaches those who have the first one.
    later, course = tmp_path / "later", shutil.copytree(packages.parent / "attention_course", tmp_path / "course")
    later.mkdir()
    for name in (NAMES[0], NAMES[2]):
        shutil.copy(packages / name, later)
    tests = "a1_scaled_dot_product/softmax/visible_tests.py"
    (course / tests).write_text((course / tests).read_text() + "\n# mended\n")
    build = [sys.executable, "-m", "build", "--wheel", "--outdir", later, course]
    subprocess.run(build, env=plain | {"COURSE_BUILD": ".post8"}, capture_output=True, check=True)
    list(write_release(COURSE, later))
    cell, *_ = code_cells(read_notebook(later / notebook.name))
    done = ran(cell.source, later)
    assert "It is installed now. Choose Kernel, Restart Kernel" in done.stderr
    for code, folder in ((cell.source, later), (first.source, tmp_path)):  # no notebook of before takes it away
        done = ran(code, folder)
        assert (done.returncode, done.stdout + done.stderr) == (0, "")
        (installed,) = (tmp_path / "venv").rglob(f"attention_course/{tests}")
        assert installed.read_text().endswith("# mended\n")


@pytest.mark.slow
def test_packages_contain_no_hidden_tests_or_known_mistakes(packages):
    """The engine's wheel and sdist contain nothing of the course. The course's contain only what students may have."""
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
    secret = r"hidden|mistakes|solutions|source|^tests|rubric.toml|not_shown|/fingerprints.npz"
    assert [name for name in course if re.search(secret, name)] == []
    course.pop("attention_course/relations.py")  # `check` shows these texts to everybody
    everything = b"\n".join([*course.values(), *of_the_course.values()]).decode(errors="replace")
    for assignment in ASSIGNMENTS:
        for entry in read_catalogue(assignment.mistakes).mistakes:
            assert entry.hint not in everything
    listed = (packages / "CONTENTS.txt").read_text()
    assert listed.startswith("commit ")
    assert all(name in listed for name in (*course, *engine))


LINE = 25  # characters; anybody may write shorter lines, such as `weights = []`


def code_lines(source):
    """Lines of code between the marks of a solution, without comments and repeated blanks."""
    for part in source.split("### BEGIN SOLUTION")[1:]:
        lines = part.partition("### END SOLUTION")[0].splitlines()
        yield from (code for line in lines if len(code := " ".join(line.partition("#")[0].split())) >= LINE)


@pytest.mark.slow
def test_course_wheel_contains_no_solutions_or_hidden_data(packages):
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
    for assignment in ASSIGNMENTS[:2]:  # the others are recorded in the same way
        for plan in material(assignment).plan.by_exercise.values():
            for one in plan:
                secret = [*arrays(list(one.call.given())), *arrays(getattr(read(one.answer), "value", None))]
                telling = [array for array in secret if array.dtype.kind == "f" and len(np.unique(array)) >= 8]
                assert not [array for array in telling if array.tobytes()[:64] in everything]


@pytest.mark.slow
def test_notebook_beside_a_release_has_one_more_cell(packages):
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
def test_package_with_secret_file_is_refused(tmp_path, name):
    for number, package in ((2, "autograder"), (0, "cellcage"), (1, "attention_course")):
        with pytest.raises(CourseError, match=f"no wheel with {package}; pip wheel --no-deps"):
            list(write_release(COURSE, tmp_path))
        with zipfile.ZipFile(tmp_path / NAMES[number], "w") as wheel:
            wheel.writestr(f"{package}/__init__.py", "")
    with zipfile.ZipFile(tmp_path / NAMES[1], "a") as wheel:
        wheel.writestr(f"attention_course/a1_scaled_dot_product/{name}", "")
    with pytest.raises(CourseError, match="which students must not have"):
        list(write_release(COURSE, tmp_path))
    assert sorted(path.name for path in tmp_path.iterdir()) == NAMES


GITHUB = "https://raw.githubusercontent.com/teacher/kit-2026/refs/heads/release/dist/"
IN_COLAB = "https://colab.research.google.com/github/teacher/kit-2026/blob/release/dist"


def test_notebooks_on_github_begin_with_a_link_to_colab(tmp_path):
    for wheel, package in zip(NAMES, ("cellcage", "attention_course", "autograder"), strict=True):
        with zipfile.ZipFile(tmp_path / wheel, "w") as archive:
            archive.writestr(f"{package}/__init__.py", "")
    name = ASSIGNMENTS[0].notebook.name
    list(write_release(COURSE, tmp_path, GITHUB))
    link, first, *_ = nbformat.read(tmp_path / name, as_version=4).cells
    assert (link.cell_type, link.source) == ("markdown", f"[Open in Colab]({IN_COLAB}/{name})")
    assert first.source == first_cell(NAMES, NEEDED, GITHUB)
    list(write_release(COURSE, tmp_path, ADDRESS))
    assert nbformat.read(tmp_path / name, as_version=4).cells[0].cell_type == "code"
    assert colab_link("https://github.com/teacher/kit-2026/raw/release/dist", "x.ipynb") == f"{IN_COLAB}/x.ipynb"
    for other in ("https://github.com/o/n/releases/download/v1", "https://example.edu/raw/x", "https://github.com/o"):
        assert colab_link(other, "x.ipynb") == ""


# ---------------------------------------------------------------- other systems than Linux

# Removes what Windows lacks after all other packages are loaded, so that our use of it raises an error.
WITHOUT_LINUX = """
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
def test_student_side_works_without_linux():
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
    code, output = python(WITHOUT_LINUX + work, released)
    assert code == 0, output
    assert "softmax: not started yet" in output
    assert "visible tests pass" in output
    assert "softmax: hint 1 of 3" in output
    assert not [line for line in output.splitlines() if "autograder/" in line and "line" in line], output


def test_command_line_names_supported_systems():
    run = "\n    import runpy\n    sys.path.insert(0, '')\n    runpy.run_module('autograder', run_name='__main__')\n"
    code, output = python(WITHOUT_LINUX + run)
    assert code == 2
    assert "autograder: the command line needs Linux or macOS" in output
    assert "Traceback" not in output
