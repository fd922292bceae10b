"""`autograder bundle`: what a file holds that lets another system grade an assignment: the course, and the kit."""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import distribution, metadata, requires, version
from pathlib import Path

import autograder
import cellcage
from autograder.course.assignments import FILES, Assignment

TEMPLATES = Path(__file__).parent / "templates"
# What grading needs of the course's folder: no submission, no gradebook, nothing of another assignment.
# Releases tell which of two notebooks nobody has worked on.
OF_ASSIGNMENTS = ("source", "solutions", "assignments")
# The platform installs the kit from what is bundled: its repository, or only the package if it came as a wheel.
PROJECT, OF_KIT = "pyproject.toml", ("pyproject.toml", "constraints.txt", "README.md", "LICENSE")
LEFT_OUT = {"__pycache__", ".ipynb_checkpoints"}


def add_kit_and_course(bundle: zipfile.ZipFile, assignment: Assignment) -> None:
    """Add what grades an assignment: the kit that is running, and the course without its other assignments."""
    for file in _course_files(assignment):
        bundle.write(file, file.relative_to(assignment.root))
    for part in (ENGINE, SANDBOX):
        part.write(bundle)
    if "constraints.txt" not in bundle.namelist():
        bundle.writestr("constraints.txt", "")


@dataclass(frozen=True)
class _Part:
    """A distribution that the bundle holds: its package, the folder with it, and the folder's place in the bundle."""

    distribution: str
    package: Path
    folder: str
    place: str = ""

    def write(self, bundle: zipfile.ZipFile) -> None:
        """Write the package, and its project's files. They are made from metadata if it was installed as a wheel."""
        place, project = Path(self.place), self.package.parents[len(Path(self.folder).parts)]
        for file in _files_below(self.package):
            bundle.write(file, place / self.folder / file.relative_to(self.package.parent))
        found = project / PROJECT
        if found.is_file() and f'name = "{self.distribution}"' in found.read_text(encoding="utf-8"):
            for file in (project / name for name in OF_KIT):
                if file.is_file():
                    bundle.write(file, place / file.name)
        else:
            package = f"{self.folder}/{self.package.name}".lstrip("/")
            bundle.writestr(str(place / PROJECT), _project(self.distribution, package))


ENGINE = _Part("sandboxed-autograder", Path(autograder.__file__).parent, "")
SANDBOX = _Part("cellcage", Path(cellcage.__file__).parent, "src", "cellcage")


def _files_below(folder: Path) -> Iterator[Path]:
    return (path for path in sorted(folder.rglob("*")) if path.is_file() and not LEFT_OUT & set(path.parts))


def _project(name: str, package: str) -> str:
    """A `pyproject.toml`, made from the metadata of its wheel."""
    needed: dict[str, list[str]] = {}
    for requirement in requires(name) or ():
        package, _, condition = requirement.partition(";")
        extra = re.search(r"extra == ['\"](\w+)", condition)
        needed.setdefault(extra[1] if extra else "", []).append(package.strip())
    extras = "".join(f"{extra} = {json.dumps(packages)}\n" for extra, packages in needed.items() if extra)
    return (
        '[build-system]\nrequires = ["hatchling"]\nbuild-backend = "hatchling.build"\n\n'
        f'[project]\nname = "{name}"\nversion = "{version(name)}"\n'
        f'requires-python = "{metadata(name)["Requires-Python"]}"\n'
        f"dependencies = {json.dumps(needed.get('', []))}\n\n[project.optional-dependencies]\n{extras}\n"
        f"{_entry_points(name)}"
        f'[tool.hatch.build.targets.wheel]\npackages = ["{package}"]\n'
    )


def _entry_points(name: str) -> str:
    groups: dict[str, list[str]] = {}
    for point in distribution(name).entry_points:
        groups.setdefault(point.group, []).append(f'{point.name} = "{point.value}"')
    groups.pop("console_scripts", None)
    return "".join(f'[project.entry-points."{group}"]\n' + "\n".join(lines) + "\n\n" for group, lines in groups.items())


def _course_files(assignment: Assignment) -> Iterator[Path]:
    """The files of the course that grading needs, without those of other assignments."""
    root = assignment.root
    yield from (root / name for name in FILES if (root / name).is_file())
    places = [root / name for name in (*OF_ASSIGNMENTS, assignment.course.folder.name)]
    others = {place / name for place in places for name in assignment.course.assignments if name != assignment.name}
    for place in places:
        yield from (path for path in _files_below(place) if others.isdisjoint(path.parents))


def filled(template: str, assignment: Assignment, **values: str) -> str:
    """A template in which each `@NAME@` is replaced by its value."""
    values |= {"COURSE": assignment.course.folder.name}
    values |= {"ASSIGNMENT": assignment.name, "NOTEBOOK": assignment.notebook.name}
    text = (TEMPLATES / template).read_text(encoding="utf-8")
    for name, value in values.items():
        text = text.replace(f"@{name}@", value)
    return text
