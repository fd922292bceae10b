"""Write what is generated in `docs/`: the command line's help, the table of promises, two pictures.

python -m tools.docs
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import Any

import typer

from autograder.cli.main import app
from autograder.errors import CourseError
from cellcage.backends import installed
from cellcage.promises import PROMISES
from tools import diagrams

ROOT = Path(__file__).resolve().parents[1]
MADE = "<!-- Written by `python -m tools.docs`. A test fails if it is not what the code says. -->\n"
PROMISES_BEGIN = "<!-- Promises: written by `python -m tools.docs`. -->"
PROMISES_END = "<!-- End of promises. -->"
NAMES = ("bubblewrap", "Landlock", "limits only")
COMMANDS_HEAD = "Each command prints this with `--help`. Its exit code is 2 if the call itself is wrong, otherwise 0.\n"


def pages() -> dict[Path, str]:
    """Every generated page with its text."""
    docs = ROOT / "docs"
    return {
        docs / "reference-command-line.md": command_line(),
        docs / "security.md": with_promises(docs / "security.md"),
        docs / "processes.svg": diagrams.processes(),
        docs / "packages.svg": diagrams.packages(ROOT / "pyproject.toml"),
    }


def with_promises(page: Path) -> str:
    """The page with a table of promises and backends. A tick: the promise's test runs with this backend."""
    head, begin, rest = page.read_text(encoding="utf-8").partition(PROMISES_BEGIN)
    _, end, tail = rest.partition(PROMISES_END)
    lines = [f"| promise | what it means | {' | '.join(NAMES)} |", f"| --- | --- |{' --- |' * len(NAMES)}"]
    for one in PROMISES:
        ticks = " | ".join("✓" if backend.isolates or one.without_sandbox else "" for backend in installed().values())
        lines.append(f"| {one.name} | {one.text} | {ticks} |")
    return "\n".join([head + begin, "", *lines, "", end + tail])


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
    for parameter in command.params:
        if parameter.name != "help":
            yield f"- `{_usage(parameter)}`: {_text(parameter.help or '')}{_default(parameter)}"


def _usage(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        word = parameter.name.upper() + ("..." if parameter.nargs == -1 else "")
        return word if parameter.required else f"[{word}]"
    return parameter.opts[0] if parameter.is_flag else f"{parameter.opts[0]} {parameter.name.upper()}"


def _default(parameter: Any) -> str:
    value = parameter.default
    value = value.value if isinstance(value, Enum) else value
    return "" if value in (None, False, (), "") else f" Default: `{value}`."


def _text(text: str) -> str:
    return inspect.cleandoc(text).replace("<", "&lt;")


def main() -> None:
    """Write and name every page that is out of date."""
    for path, text in pages().items():
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
            print(f"wrote {path}")


if __name__ == "__main__":
    main()
