"""Learning-management systems: whose a downloaded file is, and how marks and pages go back.

Each system is a class below `autograder.systems.system.System`, in one file. Those here are `OURS`; an installed
package adds its own by an entry point:

    [project.entry-points."autograder.systems"]
    ilias = "our_package.ilias:Ilias"
"""

from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points
from typing import Any

from autograder.errors import AutograderError

GROUP = "autograder.systems"
OURS = {
    "canvas": "autograder.systems.canvas:Canvas",
    "gradescope": "autograder.systems.gradescope:Gradescope",
    "moodle": "autograder.systems.moodle:Moodle",
}


def _all() -> dict[str, EntryPoint]:
    ours = (EntryPoint(name, place, GROUP) for name, place in OURS.items())
    return {point.name: point for point in (*ours, *entry_points(group=GROUP))}


def names() -> str:
    """The names of all systems, in a sentence."""
    *most, last = sorted(_all())
    return f"{', '.join(most)} or {last}"


def find_system(name: str) -> Any:
    """The class of a system. Raises `AutograderError` if no system has this name."""
    try:
        return _all()[name].load()
    except KeyError:
        raise AutograderError(f"no system is called {name}; choose {names()}") from None
