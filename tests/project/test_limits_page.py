"""docs/limits.md has each limit with its default value, and what it says about changing one is so."""

from __future__ import annotations

import json
import re
from dataclasses import asdict

from cellcage.limits import MIB, Limits
from tests.conftest import ROOT

PAGE = (ROOT / "docs" / "limits.md").read_text()
ROW = re.compile(r"^\| `(\w+)` \| ([\d.]+)( MiB)? \| (.+) \| (.+) \|$", re.M)


def test_every_limit_is_on_the_page_with_its_default_meaning_and_reason():
    rows = ROW.findall(PAGE)
    values = {name: float(number) * (MIB if unit else 1) for name, number, unit, *_ in rows}
    assert values == asdict(Limits())
    assert len(rows) == len(values), "each of them once"


def test_the_example_changes_two_limits():
    (example,) = re.findall(r"```json\n(.*?)```", PAGE, re.S)
    wishes = json.loads(example)["autograder"]["limits"]
    changed = Limits().changed(wishes)
    assert {name: getattr(changed, name) for name in wishes} == wishes
    assert changed != Limits()
