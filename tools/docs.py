"""Write what is generated in `docs/`: the command line's help, and two pictures.

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
from tools import diagrams

ROOT = Path(__file__).resolve().parents[1]
MADE = "<!-- Written by `python -m tools.docs`. A test fails if it is not what the code says. -->\n"
COMMANDS_HEAD = "Exit code: 2 if the call itself is wrong, otherwise 0.\n"


def pages() -> dict[Path, str]:
    """Every generated page with its text."""
    docs = ROOT / "docs"
    return {
        docs / "reference-command-line.md": command_line(),
        docs / "processes.svg": diagrams.processes(),
        docs / "packages.svg": diagrams.packages(ROOT / "pyproject.toml"),
    }


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
