"""Fixtures that all tests share, and the order in which tests run."""

from __future__ import annotations

import contextlib
import functools
import gc
import os
import shutil
import signal
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest
import typer.testing

from autograder.course.assignments import CONFIG, Course
from cellcage.linux import landlock_rules
from cellcage.machine import backend
from tests.helpers import browser
from tests.helpers.sandboxes import Sandbox

BUBBLEWRAP = backend("bubblewrap")

ROOT = Path(__file__).resolve().parents[1]
# Tests call commands by name.
os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
# The matrices in tests are tiny. When several processes share the cores, PyTorch's threads take ten times as long to
# synchronise as to compute. Set before anything imports PyTorch; child processes inherit it.
os.environ["OMP_NUM_THREADS"] = "1"
# With Python's default thresholds, garbage collection took a tenth of the processor time.
gc.set_threshold(20_000, 10, 10)
# No example has to be quick: on a busy machine one may take a hundred times as long.
hypothesis.settings.register_profile("any-speed", deadline=None)
hypothesis.settings.load_profile("any-speed")
# Each call in this process would make all commands and their options again, which takes 50 ms.
typer.testing._get_command = functools.cache(typer.testing._get_command)
# Background jobs ignore SIGINT, and child processes would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)


# Session fixtures that take seconds to set up.
SLOW_FIXTURES = {"marks", "chromium", "jupyterlab"}
# Folders whose tests share loaded assignments or a browser.
SHARED_FOLDERS = {"course", "browser"}
# Files that share a session fixture.
FILE_GROUPS = {
    "tests/engine/test_export.py": "marks",
    "tests/engine/test_report.py": "marks",
    "tests/project/test_release.py": "packages",
    "tests/project/test_wheel.py": "packages",
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run groups with slow tests first, then larger groups, so that no worker ends with one long group."""
    for item in items:
        # With Landlock, `make test` runs only the quick tests and the red team.
        if item.get_closest_marker("slow") and "[landlock" in item.name and item.path.name != "test_red_team.py":
            item.add_marker("catalogue")
        # Catalogue tests are slow as well, because `-m "not slow"` replaces the `-m` of addopts.
        if item.get_closest_marker("catalogue") or not SLOW_FIXTURES.isdisjoint(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.slow)
    slow = {group_of(item.nodeid) for item in items if item.get_closest_marker("slow")}
    tests = Counter(group_of(item.nodeid) for item in items)
    items.sort(key=lambda item: (group_of(item.nodeid) not in slow, -tests[group_of(item.nodeid)]))


def group_of(nodeid: str) -> str:
    """The group of a test, which one worker runs as a whole: a folder, several files, or one file."""
    file = nodeid.partition("::")[0]
    return FILE_GROUPS.get(file) or next((one for one in SHARED_FOLDERS if file.startswith(f"tests/{one}/")), file)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Make `--dist loadfile` distribute the groups of `group_of` instead of files."""
    if config.getvalue("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling

    class ByGroup(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return group_of(nodeid)

    return ByGroup(config, log)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish() -> None:
    """Freezing saves a third of a second at exit for each IPython shell that a test opened."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def course() -> Course:
    return Course(ROOT)


@pytest.fixture(scope="session")
def sandbox_of() -> Iterator[Callable[[str], Sandbox]]:
    """A function that opens the real sandbox with a backend's name; one zygote per backend for the whole session.

    Without bubblewrap, tests fail in CI and are skipped elsewhere. Without Landlock in the kernel, they are skipped.
    """
    with contextlib.ExitStack() as opened:

        @functools.cache
        def open_sandbox(kind: str) -> Sandbox:
            if kind == "bubblewrap" and (reason := BUBBLEWRAP.why_not()) and not os.environ.get("CI"):
                pytest.skip(reason)
            if kind == "landlock" and not landlock_rules.abi():
                pytest.skip("this kernel has no Landlock")
            return opened.enter_context(Sandbox(kind=kind))

        yield open_sandbox


@pytest.fixture(scope="session")
def sandbox(sandbox_of: Callable[[str], Sandbox]) -> Sandbox:
    return sandbox_of("bubblewrap")


def copy_course(folder: Path) -> Course:
    """Copy the course's sources into `folder`, without releases, submissions and gradebook."""
    for name in ("source", "solutions"):
        ignored = shutil.ignore_patterns("__pycache__", ".ipynb_checkpoints")
        shutil.copytree(ROOT / name, folder / name, ignore=ignored)
    shutil.copy(ROOT / CONFIG, folder / CONFIG)
    return Course(folder)


@pytest.fixture
def shared_sandbox(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    """`autograder check` runs in the session's sandbox."""
    monkeypatch.setattr(
        "autograder.cli.check_notebook.open_sandbox", lambda kind: contextlib.nullcontext(sandbox.students)
    )


@pytest.fixture(scope="module")
def kept_workers() -> Iterator[None]:
    """Commands in this process keep a course's worker, as formgrader does. To start one takes a second or more."""
    from autograder.nbgrader.autograde import Autograde  # imported here because most workers do not need it
    from autograder.worker.pool import open_pool

    with pytest.MonkeyPatch.context() as patch:
        for name in ("autograder.cli.grading", "autograder.nbgrader.regrade"):
            patch.setattr(f"{name}.open_pool", functools.partial(open_pool, idle=Autograde.idle))
        yield


@pytest.fixture
def own_course(tmp_path: Path) -> Course:
    return copy_course(tmp_path / "course")


@pytest.fixture(scope="session")
def marks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file that `autograder grade --json` wrote for a small class; see `tests.helpers.classes`."""
    from tests.helpers.classes import report_of_a_class  # imported here because most workers do not need it

    return report_of_a_class(tmp_path_factory.mktemp("report") / "course")


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    with browser.chromium() as opened:
        yield opened


@pytest.fixture(scope="session")
def jupyterlab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Course, str]]:
    """One JupyterLab for all browser tests, on a copy of the course: the course and the server's address."""
    course = copy_course(tmp_path_factory.mktemp("jupyterlab") / "course")
    with browser.lab(course.root) as address:
        yield course, address
