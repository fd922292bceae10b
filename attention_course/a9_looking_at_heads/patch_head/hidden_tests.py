"""Hidden tests of patch_head."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from autograder.testing import expect

from ...hidden.inputs import normal
from ...hidden.properties import ANY_SIZE, holds_in, responds, same_item_by_item
from ...hidden.unbatched import Unbatched
from ..shared_hidden_tests import ATOL, LAYOUT, ON_AN_ARGUMENT


@pytest.mark.exercise("patch_head")
class TestPatchHead:
    # The place is the number of a head, too, so that swapping the two raises an error only at real sizes.
    FOUND, OTHER = normal(941, 3, 6, 5), normal(942, 3, 6, 5)  # (h, L, d_v)
    BATCHED = normal(943, 2, 3, 6, 5), normal(944, 2, 3, 6, 5)

    def patched(self, student: Any, found: np.ndarray, other: np.ndarray, head: int, place: int) -> np.ndarray:
        """The answer. Fails unless it has the argument's shape."""
        got = expect.array(Unbatched(student.patch_head, 3)(found, other, head, place))
        expect.shape(got, found.shape, "All heads, at all places.")
        return got

    def looks_like_an_attempt(self, student: Any) -> None:
        """Fails unless the answer depends on both runs."""
        call = lambda found, other: self.patched(student, found, other, 1, 2)  # noqa: E731
        responds(call, [self.FOUND, self.OTHER], [normal(945, 3, 6, 5), normal(946, 3, 6, 5)], ["found", "other"])

    @pytest.mark.weight(0.2)
    def test_shape(self, student):
        """Three heads, six words, width five: the same shape comes back."""
        self.patched(student, self.FOUND, self.OTHER, 1, 2)

    @pytest.mark.weight(1.45)
    def test_values(self, student, reference):
        """One head at one place says what it said in the other run, and all else is as it was in this one."""
        hint = "How many vectors change? Which one, and where does the new one come from?"
        for seed, shape, head, place in ((947, (4, 6, 5), 2, 3), (949, (5, 4, 2), 3, 0), (951, (4, 4, 3), 0, 1)):
            found, other = normal(seed, *shape), normal(seed + 1, *shape)
            got = self.patched(student, found, other, head, place)
            expect.close(got, reference.patch_head(found, other, head, place), hint, atol=ATOL)

    @pytest.mark.weight(0.35)
    def test_batch(self, student):
        """With one batch axis, or two, each text is treated like that text alone."""
        self.looks_like_an_attempt(student)
        hint = "Count the axes from the end: which one are the heads, which one the places?"
        call = lambda found, other: student.patch_head(found, other, 1, 2)  # noqa: E731
        same_item_by_item(call, self.BATCHED, 1, hint)
        two = [np.stack([part, 2 * part]) for part in self.BATCHED]
        expect.close(call(*two)[1, 0], call(two[0][1, 0], two[1][1, 0]), hint, "one text of two times two", ATOL)

    @pytest.mark.weight(0.2)
    def test_same_run(self, student):
        """A patch from the very same run changes nothing."""
        self.looks_like_an_attempt(student)
        got = self.patched(student, self.FOUND, self.FOUND, 2, 1)
        expect.close(got, self.FOUND, "Is something added to what is replaced?", atol=ATOL)

    @pytest.mark.weight(0.3)
    def test_real_sizes(self, student, reference):
        """Two texts of 71 words in eight heads, at the last place; 5,101 words, 64 and two, one head and 300."""
        self.looks_like_an_attempt(student)
        plain = holds_in(student, reference, self.test_values)
        cases = (
            ((2, 8, 71, 12), 7, 70),
            ((1, 64, 33), 0, 63),
            ((1, 5101, 1), 0, 5100),
            ((300, 3, 1), 299, 2),
            ((9, 33, 2), 8, 32),
            ((16, 2, 1), 15, 1),
            ((1, 1, 16), 0, 0),
        )
        for number, (shape, head, place) in enumerate((*cases, ((1, 1, 2, 2, 2), 1, 0), ((9, 2, 1, 1, 1), 0, 0))):
            found, other = normal(1710 + 2 * number, *shape), normal(1711 + 2 * number, *shape)
            wanted = reference.patch_head(found, other, head, place)
            got = expect.array(student.patch_head(found, other, head, place))
            if plain:
                expect.close(got, wanted, ANY_SIZE, atol=ATOL)

    @pytest.mark.weight(0.2)
    def test_dtype(self, student):
        """float32 stays float32, float64 stays float64."""
        self.looks_like_an_attempt(student)
        for dtype in (np.float32, np.float64):
            got = self.patched(student, self.FOUND.astype(dtype), self.OTHER.astype(dtype), 1, 2)
            expect.dtype(got, dtype, "Is an array made on the way, and of which dtype?")

    @pytest.mark.weight(0.3)
    def test_arguments(self, student):
        """Neither run is changed; arguments may come by keyword and with any layout in memory."""
        self.looks_like_an_attempt(student)
        function = Unbatched(student.patch_head, 3)
        views = [np.asfortranarray(self.FOUND), np.asfortranarray(self.OTHER)]
        after = function.inputs_after(*views, 1, 2)
        expect.unchanged(after[:2], views, ["found", "other"], ON_AN_ARGUMENT)
        by_name = function(place=2, head=1, other=views[1], found=views[0])
        expect.close(by_name, self.patched(student, self.FOUND, self.OTHER, 1, 2), LAYOUT, atol=ATOL)
