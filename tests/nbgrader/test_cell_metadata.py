"""nbgrader's check of a cell's metadata finds what it always found, although it validates its schema no more."""

from __future__ import annotations

import jsonschema
import nbformat.v4
import pytest
from nbgrader.nbgraderformat.v3 import MetadataValidatorV3
from traitlets.config import Config

import autograder.nbgrader

RIGHT = {
    "grade_id": "row", "grade": True, "solution": False, "task": False, "locked": True, "points": 3, "schema_version": 3
}  # fmt: skip
WRONG = [{"points": "three"}, {"points": -1}, {"grade_id": 5}, {"locked": None}, {"cell_type": "poem"}]


@pytest.fixture(autouse=True)
def _patched():
    autograder.nbgrader.configure(Config())


def checked(metadata):
    MetadataValidatorV3().validate_cell(nbformat.v4.new_code_cell(metadata={"nbgrader": metadata}))


def test_right_metadata_are_accepted():
    checked(RIGHT)


@pytest.mark.parametrize("change", WRONG, ids=str)
def test_wrong_metadata_are_refused_in_the_same_words(change):
    with pytest.raises(jsonschema.ValidationError) as expected:
        jsonschema.validate(RIGHT | change, MetadataValidatorV3().schema)
    with pytest.raises(jsonschema.ValidationError) as found:
        checked(RIGHT | change)
    assert found.value.message == expected.value.message
