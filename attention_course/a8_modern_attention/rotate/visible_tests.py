"""Visible tests of rotate, for students to read; the numbers are those of the notebook."""

import numpy as np
import pytest

from autograder.testing import close, expect, keeps, shown

VECTOR = np.array([[1.0, 0.0, 0.0, 2.0]] * 3)

ROTATED = np.array(
    [
        [0.86, -2.0641, -0.9828, -0.1846, 2.9913, 1.0258],
        [-0.8415, 0.5403, 2.0906, -1.905, 0.9978, 1.0022],
        [1.9203, -0.5588, 0.6866, 1.2364, -1.0258, 1.9869],
    ]
)
VECTOR_OF_SIX = np.array(
    [[2.0, 1.0, 2.0, -1.0, -1.0, 1.0], [-2.0, -2.0, -2.0, -1.0, -2.0, 1.0], [2.0, -1.0, -2.0, 1.0, -2.0, 1.0]]
)


@pytest.mark.exercise("rotate")
class TestRotate:
    TEXT = np.array([[1.0, 2.0, -1.0, 0.0, 3.0, 1.0], [0.0, 1.0, 2.0, -2.0, 1.0, 1.0], [2.0, 0.0, 1.0, 1.0, -1.0, 2.0]])

    def test_by_hand(self, student):
        """The example by hand: (1, 0, 0, 2) at the positions 0, 1 and 2."""
        wanted = [[1.0, 0.0, 0.0, 2.0], [0.5403, 0.8415, -0.02, 1.9999], [-0.4161, 0.9093, -0.04, 1.9996]]
        with shown("Which columns are a pair, and what is its angle?", x=VECTOR, positions=np.arange(3)):
            close(expect.array(student.rotate(VECTOR, np.arange(3))), np.array(wanted))

    def test_other_places(self, student):
        """Three vectors of three pairs, at the positions 4, 1 and 6."""
        positions = np.array([4, 1, 6])
        with shown("Whose position is whose, and how fast is each pair?", x=self.TEXT, positions=positions):
            close(expect.array(student.rotate(self.TEXT, positions)), ROTATED)

    def test_two_texts(self, student):
        """Two texts at once are turned by the same positions."""
        both, positions = np.stack([self.TEXT, VECTOR_OF_SIX]), np.array([4, 1, 6])
        with shown(
            "Which axis of x belongs to positions? Count it from the end.",
            "exception",
            "shape",
            x=both,
            positions=positions,
        ):
            close(expect.array(student.rotate(both, positions))[0], ROTATED, "the first text")

    def test_base(self, student):
        """Another base, 100: the second pair turns by a tenth of the position."""
        wanted = [[1.0, 0.0, 0.0, 2.0], [0.5403, 0.8415, -0.1997, 1.99], [-0.4161, 0.9093, -0.3973, 1.9601]]
        with shown("Where does base come in?", x=VECTOR, positions=np.arange(3), base=100.0):
            close(expect.array(student.rotate(VECTOR, np.arange(3), 100.0)), np.array(wanted))

    def test_far_away(self, student):
        """A single pair, (1, 0), at the positions 70, 300 and 5,000."""
        x, positions = np.array([[1.0, 0.0]] * 3), np.array([70, 300, 5000])
        question = "Is there a table in your code, or a dtype, that ends before these positions?"
        with shown(question, "exception", x=x, positions=positions):
            close(
                expect.array(student.rotate(x, positions)),
                np.array([[0.6333, 0.7739], [-0.0221, -0.9998], [0.1547, -0.988]]),
            )

    def test_any_number(self, student):
        """A single pair, (1, 0), at the positions -1, 0.5 and 2."""
        x, positions = np.array([[1.0, 0.0]] * 3), np.array([-1.0, 0.5, 2.0])
        with shown("What does your code make of -1, and of 0.5?", "exception", x=x, positions=positions):
            wanted = np.array([[0.5403, -0.8415], [0.8776, 0.4794], [-0.4161, 0.9093]])
            close(expect.array(student.rotate(x, positions)), wanted)

    def test_many_digits(self, student):
        """A hundred sevenths, at the positions 0 and 1; and three pairs, each (1, 0), at the position 1,000,000."""
        x = np.array([[100 / 7, 0.0]] * 2)
        with shown("How many digits does each of your steps keep?", x=x, positions=np.arange(2)):
            close(expect.array(student.rotate(x, np.arange(2))), np.array([[14.2857, 0.0], [7.7186, 12.021]]))
        x, positions = np.array([[1.0, 0.0] * 3]), np.array([1_000_000])
        with shown(
            "How many digits have your angles, and the speeds that they are made from?", x=x, positions=positions
        ):
            close(
                expect.array(student.rotate(x, positions)),
                np.array([[0.9368, -0.35, -0.4148, 0.9099, 0.7662, -0.6426]]),
            )

    def test_float32(self, student):
        """float32 gives float32, and the arguments are as before."""
        with shown("Which dtype have the cosines of whole numbers, and which array do you write into?"):
            keeps(student.rotate, VECTOR, np.arange(3), names="x positions")
