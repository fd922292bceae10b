"""Another distribution can add a backend with an entry point, without changing this package."""

from __future__ import annotations

import textwrap

import pytest

from cellcage import backends, choose_backend
from cellcage.opening import opened

FILES = {
    "recording.py": """
        from pathlib import Path

        from cellcage.backends.process import Process, UntrustedInAFolder

        RECORD = Path(__file__).with_name("record.txt")

        def record(what):
            with RECORD.open("a") as file:
                print(what, file=file)

        class Recorded(UntrustedInAFolder):
            def in_child(self, limits):
                record("child")
                super().in_child(limits)

        class Recording(Process):
            name = "recording"
            rank = 100
            untrusted = Recorded

            def policy(self, trusted, places, scratch, user):
                record("fork server")
                return super().policy(trusted, places, scratch, user)
    """,
    "recording-1.dist-info/METADATA": "Metadata-Version: 2.1\nName: recording\nVersion: 1\n",
    "recording-1.dist-info/entry_points.txt": "[cellcage.backends]\nrecording = recording:Recording\n",
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(textwrap.dedent(text))
    monkeypatch.syspath_prepend(str(tmp_path))
    backends.installed.cache_clear()
    yield tmp_path
    monkeypatch.undo()
    backends.installed.cache_clear()


def test_added_backend_runs_a_cell(folder):
    with opened(["x = 3", "def tripled(y): return x * y"], kind="recording") as notebook:
        assert notebook.call("tripled", 5) == 15
    assert (folder / "record.txt").read_text().split("\n")[:2] == ["fork server", "child"]


def test_added_backend_is_chosen_only_by_name(folder):
    assert list(backends.installed()) == ["bubblewrap", "landlock", "process", "recording"]
    assert choose_backend("auto")[0].name != "recording"
