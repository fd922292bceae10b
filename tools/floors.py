"""Print the lowest versions that pyproject.toml promises as constraints for pip; `make floors` installs them.

    python -m tools.floors > build/floors.txt

Pip chooses the versions of their dependencies. The group `dev` is left out, because users do not need it.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

PROJECT = Path(__file__).parents[1] / "pyproject.toml"
BOUND = re.compile(r"(?P<name>[\w.-]+)(?:\[[^]]*\])?>=(?P<lowest>[\w.]+)")


def promised() -> list[str]:
    """The requirements of the engine and its extras, without those that name the engine itself."""
    stated = tomllib.loads(PROJECT.read_text())["project"]
    extras = stated["optional-dependencies"].values()
    requirements = [*stated["dependencies"], *(one for extra in extras for one in extra)]
    return [one for one in requirements if not one.startswith(f"{stated['name']}[")]


def floors(requirements: list[str]) -> Iterator[tuple[str, str]]:
    """Name and lowest version of each. Raises ValueError where none is stated."""
    for requirement in requirements:
        bound = BOUND.match(requirement)
        if bound is None:
            raise ValueError(f"{requirement!r} states no lowest version")
        yield bound["name"], bound["lowest"]


def main() -> None:
    """Print the constraints."""
    for name, lowest in floors(promised()):
        print(f"{name}=={lowest}")


if __name__ == "__main__":
    main()
