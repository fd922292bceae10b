"""The list on top of a feedback page: what lost points comes first."""

from __future__ import annotations

import re

_LIST = re.compile(r'(<div id="toc">\s*<ol>)(.*?)(</ol>)', re.DOTALL)
_ITEM = re.compile(r"<li\b.*?</li>", re.DOTALL)
_SCORE = re.compile(r"\(Score: ([\d.]+) / ([\d.]+)\)")
LOST, WAITS, FULL, PENALTY = range(4)


def with_lost_points_first(page: str) -> str:
    """The page; in its list first what lost points, then what waits for a person, then the rest, each in its order."""
    return _LIST.sub(lambda found: f"{found[1]}{''.join(_ordered(found[2]))}{found[3]}", page, count=1)


def _ordered(items: str) -> list[str]:
    entries: list[str] = []
    before = ""  # a comment on the answer whose tests come next
    found = _ITEM.findall(items)
    for item, following in zip(found, [*found[1:], ""], strict=True):
        is_comment = 'href="#comment-' in item
        if is_comment and _words(following).startswith(_words(item).removeprefix("Comment on ") + " ("):
            before = item
        elif is_comment and entries:
            entries[-1] += item
        else:
            entries.append(before + item)
            before = ""
    return sorted(entries, key=_rank)


def _words(item: str) -> str:
    return " ".join(re.sub(r"<[^>]*>", "", item).split())


def _rank(entry: str) -> int:
    if 'class="late-penalty"' in entry:
        return PENALTY
    score = _SCORE.search(entry)
    if score is None:
        return WAITS
    return LOST if float(score[1]) < float(score[2]) else FULL
