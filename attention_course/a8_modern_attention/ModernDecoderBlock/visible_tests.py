"""Visible tests of ModernDecoderBlock, for students to read; the numbers are those of the notebook."""

import numpy as np
import pytest

from autograder.testing import arrives, close, expect, shown

from ..shared_visible_tests import WAVES, waves

WHOLE = [
    [
        [
            1.9579,
            2.4891,
            2.2314,
            1.3314,
            -0.1549,
            -1.2693,
            -1.3259,
            -0.6871,
            0.4861,
            1.9182,
            2.5762,
            2.1517,
            1.1986,
            -0.1174,
            -1.3153,
            -1.4462,
        ],
        [
            -0.8388,
            0.5014,
            1.7473,
            2.3791,
            2.1291,
            1.0284,
            -0.3646,
            -1.3379,
            -1.5166,
            -0.8068,
            0.5347,
            1.8084,
            2.3935,
            2.1016,
            1.0251,
            -0.3806,
        ],
        [
            -1.914,
            -2.1782,
            -1.4064,
            0.0232,
            1.1884,
            1.7566,
            1.5469,
            0.3798,
            -1.0595,
            -1.9175,
            -2.06,
            -1.3805,
            0.0451,
            1.3215,
            1.7861,
            1.4993,
        ],
        [
            0.4921,
            -0.8765,
            -1.8973,
            -1.9678,
            -1.1513,
            0.1161,
            1.3701,
            1.9647,
            1.5272,
            0.3871,
            -0.9282,
            -1.9223,
            -2.0282,
            -1.1569,
            0.1466,
            1.3309,
        ],
    ]
]
THROUGH_A_WINDOW = [
    [
        [
            1.9579,
            2.4891,
            2.2314,
            1.3314,
            -0.1549,
            -1.2693,
            -1.3259,
            -0.6871,
            0.4861,
            1.9182,
            2.5762,
            2.1517,
            1.1986,
            -0.1174,
            -1.3153,
            -1.4462,
        ],
        [
            -0.8388,
            0.5014,
            1.7473,
            2.3791,
            2.1291,
            1.0284,
            -0.3646,
            -1.3379,
            -1.5166,
            -0.8068,
            0.5347,
            1.8084,
            2.3935,
            2.1016,
            1.0251,
            -0.3806,
        ],
        [
            -1.9814,
            -2.2421,
            -1.4698,
            -0.0436,
            1.1244,
            1.6945,
            1.4812,
            0.3156,
            -1.1205,
            -1.9817,
            -2.1239,
            -1.4405,
            -0.0172,
            1.2581,
            1.727,
            1.4391,
        ],
        [
            0.0552,
            -1.3162,
            -2.3121,
            -2.3867,
            -1.5789,
            -0.2873,
            0.9702,
            1.552,
            1.1354,
            0.0066,
            -1.3234,
            -2.3018,
            -2.3896,
            -1.5321,
            -0.2195,
            0.9882,
        ],
    ]
]

# The same with some matrices zero: of one word, or of three, the last one's first 8 numbers.
NOTHING_ADDED = [1.2884, 1.9709, 1.7264, 0.67, -0.7016, -1.7432, -1.9649, -1.2625]
FEED_FORWARD_ALONE = [1.4301, 1.9074, 1.6344, 0.8054, -0.7156, -1.8676, -1.8535, -1.2252]
ONE_WORD = [1.858, 2.5388, 2.2925, 1.234, -0.1397, -1.1837, -1.408, -0.7084]
# Of one word a thousandth as large.
SMALL_FEED_FORWARD = [0.0237, -0.0082, -0.0127, 0.0221, -0.003, -0.0214, 0.0157, 0.0045]
SMALL_WORD = [0.2409, 0.2408, 0.2398, 0.2379, 0.2356, 0.2336, 0.2323, 0.2318]
THREE_WORDS = [-1.9847, -2.1344, -1.3699, -0.0491, 1.2085, 1.8133, 1.4825, 0.3735]

# Of four words through a window of one, the last one's first 8 numbers.
ITSELF_ALONE = [0.154, -1.2173, -2.2182, -2.29, -1.4803, -0.1942, 1.0646, 1.6495]

LAST_OF_TWELVE = [2.1905, 1.0623, -0.8246, -1.4704, -2.1229, -1.0968, 1.6487, 1.8111]
# The last of 300 words, its first 8 numbers: without a window and through a window of three.
LAST_OF_300 = [1.215, 1.8403, 1.7386, 1.0496, -0.4632, -1.7472, -1.9104, -1.4482]
THROUGH_A_WINDOW_OF_THREE = [1.5342, 2.2013, 2.1168, 1.3774, -0.1088, -1.359, -1.5715, -1.1009]


@pytest.mark.exercise("ModernDecoderBlock")
class TestModernDecoderBlock:
    # Width 16: four query heads of width 4, so two pairs each, and two heads of keys; six numbers between.
    SIZES = (16, 4, 2, 6)
    X = 2 * waves(0.7, 1, 4, 16)

    def weights(self):
        shapes = {"norm_1": (16,), "norm_2": (16,), "W_Q.weight": (16, 16), "W_K.weight": (8, 16)}
        shapes |= {"W_V.weight": (8, 16), "W_O.weight": (16, 16), "W_gate.weight": (6, 16), "W_up.weight": (6, 16)}
        shapes |= {"W_down.weight": (16, 6)}
        return {name: waves(0.9 + 0.37 * i, *shape) for i, (name, shape) in enumerate(shapes.items())}

    def own_names(self, shapes):
        """The block's own name of each parameter: the one asked for, or the next other one of its shape, if any is."""
        wanted = self.weights()
        others = [name for name in shapes if name not in wanted and not name.endswith("bias")]
        found = {name: name for name in wanted}
        for name in wanted:
            fits = [other for other in others if tuple(shapes[other]) == wanted[name].shape]
            if name not in shapes and fits:
                found[name] = fits[0]
                others.remove(fits[0])
        return found

    def run(self, student, sizes=SIZES, dtype="float32", silent=(), x=X, loud=1.0, **more):
        """silent: matrices that are zero; loud: by what W_Q is multiplied"""
        import torch

        kind, shapes = getattr(torch, dtype), student.ModernDecoderBlock.build(*sizes)
        # `test_parameters` is about names, about biases and about norms that are layers; here they are set, too.
        weights = {name: np.zeros(shape) for name, shape in shapes.items() if name.endswith("bias")}
        own = self.own_names(shapes)
        weights |= {own[name]: value * (name[:-7] not in silent) for name, value in self.weights().items()}
        weights[own["W_Q.weight"]] = loud * weights[own["W_Q.weight"]]
        weights = {name: torch.tensor(value, dtype=kind) for name, value in weights.items()}
        return student.ModernDecoderBlock.run(sizes, weights, torch.tensor(x, dtype=kind), **more)

    def stage(self, student, wanted, question, silent, words, size=1.0):
        x = size * self.X[:, :words]
        with shown(question, sizes=self.SIZES, weights=WAVES, x=WAVES):
            got = expect.tensor(self.run(student, silent=silent, x=x).value)
            expect.shape(got, x.shape)
        if np.isnan(got).any():
            question = "Where does the first NaN arise? Does your mask leave each word a key?"
        with shown(question, sizes=self.SIZES, weights=WAVES, x=WAVES):
            close(got[0, -1, :8], np.array(wanted), "of the last word the first 8 numbers", within=5e-4)

    def takes_the_mean(self, student):
        """With W_Q = 0, the last of three words gets the mean of what each gives when it sees only itself."""

        def added(x):
            got = self.run(student, silent=("W_Q", "W_down"), x=x).value
            expect.shape(got, x.shape)
            return (expect.numbers(got) - x)[0, -1]

        alone = [added(self.X[:, word : word + 1]) for word in range(3)]
        close(added(self.X[:, :3]), np.mean(alone, axis=0), within=1e-3)

    def judge(self, student, wanted, question, sizes):
        with shown(question, sizes=sizes, weights=WAVES, x=WAVES):
            got = expect.tensor(self.run(student, sizes).value)
            close(got, np.array(wanted), "the output", within=5e-4)

    def test_parameters(self, student):
        """The count for d_model = 16, four heads, two of keys, d_ff = 6: two norms and seven matrices, 1088 numbers."""
        with shown("Compare it with the table above: which part is too much, missing, or of another size?"):
            shapes = student.ModernDecoderBlock.build(*self.SIZES)
            total = sum(int(np.prod(shape)) for shape in shapes.values())
            if total != 1088:
                expect.fail(f"it has {total}: {', '.join(f'{n} {tuple(s)}' for n, s in shapes.items())}.")
        with shown("Under which names does the text ask for the members, and what are the norms?"):
            own = self.own_names(shapes)
            missing = [name for name in own if name not in shapes]
            if missing and own[missing[0]] in shapes:
                more = f", and of {len(missing) - 1} more the names differ, too" * (len(missing) > 1)
                expect.fail(f"there is no parameter {missing[0]}; in its place there is {own[missing[0]]}{more}.")
            if missing:
                expect.fail(f"there is no parameter {missing[0]}; there are {', '.join(shapes)}.")
        with shown("Which width has a layer of two heads of keys, and which way round does nn.Linear take its sizes?"):
            for name, value in self.weights().items():
                if tuple(shapes[name]) != value.shape:
                    expect.fail(f"{name} has shape {tuple(shapes[name])}, wanted {value.shape}.")

    def test_both_branches_silent(self, student):
        """With W_O = 0 and W_down = 0 a word stays as it is."""
        question = "With which matrix does each branch end, and what are the zeros added to that it gives here?"
        self.stage(student, NOTHING_ADDED, question, ("W_O", "W_down"), 1)

    def test_feed_forward_alone(self, student):
        """With W_O = 0 only the gated network adds something, here to one word."""
        question = "Which norm comes before the gate, which of the two has the SiLU, and are they multiplied?"
        self.stage(student, FEED_FORWARD_ALONE, question, ("W_O",), 1)

    def test_one_word_sees_itself(self, student):
        """With W_down = 0, a word alone: its weight is 1, so its values go on as they are, through W_O."""
        question = "Which norm comes before W_V, and which head of values does each query head get?"
        self.stage(student, ONE_WORD, question, ("W_down",), 1)

    def test_three_words(self, student):
        """With W_down = 0, the last of three words: scores, positions and weights matter now."""
        question = (
            "Which numbers are one word's query in one head, which of query, key and value are turned, by how much, "
            "and by what is a score divided?"
        )
        if not expect.holds(lambda: self.takes_the_mean(student)):
            question = (
                "Without scores, with W_Q = 0, it is wrong, too. Whom does a word see, over which axis do weights sum "
                "to 1, what happens to the values, and how do heads come together?"
            )
        self.stage(student, THREE_WORDS, question, ("W_down",), 3)

    def test_small_numbers(self, student):
        """A word with numbers around 0.001: here eps counts, in either norm."""
        question = "What is eps added to, and is its root taken with the rest?"
        self.stage(student, SMALL_FEED_FORWARD, question, ("W_O",), 1, size=1e-3)
        self.stage(student, SMALL_WORD, question, ("W_down",), 1, size=1e-3)

    def test_four_words(self, student):
        """Four words, and weights of which no two are alike."""
        question = (
            "Each branch alone is right if the checks above pass. Who sees whom, and what goes from one to the other?"
        )
        self.judge(student, WHOLE, question, self.SIZES)

    def test_window(self, student):
        """The same through a window of two, and through one of one: each word sees itself."""
        self.judge(student, THROUGH_A_WINDOW, "Whom does the last word see?", (*self.SIZES, 2))
        sizes = (*self.SIZES, 1)
        with shown("Whom does the last word see through a window of 1?", sizes=sizes, weights=WAVES, x=WAVES):
            got = expect.tensor(self.run(student, sizes).value)
            expect.shape(got, self.X.shape)
            close(got[0, -1, :8], np.array(ITSELF_ALONE), "of the last word the first 8 numbers", within=5e-4)

    def test_one_text_after_another(self, student):
        """One block reads three words, then four; or four, then three; or three twice: each as if it were the first."""
        import torch

        whole, question = np.array(WHOLE), "What does the block keep from the first text, and does that fit the next?"
        for first, then in ((3, 4), (4, 3), (3, 3)):
            before = torch.tensor(self.X[:, -first:]).float()  # the last words
            given = {"sizes": self.SIZES, "weights": WAVES, "first": f"{first} words", "then": f"{then} words"}
            with shown(question, "exception", "shape", **given):
                got = expect.tensor(self.run(student, x=self.X[:, :then], after=[before]).value)
                close(got, whole[:, :then], "the output for the second text", within=5e-4)

    def test_low_scores(self, student):
        """With W_down = 0, and scores of thousands, above or below zero: the first of four words sees only itself."""
        question = "Its score with itself is far below zero here. What stands for a hidden one, and is it lower still?"
        for loud in (1e4, -1e4):
            with shown(question, sizes=self.SIZES, weights=WAVES, W_Q=f"{loud:g} times that", x=WAVES):
                got = expect.tensor(self.run(student, silent=("W_down",), x=self.X[:, :4], loud=loud).value)
                expect.shape(got, (1, 4, 16))
                close(got[0, 0, :8], np.array(ONE_WORD), "of the first word the first 8 numbers", within=5e-4)

    def test_eval(self, student):
        """The same after `eval()`: the text asks for nothing that is different in training."""
        with shown("Which of your lines does something else in `train()` than in `eval()`?", sizes=self.SIZES, x=WAVES):
            got = expect.tensor(self.run(student, training=False).value)
            close(got, np.array(WHOLE), "the output", within=5e-4)

    def test_long_text(self, student):
        """Three hundred words, without a window and through one of three."""
        x = 2 * waves(0.7, 1, 300, 16)
        question = "Short texts come out right? Then which of your numbers is a size?"
        for more, wanted in (((), LAST_OF_300), ((3,), THROUGH_A_WINDOW_OF_THREE)):
            sizes = (*self.SIZES, *more)
            with shown(question, "exception", sizes=sizes, weights=WAVES, x="(1, 300, 16), sines"):
                got = expect.tensor(self.run(student, sizes, x=x).value)
                expect.shape(got, x.shape)
                close(got[0, -1, :8], np.array(wanted), "of the last word the first 8 numbers", within=5e-4)

    def test_many_digits(self, student):
        """The last of twelve other words, in float64."""
        x = 2 * waves(5.3, 1, 12, 16)
        with shown("How many digits does each of your steps keep?", sizes=self.SIZES, weights=WAVES, x=WAVES):
            got = expect.tensor(self.run(student, dtype="float64", x=x).value)
            expect.shape(got, x.shape)
            close(got[0, -1, :8], np.array(LAST_OF_TWELVE), "of the last word the first 8 numbers", within=2e-4)

    def test_gradients_arrive(self, student):
        """A gradient reaches x and every parameter, W_Q among them."""
        import torch

        with shown("Which line lets go of it?", "exception", "shape", sizes=self.SIZES, weights=WAVES):
            got = self.run(student, seeds=[torch.tensor(waves(0.3, 1, 4, 16)).float()])
            arrives([got.inputs[0], *got.parameters.values()], " ".join(["x", *got.parameters]))

    def test_float64(self, student):
        """A block in float64 gives float64, and x is as before."""
        with shown("Which line makes a new tensor, of which dtype, and how many digits does each step keep?"):
            got = self.run(student, dtype="float64")
            expect.dtype(expect.tensor(got.value), np.float64)
            close(got.value, np.array(WHOLE), "the output")
            close(got.after[0], self.X, "x after the call")
