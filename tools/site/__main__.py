"""Write the course's own site for students, as static files.

    python -m tools.site public --jupyterlite build/jupyterlite/bin/python

A start page, the notebooks and wheels to download (`files/`), JupyterLite with the same notebooks (`lite/`), and the
pages for students (`docs/`). Pyodide, which is Python for the browser, comes from its own server, jsdelivr.net.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import nbformat

from autograder.authoring.release import ID, write_release
from autograder.course.assignments import Course
from tools.site import secrets
from tools.site.start_page import start_page

ROOT = Path(__file__).resolve().parents[2]
# What `check` needs in the browser beside NumPy and IPython, which Pyodide has. All are pure Python but msgspec.
PACKAGES = ("msgspec", "pytest", "pluggy", "iniconfig", "rich", "markdown-it-py", "mdurl", "comm", "ipywidgets")
OURS = (".", "./cellcage", "./attention_course")
PLATFORM = ("--platform", "pyemscripten_2026_0_wasm32", "--python-version", "3.14", "--only-binary", ":all:")
KERNEL = "@jupyterlite/pyodide-kernel-extension:kernel"
SETTINGS = {
    "@jupyterlab/notebook-extension:tracker": {"windowingMode": "none"},  # as the browser's own search needs it
    "@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": False},
}


def main() -> None:
    parser = argparse.ArgumentParser(description="Write the course's site for students.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--jupyterlite", type=Path, required=True, help="the Python that has JupyterLite")
    parser.add_argument("--address", default="", help="where the site will be, such as https://me.github.io/course")
    parser.add_argument("--pyodide", default="", help="the address of pyodide.js; JupyterLite's own if not given")
    parser.add_argument("--wheel", type=Path, action="append", default=[], help="instead of a download of its package")
    options = parser.parse_args()
    options.jupyterlite = options.jupyterlite.absolute()
    shutil.rmtree(options.folder, ignore_errors=True)
    build(options.folder.resolve(), options.jupyterlite, options.address, options.pyodide, options.wheel)
    if lines := list(secrets.found(Course(ROOT), options.folder)):
        sys.exit("\n".join(lines))
    print(f"Look at it: python3 -m http.server --directory {options.folder}")


def build(folder: Path, jupyterlite: Path, address: str, pyodide: str, wheels: Sequence[Path] = ()) -> None:
    """Write the site. `wheels` stand in for a download of the packages of their names."""
    course, files = Course(ROOT), folder / "files"
    run(jupyterlite, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", files, *OURS)
    ours = sorted(files.glob("*.whl"))
    for _ in write_release(course, files, f"{address.rstrip('/')}/files" if address else ""):
        pass
    for assignment in course.assignments.values():
        with_browser_cell(files / assignment.notebook.name, [*PACKAGES, *(path.name.split("-")[0] for path in ours)])
    with tempfile.TemporaryDirectory() as temporary:
        needed = Path(temporary) / "wheels"
        given = {path.name.split("-")[0]: path for path in wheels}
        names = [name for name in PACKAGES if name not in given]
        pins = ("--no-deps", "--constraint", "constraints.txt", *PLATFORM)
        run(jupyterlite, "-m", "pip", "download", "--quiet", "--dest", needed, *pins, *names)
        lite(course, folder, jupyterlite, pyodide, [*ours, *needed.glob("*.whl"), *given.values()])
    pages = (sys.executable, "-m", "mkdocs", "build", "--quiet", "--config-file", "tools/site/mkdocs.yml")
    run(*pages, "--site-dir", folder / "docs", NO_MKDOCS_2_WARNING="1")
    start_page(course, folder, address)
    (folder / ".nojekyll").touch()  # else GitHub Pages leaves out some files


def with_browser_cell(path: Path, packages: Sequence[str]) -> None:
    """Let the notebook's first cell install the course in a browser, too."""
    notebook = nbformat.read(path, as_version=4)
    text = Path(__file__).with_name("browser_cell.txt").read_text(encoding="utf-8")
    first, _, rest = notebook.cells[0].source.partition("\n")
    assert notebook.cells[0].id == ID
    notebook.cells[0].source = f"{first}\n{text.replace('@PACKAGES@', repr(list(packages)))}{rest}"
    nbformat.write(notebook, path)


def lite(course: Course, folder: Path, jupyterlite: Path, pyodide: str, wheels: Sequence[Path]) -> None:
    """Write JupyterLite, with each notebook in the folder of its assignment, where `check` looks for it."""
    with tempfile.TemporaryDirectory() as temporary:
        home = Path(temporary)
        for assignment in course.assignments.values():
            place = home / "contents" / assignment.name / assignment.notebook.name
            place.parent.mkdir(parents=True)
            shutil.copy(folder / "files" / assignment.notebook.name, place)
            for name, data in assignment.beside.items():
                (place.parent / name).parent.mkdir(parents=True, exist_ok=True)
                (place.parent / name).write_bytes(data)
        kernel = {KERNEL: {"pyodideUrl": pyodide}} if pyodide else {}
        configured = {"jupyter-lite-schema-version": 0, "jupyter-config-data": {"litePluginSettings": kernel}}
        (home / "jupyter-lite.json").write_text(json.dumps(configured))
        (home / "overrides.json").write_text(json.dumps(SETTINGS))
        command = [jupyterlite, "-m", "jupyter", "lite", "build", "--apps", "lab", "--no-unused-shared-packages"]
        command += ["--lite-dir", home, "--contents", home / "contents", "--output-dir", folder / "lite"]
        for wheel in wheels:
            command += ["--piplite-wheels", wheel]
        run(*command, cwd=home, PATH=f"{jupyterlite.parent}{os.pathsep}{os.environ['PATH']}")
    for path in (folder / "lite").rglob("*.js.map"):  # for debuggers of JupyterLite; half of the site's size
        path.unlink()


def run(*command: object, cwd: Path = ROOT, **environment: str) -> None:
    """Run a command; its output is shown only if it fails."""
    done = subprocess.run(
        list(map(str, command)), cwd=cwd, env=os.environ | environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")


if __name__ == "__main__":
    main()
