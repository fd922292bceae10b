"""Runs axe-core, an accessibility checker by Deque, on pages in Chromium: WCAG 2.1 A and AA."""

from __future__ import annotations

import os
from importlib.resources import files

import pytest

RULES = {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]}
OPEN_ALL = "for (const one of document.querySelectorAll('details')) one.open = true"
# A wide window in light colours, and a phone in dark colours. WCAG 1.4.10 requires 320 pixels.
VIEWS = {"wide": (1200, "light"), "narrow": (320, "dark")}


def violations(page, within="html", but=()):
    """A line for each element that violates a rule, after opening all `<details>`.

    within, but: selectors of the part to check, and of third-party elements to leave out
    """
    if os.environ.get("CI") is None:
        pytest.importorskip("axe_playwright_python", reason="pip install --group dev")
    page.evaluate(OPEN_ALL)
    page.evaluate((files("axe_playwright_python") / "axe.min.js").read_text())
    found = page.evaluate(
        "([context, rules]) => axe.run(context, {runOnly: rules, resultTypes: ['violations']})",
        [{"include": [[within]], "exclude": [[one] for one in but]}, RULES],
    )
    assert found["passes"], "axe checked nothing"
    return [
        f"{rule['id']}: {node['html'][:200]}: {node['failureSummary']}"
        for rule in found["violations"]
        for node in rule["nodes"]
    ]


def violations_of(browser, address, view):
    """The violations of a page, opened in a new window; `view` is one of `VIEWS`."""
    width, colours = VIEWS[view]
    # Our pages' content security policy would block axe's script.
    context = browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme=colours, bypass_csp=True, reduced_motion="reduce"
    )
    try:
        page = context.new_page()
        page.route(lambda url: not url.startswith(("file:", "http://127.0.0.1")), lambda route: route.abort())
        page.goto(address)
        wide = page.evaluate("document.documentElement.scrollWidth")
        scrolled = [f"{address}: {wide} pixels in a window of {width}"] if wide > width else []
        return scrolled + violations(page)
    finally:
        context.close()
