"""A real browser, a real JupyterLab, and a notebook in it as a user operates it."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request

import pytest

EXECUTED = """([cell, before]) => {
    const prompt = cell.querySelector('.jp-InputPrompt').textContent;
    return /\\[\\d+\\]/.test(prompt) && prompt !== before;
}"""
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
FLAGS += ["--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"]  # no network
# Keep cells outside the window in the page; do not ask about news.
SETTINGS = {
    "notebook-extension/tracker": {"windowingMode": "none"},
    "apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False},
}


@contextlib.contextmanager
def chromium():
    """Chromium, driven by Playwright. Without it, tests are skipped; in CI they fail."""
    sync_api = pytest.importorskip("playwright.sync_api")
    path = shutil.which("chromium") or shutil.which("google-chrome")
    if path is None and not os.environ.get("CI"):
        pytest.skip("no Chromium on this machine (on Debian: apt-get install chromium)")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


@contextlib.contextmanager
def lab(root, settings=SETTINGS):
    """Run JupyterLab in the folder `root` with these settings changed; yields its address."""
    for name, values in settings.items():
        path = root / ".settings" / "@jupyterlab" / f"{name}.jupyterlab-settings"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(values))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = (f"--port={port}", "--ServerApp.token=secret", f"--ServerApp.root_dir={root}")
    command = [sys.executable, "-m", "jupyter", "lab", "--allow-root", "--no-browser", *options]
    # Separate folders: servers that start at once in a new home directory overwrite each other's files.
    kept = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTERLAB_WORKSPACES_DIR", "IPYTHONDIR")
    environment = os.environ | {name: str(root / ".tabs" / name.lower()) for name in kept}
    environment["JUPYTERLAB_SETTINGS_DIR"] = str(root / ".settings")
    with open(root / "lab.log", "wb") as log:
        server = subprocess.Popen(command, cwd=root, stdout=log, stderr=log, env=environment)
        try:
            for _ in range(600):
                with contextlib.suppress(OSError):
                    urllib.request.urlopen(f"http://127.0.0.1:{port}/api?token=secret").close()
                    break
                time.sleep(0.1)
            yield f"http://127.0.0.1:{port}"
        finally:
            server.terminate()
            server.wait(20)


class Tab:
    """One notebook in its own page; collects the page's errors."""

    SECONDS = 30  # for a cell

    def __init__(self, browser, address, path):
        self.address, self.path = address, path
        self.complaints = []
        self.page = browser.new_page(viewport={"width": 1300, "height": 1000})
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("console", self.note_error)
        workspace = "".join(filter(str.isalnum, path))  # in a new workspace, JupyterLab restores no tabs
        self.page.goto(f"{address}/lab/workspaces/{workspace}/tree/{path}?token=secret")
        self.page.locator(".jp-Notebook-cell").nth(3).wait_for(timeout=60_000)
        self.page.get_by_text("Python 3 (ipykernel) | Idle").wait_for(timeout=60_000)

    def note_error(self, message):
        """Remember a console error with its address, because its text does not name the request."""
        if message.type == "error":
            self.complaints.append(f"{message.text} {message.location['url']}")

    def cell(self, text):
        """The first cell that holds `text`."""
        return self.page.locator(".jp-Notebook-cell", has_text=text).first

    def run(self, text, keys="Control+Enter"):
        """Run the cell that holds `text`; returns the cell and the seconds it took."""
        cell = self.cell(text)
        cell.locator(".cm-content").click()
        return cell, self.press_and_wait(cell, keys)

    def press_and_wait(self, cell, keys):
        """Press keys that run `cell` and wait for its end; returns the seconds it took."""
        before = cell.locator(".jp-InputPrompt").first.text_content()
        started = time.monotonic()
        self.page.keyboard.press(keys)
        self.page.wait_for_function(
            EXECUTED, arg=[cell.element_handle(), before], timeout=1000 * self.SECONDS, polling=20
        )
        return time.monotonic() - started

    def write(self, text, code):
        """Replace the cell that holds `text` by `code` and run it."""
        self.cell(text).locator(".cm-content").click()
        self.page.keyboard.press("Control+a")
        self.page.keyboard.insert_text(code)
        return self.run(code.splitlines()[0])

    def menu(self, *names):
        """Choose from the menu bar."""
        self.page.get_by_role("menuitem", name=names[0], exact=True).click()
        for name in names[1:]:
            self.page.locator(".lm-Menu").get_by_text(name, exact=True).click()

    def validate(self):
        """Press Validate; returns the text of the dialog."""
        self.page.get_by_role("button", name="Validate").click()
        return self.validation()

    def validation(self):
        """Wait for the dialog after Validate and close it with Enter; returns its text."""
        dialog = self.page.locator(".jp-Dialog", has_text="Validation Results")
        dialog.wait_for(timeout=90_000)
        text = dialog.inner_text()
        self.page.keyboard.press("Enter")
        dialog.wait_for(state="detached")
        return text

    def move_to(self, place, key, limit=20):
        """Press `key` until `place` has the focus."""
        for _ in range(limit):
            if place.evaluate("e => e.contains(document.activeElement)"):
                return
            self.page.keyboard.press(key)
        raise AssertionError(f"{key} does not lead to {place}")

    def close(self):
        """Close the page and end the notebook's kernel."""
        self.page.close()
        for session in _api(self.address, "sessions"):
            if session["path"] == self.path:
                _api(self.address, f"sessions/{session['id']}", "DELETE")


def _api(address, path, method="GET"):
    request = urllib.request.Request(f"{address}/api/{path}?token=secret", method=method)
    with urllib.request.urlopen(request) as reply:
        return json.loads(reply.read() or "[]")
