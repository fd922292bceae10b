"""Two courses in full, one with a class and one with PyTorch modules, pass `dev check` and are graded."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.courses.own import course_of, graded, points_and_messages
from tests.helpers.selection import one_in
from tests.helpers.small_course import said_by

FOLDERS = {"streams": "a1_streams", "adapters": "a1_adapters"}
IN_ORDER = {
    "streams": [
        "a1_streams: in order: 1 exercise, 5 points by tests and 0 by hand, 5 known mistakes",
        "known mistakes that the visible tests name: Running 5 of 5\n",
    ],
    "adapters": [
        "a1_adapters: in order: 2 exercises, 10 points by tests and 0 by hand, 7 known mistakes",
        "known mistakes that the visible tests name: LowRank 3 of 4, fine_tune 3 of 3\n",
    ],
}


def written(name, root):
    """The course in this folder."""
    folder = Path(__file__).parent / name
    paths = [*folder.rglob("*.py"), *folder.rglob("*.toml")]
    files = {str(path.relative_to(folder)): path.read_text() for path in paths}
    return course_of(root / name, FOLDERS[name], (folder / "cells.txt").read_text(), files)


@pytest.fixture(scope="module", params=one_in(2, FOLDERS))
def name(request):
    return request.param


@pytest.fixture(scope="module")
def course(name, tmp_path_factory):
    return written(name, tmp_path_factory.mktemp("written"))


@pytest.mark.slow
def test_course_is_in_order_and_visible_tests_name_mistakes(name, course):
    said_by(course, "dev", "catalogue")
    assert said_by(course, "dev", "check").split("\n  ") == IN_ORDER[name]


# ---------------------------------------------------------------- students' answers

RIGHT = {
    "streams": {
        "Running": """
class Running:
    def __init__(self):
        self.seen = []

    def add(self, x):
        self.seen.append(x)

    def mean(self):
        return np.mean(self.seen) if self.seen else None

    def variance(self):
        return None if not self.seen else np.var(self.seen)
""",
    },
    "adapters": {
        "LowRank": """
class LowRank(nn.Module):
    def __init__(self, d_in, d_out, r, scale=1.0):
        super().__init__()
        self.base = nn.Linear(d_in, d_out)
        for parameter in self.base.parameters():
            parameter.requires_grad = False
        self.A = nn.Parameter(torch.empty(r, d_in))
        nn.init.kaiming_uniform_(self.A)
        self.B = nn.Parameter(torch.zeros((d_out, r)))
        self.r, self.scale = r, scale

    def forward(self, x):
        update = torch.einsum("or,ri->oi", self.B, self.A)
        return nn.functional.linear(x, self.base.weight + self.scale / self.r * update, self.base.bias)
""",
        "fine_tune": """
def fine_tune(weights, X, y, steps, rate):
    r, d_in = weights["A"].shape
    layer = LowRank(d_in, weights["B"].shape[0], r)
    layer.load_state_dict(weights)
    descent = torch.optim.SGD([p for p in layer.parameters() if p.requires_grad], lr=rate)
    for _ in range(steps):
        descent.zero_grad()
        nn.functional.mse_loss(layer(X), y).backward()
        descent.step()
    return layer.A.detach(), layer.B.detach()
""",
    },
}
# An exercise, an edit of its right answer, the points that remain, and words in the student's message.
SHARED = ("(self):\n        self.seen = []", "(self, seen=[]):\n        self.seen = seen")
WRONG = {
    "streams": [
        ("Running", "np.var(self.seen)", "np.var(self.seen, ddof=1)", 3.13, "then variance(): the result is nan"),
        ("Running", *SHARED, 4.38, "Which objects see `numbers`"),
    ],
    "adapters": [
        ("LowRank", "self.scale / self.r *", "self.scale *", 1.64, "By what is the scale divided?"),
        ("LowRank", "parameter.requires_grad = False", "pass", 4.91, "the gradient of base.weight is a tensor"),
        ("LowRank", "torch.empty(r, d_in)", "torch.empty(d_in, r)", 0, "A has shape (4, 2), it should be (2, 4)"),
        ("fine_tune", "        descent.zero_grad()\n", "", 3, "What is in .grad before the second step?"),
        ("fine_tune", "layer.load_state_dict(weights)", "pass", 0, "Is something random"),
    ],
}


@pytest.mark.slow
def test_answers_get_their_points_and_a_fitting_message(name, course, sandbox):
    def marked(**answers):
        return points_and_messages(graded(sandbox, course, FOLDERS[name], RIGHT[name] | answers))

    full = {one.name: one.points for one in course.assignment(FOLDERS[name]).exercises}
    assert {one: score for one, (score, _) in marked().items()} == full
    for exercise, old, new, points, words in WRONG[name]:
        assert old in RIGHT[name][exercise]
        found = marked(**{exercise: RIGHT[name][exercise].replace(old, new)})
        assert {one: score for one, (score, _) in found.items()} == full | {exercise: points}
        assert words in found[exercise][1]
