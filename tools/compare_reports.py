"""Compare the reports of two versions of the kit, and print the differences. The exit code is 1 if there are any.

python -m tools.every_submission class
autograder grade class --json before.json       # then again with the other version, as after.json
python -m tools.compare_reports before.json after.json
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

SHOWN = 20  # differences; the others are only counted


def differences(before: list[dict[str, Any]], after: list[dict[str, Any]]) -> Iterator[str]:
    """A sentence for each exercise whose reports differ, and for each submission that is in only one of the files."""
    first, second = ({(one["student"], one["assignment"]): one for one in reports} for reports in (before, after))
    for who in sorted(first.keys() ^ second.keys()):
        yield f"{', '.join(who)}: only {'before' if who in first else 'after'}"
    for who in sorted(first.keys() & second.keys()):
        old, new = first[who], second[who]
        if old.get("reason") != new.get("reason"):
            yield f"{', '.join(who)}: {old.get('reason') or 'graded'}, then {new.get('reason') or 'graded'}"
        for was, now in zip(old["exercises"], new["exercises"], strict=False):
            if was != now:
                yield f"{', '.join(who)}: {was['name']}: {_words(was, now)}"


def _words(was: dict[str, Any], now: dict[str, Any]) -> str:
    for key in ("score", "diagnosis"):
        if was[key] != now[key]:
            return f"{key} {was[key]}, then {now[key]}"
    pairs = zip(was["tests"], now["tests"], strict=False)
    test = next(((one, other) for one, other in pairs if one != other), None)
    return f"{test[0]['name']}: {test[0]['message']!r}, then {test[1]['message']!r}" if test else "other words"


def main(before: str, after: str) -> int:
    """Print the differences and return the exit code."""
    found = list(differences(*(json.loads(Path(path).read_text(encoding="utf-8")) for path in (before, after))))
    print("\n".join(found[:SHOWN]) or "no difference")
    if len(found) > SHOWN:
        print(f"and {len(found) - SHOWN} more")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
