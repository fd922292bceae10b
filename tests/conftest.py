"""Shared by the kit's own tests."""

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

import pytest

from autograder.course.assignments import CONFIG, Course
from cellcage.linux import landlock_rules
from cellcage.machine import backend
from tests.helpers import browser
from tests.helpers.sandboxes import Sandbox

BUBBLEWRAP = backend("bubblewrap")

ROOT = Path(__file__).resolve().parents[1]
# Commands are called by name.
os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
# Matrices here are tiny. Where several processes share the cores, PyTorch's threads take ten times as long to find one
# another as to compute. Before anything imports PyTorch, and for every process that a test starts.
os.environ["OMP_NUM_THREADS"] = "1"
# A tenth of what these processes compute went into looking for garbage among what they have imported.
gc.set_threshold(20_000, 10, 10)
# A shell makes what it starts in the background ignore Ctrl-C, and so would all that a test starts and interrupts.
signal.signal(signal.SIGINT, signal.default_int_handler)


# Fixtures that take seconds before the first test that asks for them begins.
DEAR = {"marks", "chromium", "jupyterlab"}
SHARING = {"course", "browser"}  # shelves
# Files that share a fixture of the session.
TOGETHER = {
    "tests/engine/test_export.py": "marks",
    "tests/engine/test_report.py": "marks",
    "tests/project/test_release.py": "packages",
    "tests/project/test_wheel.py": "packages",
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Groups with slow tests come first, then the larger ones, so that no worker is left alone with a long one."""
    for item in items:
        # Behind Landlock `make test` tries what is quick, and the red team.
        if item.get_closest_marker("slow") and "[landlock" in item.name and item.path.name != "test_red_team.py":
            item.add_marker("catalogue")
        # What `make catalogue` runs is slow, too: `-m "not slow"` takes the place of the `-m` of addopts.
        if item.get_closest_marker("catalogue") or not DEAR.isdisjoint(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.slow)
    slow = {group_of(item.nodeid) for item in items if item.get_closest_marker("slow")}
    tests = Counter(group_of(item.nodeid) for item in items)
    items.sort(key=lambda item: (group_of(item.nodeid) not in slow, -tests[group_of(item.nodeid)]))


def group_of(nodeid: str) -> str:
    """The tests that one worker runs: a shelf that shares loaded assignments or a browser, files, or a file."""
    file = nodeid.partition("::")[0]
    return TOGETHER.get(file) or next((shelf for shelf in SHARING if file.startswith(f"tests/{shelf}/")), file)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """For `--dist loadfile`: by `group_of` in place of files."""
    if config.getvalue("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling

    class ByGroup(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return group_of(nodeid)

    return ByGroup(config, log)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish() -> None:
    """Each IPython shell that a test opened looks for garbage once more when Python ends, a third of a second each."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def course() -> Course:
    return Course(ROOT)


@pytest.fixture(scope="session")
def sandbox_of() -> Iterator[Callable[[str], Sandbox]]:
    """The real thing by its sandbox's name; one zygote of each for the whole run.

    Missing bubblewrap is an error in CI, a skip elsewhere. Landlock is skipped where the kernel has none, alone.
    """
    with contextlib.ExitStack() as opened:

        @functools.cache
        def wall(kind: str) -> Sandbox:
            if kind == "bubblewrap" and (reason := BUBBLEWRAP.why_not()) and not os.environ.get("CI"):
                pytest.skip(reason)
            if kind == "landlock" and not landlock_rules.abi():
                pytest.skip("this kernel has no Landlock")
            return opened.enter_context(Sandbox(kind=kind))

        yield wall


@pytest.fixture(scope="session")
def sandbox(sandbox_of: Callable[[str], Sandbox]) -> Sandbox:
    return sandbox_of("bubblewrap")


def copy_course(folder: Path) -> Course:
    """The course's sources in `folder`, without any release, submission or gradebook."""
    for name in ("source", "solutions"):
        ignored = shutil.ignore_patterns("__pycache__", ".ipynb_checkpoints")
        shutil.copytree(ROOT / name, folder / name, ignore=ignored)
    shutil.copy(ROOT / CONFIG, folder / CONFIG)
    return Course(folder)


@pytest.fixture
def own_course(tmp_path: Path) -> Course:
    return copy_course(tmp_path / "course")


@pytest.fixture(scope="session")
def marks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `autograder grade --json` wrote of a small class; see `tests.helpers.classes`."""
    from tests.helpers.classes import report_of_a_class  # imported late: most tests' workers need not

    return report_of_a_class(tmp_path_factory.mktemp("report") / "course")


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    with browser.chromium() as opened:
        yield opened


@pytest.fixture(scope="session")
def jupyterlab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Course, str]]:
    """One JupyterLab for all tests in the browser, on a course of their own: the course, and its address."""
    course = copy_course(tmp_path_factory.mktemp("jupyterlab") / "course")
    with browser.lab(course.root) as address:
        yield course, address
