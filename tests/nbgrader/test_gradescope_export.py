"""Whose a file of Gradescope's export is, by the export's `submission_metadata.yml`."""

from __future__ import annotations

import logging

import pytest

from autograder.systems.gradescope import Gradescope
from tests.helpers.small_course import NOTEBOOK

# As Ruby writes it, with an autograder's output that looks like the metadata.
GROUP = """---
submission_4821:
  :submitters:
  - :name: "Jane Doe"
    :sid: '04321'
    :email: x@y.z
  - :name: "Ann O'Lee"
    :sid: '04400'
    :email: x@y.z
  :created_at: 2027-02-28 17:34:00.861687000 Z
  :score: 2.0
  :results: !ruby/hash:ActiveSupport::HashWithIndifferentAccess
    output: |-
      submission_4821:
        :submitters:
        - :sid: '0103'
"""


def exported(folder, text, *files):
    """What the collector returns for each file of a Gradescope export."""
    root = folder / "extracted" / "assignment_9_export"
    found = []
    for file in files:
        path = root / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("{}")
        found.append(path)
    (root / "submission_metadata.yml").write_text(text)
    collector = Gradescope(log=logging.getLogger("collector"), extracted=str(folder / "extracted"))
    return [collector.collect(str(path)) for path in found]


def test_metadata_of_groups_and_of_students_without_number(tmp_path, caplog):
    (found,) = exported(tmp_path / "group", GROUP, f"submission_4821/{NOTEBOOK}")
    assert (found["student_id"], found["timestamp"]) == ("04321", "2027-02-28 17:34:00 UTC")
    assert "submission_4821 is collected for 04321; it also belongs to 04400" in caplog.text
    text = "submission_1:\n  :submitters:\n  - :name: X\n    :sid:\n    :email: x@y.z\n  :created_at: 2027-99-99 1\n"
    found = exported(tmp_path / "address", text, f"submission_1/{NOTEBOOK}")
    assert found == [{"student_id": "x@y.z", "file_id": "first"}]  # an invalid time is left out


@pytest.mark.parametrize(
    "text",
    [
        *(f"submission_1:\n  :submitters:\n  - :sid: {number}\n" for number in ("'../x'", "'.x'", '"a\\nb"', "'<b>'")),
        *("", "- a", "a: [", "submission_1: x", "submission_1:\n  :submitters: y\n", "\x00"),
    ],
)
def test_unsafe_id_or_malformed_metadata_collects_nothing(tmp_path, text):
    assert exported(tmp_path, text, f"submission_1/{NOTEBOOK}") == [None]


def test_metadata_inside_a_submission_is_ignored(tmp_path):
    inside = "submission_4821/mine/"
    own = tmp_path / "extracted" / "assignment_9_export" / inside / "submission_metadata.yml"
    own.parent.mkdir(parents=True)
    own.write_text("submission_2:\n  :submitters:\n  - :sid: '0103'\n")
    (found,) = exported(tmp_path, GROUP, f"{inside}submission_2/{NOTEBOOK}")
    assert found["student_id"] == "04321"
