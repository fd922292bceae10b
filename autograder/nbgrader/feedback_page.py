"""Edits of nbgrader's feedback page: due date, open grades, and what it lacks of WCAG 2.1 AA.

See `docs/accessibility.md` for the last.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any
from urllib.parse import quote

from nbgrader.api import Gradebook, MissingEntry

from autograder.nbgrader.due import shown
from autograder.nbgrader.totals import not_graded_yet, to_look_at_again

# nbgrader's template says "Test cell" where an exercise has a name.
_NAMES = (
    (re.compile(r'(<a href="#test-(\w+)">)Test cell</a>'), r"\1<code>\2</code></a>"),
    (re.compile(r'(<a href="#written-[\w-]+">)Written response</a>'), r"\1In your own words</a>"),
    (re.compile(r'(<a href="#comment-written-[\w-]+">)Comment</a>'), r"\1Comment on your own words</a>"),
    (re.compile(r'(<a href="#comment-(\w+)">)Comment</a>'), r"\1Comment on <code>\2</code></a>"),
    (re.compile(r"Grade cell: <code>test-(\w+)</code>"), r"<code>\1</code>"),
)
# Code is on white, for which nbconvert's colours of code are made. It wraps, so that nothing scrolls sideways.
STYLE = """<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
body, pre { color: #212121; }
pre { background: #fff; white-space: pre-wrap; overflow-wrap: anywhere; word-break: normal; }
a { color: #1f5a9c; text-decoration: underline; }
a:focus, [tabindex]:focus-visible { outline: 3px solid #1f5a9c; outline-offset: 2px; }
div.nbgrader_cell .panel-heading { background: #1f5a9c; }
div.nbgrader_cell .panel-heading a, div.nbgrader_cell .panel-heading a:focus { color: #fff; outline-color: #fff; }
code { color: #a31a40; overflow-wrap: anywhere; } li.late-penalty { color: #a32820; }
.text_cell_render th, .text_cell_render td { padding: .1em .6em .1em 0; overflow-wrap: anywhere; }
.ansi-green-fg, .ansi-green-intense-fg { color: #00692f; } .ansi-cyan-fg, .ansi-cyan-intense-fg { color: #1c6163; }
.ansi-yellow-fg, .ansi-yellow-intense-fg { color: #735a00; } .ansi-white-fg, .ansi-white-intense-fg { color: #55524a; }
.ansi-red-fg, .ansi-red-intense-fg { color: #a31a10; }
@media (max-width: 44rem) {
  body > main > .container, #notebook-container { padding: 0; }
  div.nbgrader_cell .panel-heading { height: auto; overflow: hidden; }
  math { font-size: 85%; }
}
</style>
</head>"""
_EDITS = (
    (re.compile(r"<html>"), '<html lang="en">'),
    (re.compile(r"</head>"), STYLE),
    (re.compile(r"<body>"), "<body><main>"),
    (re.compile(r"</body>"), "</main></body>"),
    (re.compile(r"<h4>([^\n]*)</h4>"), r'<h1 class="h4">\1</h1>'),
)
# Beside each heading of the course's own texts. A screen reader says “link, pilcrow”. The link's target stays.
_PILCROW = re.compile(r'<a class="anchor-link" href="[^"]*">[^<]*</a>')
LOOKED_AT_AGAIN = "for an earlier answer, waits for another look"


def feedback_page(page: str, info: Mapping[str, str], contact: str, failed: Mapping[str, str]) -> str:
    """nbgrader's page for a student, with all edits.

    info: nbgrader's: the gradebook's address, and the names of student, assignment and notebook
    contact: see `CourseSettings`
    failed: the first test that each exercise fails, "" if none
    """
    with Gradebook(info["db_url"]) as book:
        try:
            notebook = book.find_submission_notebook(info["notebook"], info["assignment"], info["student"])
        except MissingEntry:
            waiting, again, line = [], [], ""
        else:
            waiting, again, line = not_graded_yet(notebook), to_look_at_again(notebook), _due_line(notebook.assignment)
    page = with_waiting(page, waiting, again)
    if line:
        page = page.replace('<div id="toc">', f'<p>{line}</p><div id="toc">', 1)
    if contact:
        page = page.replace("</body>", f"{something_wrong(contact, info, failed)}</body>", 1)
    for found, replacement in _EDITS:
        page = found.sub(replacement, page, count=1)
    return _PILCROW.sub("", page)


def something_wrong(contact: str, info: Mapping[str, str], failed: Mapping[str, str]) -> str:
    """The line with which a page ends: for each exercise, a link to somebody who can help."""
    links = []
    for exercise, test in failed.items() or [("", "")]:
        words = {"student": info["student"], "assignment": info["assignment"], "exercise": exercise, "test": test}
        address = contact
        if contact.startswith("mailto:") and "{" not in contact:
            address += f"{'&' if '?' in contact else '?'}subject={quote(', '.join(filter(None, words.values())))}"
        for name, word in words.items():
            address = address.replace(f"{{{name}}}", quote(word, safe=""))
        text = f"<code>{escape(exercise)}</code>" if exercise else escape(info["assignment"])
        links.append(f'<a href="{escape(address)}">{text}</a>')
    return f"<p>Something wrong? Write to us about {', '.join(links)}.</p>"


def with_exercise_names(page: str) -> str:
    """The page with the exercises' names in the list on top and in headings."""
    for found, replacement in _NAMES:
        page = found.sub(replacement, page)
    return page


def with_waiting(page: str, cells: Sequence[str], again: Sequence[str]) -> str:
    """The page with a sum that is not called final if a cell waits for a person.

    cells: they have "not graded yet" in place of 0 points
    again: they have the old points, and the words that somebody will look at them again
    """
    for name in map(re.escape, again):
        page = re.sub(rf'(<a href="#{name}">.*?</a>) \((Score: [\d.]+ / [\d.]+)\)', rf"\1 (\2 {LOOKED_AT_AGAIN})", page)
        heading = rf'(<a name="{name}"></a>(?:(?!<a name=).)*?Score: [\d.]+ / [\d.]+)'
        page = re.sub(heading, rf"\1 {LOOKED_AT_AGAIN}", page, count=1, flags=re.DOTALL)
    for name in map(re.escape, cells):
        # In the list on top, then in the cell's own heading.
        page = re.sub(
            rf'(<a href="#{name}">[^<]*</a>) \(Score: [\d.]+ / ([\d.]+)\)', r"\1 (not graded yet, of \2)", page
        )
        heading = rf'(<a name="{name}"></a>(?:(?!<a name=).)*?)Score: [\d.]+ / ([\d.]+)'
        page = re.sub(heading, r"\1Not graded yet, of \2", page, count=1, flags=re.DOTALL)
    return re.sub(r"(<h4>[^<]*)\(Score: ", r"\1(Score so far: ", page, count=1) if cells or again else page


def _due_line(submission: Any) -> str:
    """When a submission was due, with its extension, and when it came; empty without a due date."""
    if submission.assignment.duedate is None:
        return ""
    extended = ", with your extension" if submission.extension else ""
    due, came = shown(submission.duedate), submission.timestamp and shown(submission.timestamp)
    if came == due and submission.total_seconds_late > 0:
        came = "late"  # Canvas says no more
    came = f" Handed in: {came}." if came else ""
    return f"Due: {due}{extended}.{came}"
