"""Feedback pages for everybody: what nbgrader's template lacks of WCAG 2.1 AA (`docs/accessibility.md`)."""

from __future__ import annotations

import re

# Code is on white, which the colours of nbconvert's code are made for, and wraps: nothing is scrolled sideways.
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
# Beside each heading of the course's own texts; it would be read aloud as “link, pilcrow”. What it leads to stays.
_PILCROW = re.compile(r'<a class="anchor-link" href="[^"]*">[^<]*</a>')


def readable(page: str) -> str:
    """nbgrader's feedback page with a language, colours that can be told apart, links that look like links."""
    for found, instead in _EDITS:
        page = found.sub(instead, page, count=1)
    return _PILCROW.sub("", page)
