"""Write the pages of `docs/` that are generated from the code.

    python -m tools.docs

These are the help of the command line, the keys of the JSON, the sandbox's list of promises, and the sizes of packages.
"""

from __future__ import annotations

import inspect
import json
from collections import Counter
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import Any

import typer
from msgspec import structs

from autograder import sandbox
from autograder.cli.main import app
from autograder.errors import CourseError
from autograder.report import Cause, ExerciseResult, Report, TestResult
from autograder.sandbox.backends import BACKENDS
from autograder.sandbox.backends.promises import PROMISES
from tools import diagrams

ROOT = Path(__file__).resolve().parents[1]
MADE = "<!-- Written by `python -m tools.docs`. A test fails if it is not what the code says. -->\n"
KEYS = {
    "A submission": {
        "student": "who; the folder's name",
        "assignment": "the assignment's name",
        "status": "`graded`, or `failed` with a `reason`",
        "score": "points earned by tests, all exercises together; written questions are graded by hand and not in here",
        "max_score": "points there are",
        "exercises": "a list, in the notebook's order; empty if `failed`",
        "reason": "why it could not be graded; only if `failed`",
        "extra": "a sentence on the saved model beside the notebook; only if there is one; no part of the score",
    },
    "An exercise": {
        "name": "the function or class",
        "score": "points earned",
        "max_score": "points of its check cell",
        "started": "false while the stub is untouched, or the name is not defined",
        "diagnosis": "what is wrong: a mistake whose answers the student's are, or a relation to the right ones, such "
        "as `a-constant-factor`; two joined by `+`; two of which it is one, joined by `-or-`; or null",
        "evidence": "by what that is known, in one sentence; empty without a diagnosis",
        "known_mistake": "true if a mistake is in the diagnosis, and not relations alone",
        "hint": "the question that goes with the diagnosis; empty without one",
        "causes": "if the diagnosis is of two: the `name` and the `hint` of each",
        "with_reference": "earlier exercises that lost marks, and had the right one in their place here",
        "not_produced": "what the grader could not produce, and why; only if there is any. The mark stands",
        "withdrawn": "true if the course has withdrawn it, so that everybody gets its points; else not there",
        "tests": "a list, in the suite's order",
    },
    "A test": {
        "name": "the function in the suite",
        "sentence": "what is asked, as students read it",
        "state": "`passed`, `failed`, or `not known` if there was nothing to judge",
        "passed": "true if the state is `passed`",
        "score": "points earned: all or nothing",
        "max_score": "its share of the exercise's points",
        "message": "call, place, what came, and what to think about next; empty if passed",
        "stopped": "true if the code gave no answer: a loop, an exit, a crash, too much memory",
    },
}
SIZES = "## How large it is\n"
COMMANDS_HEAD = "`autograder --version` prints the version. Each command explains itself if you add `--help`.\n"
JSON_HEAD = """\
# Reference: the JSON of `autograder grade`

`autograder grade submitted/ --json marks.json` writes one list with an entry for each submission,
in the order of their names. `autograder report` and `autograder export` read it. Keys may be added,
but none is renamed or taken away.
"""
SECURITY_HEAD = """\
# Security

Student code is judged from another process. It runs in a sandbox, gets inputs and returns values.
It cannot reach tests, solutions, marks or other students' work.

![The worker, the zygote, and the two backends with the processes behind them](processes.svg)

[A table](#what-holds-with-which-backend) lists the promises. Each has a test of its name in
`tests/sandbox/test_promises_*.py`, which runs with each backend that has a tick. [The sandbox's own
page](#what-the-sandbox-says-of-itself) describes how they are kept and what is not covered.
`tests/sandbox/test_red_team.py` attacks both backends. `tests/sandbox/test_fork_server.py` tests
how processes are forked, ended and started again.

**People see text afterwards.** Feedback pages, formgrader and the class report show no HTML, no
script and no fetched picture of a submission (`tests/nbgrader/test_sanitise.py`,
`tests/engine/test_report.py`). nh3 cleans the HTML made from Markdown, with a list of allowed
elements and addresses. A spreadsheet gets no formula from a submission.

**One submission never touches another's mark, page or machine** (`tests/nbgrader/test_collect.py`,
`tests/nbgrader/test_links.py`, `tests/nbgrader/test_names.py`). We follow no link in a submission,
and open no archive in it. Formgrader opens only the configured course.

**Nobody looks for a course among submissions** (`tests/nbgrader/test_planted.py`), since a course's
own Python runs outside the sandbox. No Python is imported from the current folder either, also
by the scripts for Gradescope and Classroom 50 (`tests/engine/test_bundle_of_another_course.py`).
Submissions are read within limits on bytes, depth and count (`tests/engine/test_submission.py`).

**A model file** (`model.safetensors`) may be handed in if the assignment takes one. It never
reaches student code. The worker reads at most 4 MB of a plain file, and follows no link. The judge
parses them as arrays with safetensors. Names, shapes and dtype must fit the solution's decoder, or
the notebook's decoder of PyTorch's own layers, which then runs with these weights
(`tests/sandbox/test_saved_model.py`).

**Calls of student code to the reference** are answered in the judge, if they are small
(`testing/callback_cost.py`). Text in such a call must not become code there: `eval`, `exec` and
pandas' `query` refuse text during the call, which then gets no answer (`testing/callbacks.py`,
`tests/sandbox/test_callbacks.py`).

**Which backend works here?** `autograder doctor` tells, and what helps if none does. In containers
(Docker with its defaults, JupyterHub on Kubernetes, GitHub's and GitLab's runners, Gradescope)
bubblewrap rarely works. Landlock works if the kernel has it. `tests/sandbox/test_containers.py`
grades a class in such a place, as root and as an ordinary user.

**Cells of plain asserts** ([an nbgrader course](existing-course.md)) run in the sandbox, beside the
code that they test. Of the promises [below](#what-holds-with-which-backend), two are not theirs:
*data only*, since an assert compares the student's own objects, and *no state*, since all cells
share a process. Only the outcome of such a cell and a short message come back. [A
table](existing-course.md#what-such-tests-cannot-promise) lists attacks and their results.

**In three places there is no sandbox.**

- `check` runs in the student's own kernel, with the visible tests alone.
- nbgrader without this kit's plugin grades in the kernel, where student code can inspect the tests.
- If neither backend works (a kernel before 5.13), grading goes on with limits alone. Student code
  could then read the suites. `autograder grade`, `regrade`, `demo` and `nbgrader autograde` warn.
  `autograder grade --sandbox landlock` refuses. If you need the sandbox, grade elsewhere.

Grading needs Linux. On a Mac or Windows, [a container](containers.md) grades.

## What all submissions share

All processes of a run share the kernel, which counts some resources for each user or for the whole
machine, and makes some visible to all. For each of these the table says what separates students
from judges, judges from one another, and one submission from the next.
`tests/sandbox/test_shared_resources.py` tries each row with both backends. *Users* means: if root
grades, each fork server has a user of its own (`tests/sandbox/test_endings.py`).

| resource | what separates them |
| --- | --- |
| descriptors in flight | student code sends none (no `sendmsg`); judges may hold as many as the machine allows; users |
| inotify | refused, so no process learns which library another one opens |
| keys | refused; each notebook has its own session keyring |
| processes | 32 in a submission by its control group, or 8 by `RLIMIT_NPROC`; users |
| pending signals | 64 (`RLIMIT_SIGPENDING`); users |
| message queues | refused, and none allowed (`RLIMIT_MSGQUEUE`) |
| pages of pipes | the kernel gives a user 64 MiB, and then smaller pipes; judges use no pipes; users |
| locked memory | none allowed (`RLIMIT_MEMLOCK`) |
| page cache | `preadv2` without waiting, `mincore` and `cachestat` are refused; the time of a read remains visible |
| semaphores and System V | refused; named semaphores lie in scratch |
| locks on files | refused, also on `/dev/null`, which all share |
| leases, notices and hints of files | refused |
| open files | 128 in a process |
| pseudo-terminals | out of reach by Landlock; with bubblewrap alone (Linux before 5.13) all share the machine's |
| names of sockets | a network namespace of its own, or no sockets but pairs |
| scratch | a mount of its own, or a folder that is watched (`tests/sandbox/test_scratch.py`) |
| memory | a control group, or `RLIMIT_DATA` for each process (`tests/sandbox/test_fork_server.py`) |

## What computes on a student's text

The process that holds the whole class, the gradebook or other students' work only does what is in
this table with a student's text. Each row takes linear time, and has the bound on the right.
`tests/nbgrader/test_long_texts.py` runs all of it on texts that are long, odd, or made to be slow.

| place | what it computes | bound |
| --- | --- | --- |
| `reading.read_bytes`, `parse_json` | a file's bytes, and its JSON | 20 MB, 1,000,000 values and brackets, 100 deep |
| `submission.read_notebook` | the cells, in formats before 2015 as well, without nbformat | 5,000 cells |
| `submission.is_plain_check` | whether each line is only a call or the import of `check` | one pass over each line |
| `discovery.notebook_in` | which notebook of a folder has the assignment's cells, if none has its name | 20 notebooks |
| `worker.task`, `worker.pool` | what is sent to a judge, as bytes | 100 million characters wait at a time |
| `worker.verdict` | a judge's message, field by field | 8 MB, and a length for each text |
| `nbgrader.restore` | Markdown for the autograded copy | 20,000 characters of a cell, 100,000 of a notebook |
| `nbgrader.autograde` | code for the autograded copy, cut after grading | 100,000 characters, 300,000 of a notebook |
| nbgrader's own steps | checksums, rows of the gradebook, the notebook as JSON | the copy's size |
| `nbgrader.preprocessor` | output of cells | 20,000 characters of a cell |
| `nbgrader.pages`, Markdown | HTML by mistune and nh3; a longer text is shown as it is | 8,000 characters of a cell |
| `nbgrader.pages`, code | colours by Pygments, only for Python | 10,000 characters, 300 blanks in a row |
| `nbgrader.pages`, pasted pictures | base64 text in the page | each once |
| `nbgrader.feedback_page` | the list at the top, and headings of nbgrader's template | one pass over the page |
| `nbgrader.history` | a copy of the file, a digest | 20 MB |
| `nbgrader.files`, `nbgrader.exchange` | copies of files; the time of handing in | 100 MB, 4 kB of `timestamp.txt` |
| `nbgrader.zip_collect`, `collectors` | names in an archive, Gradescope's submitters | 100,000 entries, 500 MB |
| `nbgrader.return_marks` | Moodle's worksheet; the kit's tables in an autograded copy | 100 MB |
| `reports.class_report` | a sample of code | 5,000 characters, 30 lines, 5 notebooks of a student |
| `reports.written` | words of an answer, and answers that are alike | 20,000 characters; 400 words are compared |
| `reports.export`, `rubric` | a report's texts, escaped | those of `worker.verdict` |

`autograder check` and `check` in a notebook compile the code that they check. They hold one
notebook, and no other student's work.

"""


def pages() -> dict[Path, str]:
    """Every generated page with its text."""
    docs = ROOT / "docs"
    return {
        docs / "architecture.md": with_sizes(docs / "architecture.md"),
        docs / "reference-command-line.md": command_line(),
        docs / "reference-json.md": json_reference(),
        docs / "security.md": security(),
        docs / "processes.svg": diagrams.processes(),
        docs / "packages.svg": diagrams.packages(ROOT / "pyproject.toml"),
    }


def with_sizes(page: Path) -> str:
    """The page, ending with a table of the packages of the engine by size, in hundreds of lines."""
    lines: Counter[str] = Counter()
    for path in (ROOT / "autograder").rglob("*.py"):
        package, *rest = path.relative_to(ROOT / "autograder").parts
        lines[f"`{package}`" if rest else "modules beside them"] += len(path.read_text(encoding="utf-8").splitlines())
    rows = [f"| {name} | {round(count, -2):,} |" for name, count in lines.most_common()]
    whole = f"{SIZES}\nIn hundreds, docstrings and blank lines with them: {round(lines.total(), -2):,} in all.\n\n"
    head = page.read_text(encoding="utf-8").partition(SIZES)[0]
    return head + whole + "\n".join(["| package | lines |", "| --- | --- |", *rows, ""])


def security() -> str:
    """The sandbox's docstring as a page."""
    return (
        SECURITY_HEAD
        + MADE
        + _promises()
        + "\n## What the sandbox says of itself\n\n"
        + inspect.cleandoc(sandbox.__doc__ or "")
        + "\n"
    )


def _promises() -> str:
    """A table of promises and backends. A tick means that the test of that name runs with the backend."""
    lines = [
        "\n## What holds with which backend\n",
        "| promise | what a submission keeps to | bubblewrap | Landlock | process alone |",
        "| --- | --- | --- | --- | --- |",
    ]
    for one in PROMISES:
        ticks = " | ".join("✓" if backend.isolates or one.without_sandbox else "" for backend in BACKENDS.values())
        lines.append(f"| {one.name} | {one.text} | {ticks} |")
    return "\n".join([*lines, ""])


def json_reference() -> str:
    """An example with all keys explained. Raises `CourseError` if an explanation is missing or superfluous."""
    test = TestResult("test_shape", "The result has the shape of the input.", "passed", 0.25, 0.25, "")
    exercise = ExerciseResult("softmax", (test,), 0.25)
    two = structs.replace(exercise, causes=(Cause("no-scaling", ""), Cause("softmax-twice", "")))
    report = Report("ada", "a1_scaled_dot_product", (exercise,), 0.25)
    failed = Report("ben", "a1_scaled_dot_product", (), 0.25, "scaled_dot_product.ipynb is empty")
    submission, exercise = (
        structs.replace(failed, extra="..."),
        structs.replace(two, withdrawn=True, not_produced=("...",)),
    )
    whole: dict[str, Any] = {"A submission": submission, "An exercise": exercise, "A test": test}
    parts = [JSON_HEAD, MADE]
    for title, value in whole.items():
        _explained(title, set(value.to_dict()))
        parts += [f"## {title}\n", "| key | |", "| --- | --- |"]
        parts += [f"| `{key}` | {text} |" for key, text in KEYS[title].items()]
        parts.append("")
    example = json.dumps([report.to_dict(), failed.to_dict()], indent=1)
    return "\n".join([*parts, "## An example\n", f"```json\n{example}\n```\n"])


def _explained(title: str, keys: set[str]) -> None:
    odd = keys ^ set(KEYS[title])
    if odd:
        raise CourseError(f"{__file__}: KEYS[{title!r}] and the JSON differ in {', '.join(sorted(odd))}")


def command_line() -> str:
    """Every command's help. Raises `CourseError` if one has no example."""
    group = typer.main.get_command(app)
    parts = ["# Reference: the command line\n", MADE, COMMANDS_HEAD]
    for name, command in _commands("autograder", group):
        parts += [f"## `{name}`\n", _text(command.help or ""), "", *_parameters(command), ""]
        if not command.epilog:
            raise CourseError(f"{name} has no example; give it an epilog")
        parts.append(f"    {command.epilog.removeprefix('Example: ')}\n")
    return "\n".join(parts)


def _commands(name: str, command: Any) -> Iterator[tuple[str, Any]]:
    below = getattr(command, "commands", None)
    if below is None:
        yield name, command
        return
    for word, part in below.items():
        yield from _commands(f"{name} {word}", part)


def _parameters(command: Any) -> Iterator[str]:
    found = [parameter for parameter in command.params if parameter.name != "help"]
    if found:
        yield "| | |"
        yield "| --- | --- |"
    for parameter in found:
        yield f"| `{_usage(parameter)}` | {_text(parameter.help or '')}{_default(parameter)} |"


def _usage(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        word = parameter.name.upper() + ("..." if parameter.nargs == -1 else "")
        return word if parameter.required else f"[{word}]"
    return parameter.opts[0] if parameter.is_flag else f"{parameter.opts[0]} {parameter.name.upper()}"


def _default(parameter: Any) -> str:
    value = parameter.default
    value = value.value if isinstance(value, Enum) else value
    return "" if value in (None, False, ()) else f" Default: `{value}`."


def _text(text: str) -> str:
    return inspect.cleandoc(text).replace("|", "\\|").replace("<", "&lt;")


def main() -> None:
    """Write and name every page that is out of date."""
    for path, text in pages().items():
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
            print(f"wrote {path}")


if __name__ == "__main__":
    main()
