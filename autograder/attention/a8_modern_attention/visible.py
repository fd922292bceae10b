"""Visible checks of a8. What stands here, students may read; the numbers are those of the notebook."""

import numpy as np
import pytest

from autograder.suites import expect
from autograder.suites.shown import arrives, equal, keeps, same, shown
from autograder.suites.student import HeldTooMuch

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

# Six query heads of three words and width four, two heads of five keys, values of width two: no two sizes alike that a
# slip could mix up.
SIX = np.array(
    [
        [[1.0, 2.0, -2.0, 2.0], [0.0, 0.0, 1.0, -1.0], [2.0, -2.0, -1.0, -1.0]],
        [[0.0, 0.0, -2.0, -2.0], [-2.0, -2.0, -2.0, 2.0], [-2.0, 1.0, 1.0, -1.0]],
        [[-1.0, 0.0, -1.0, 2.0], [-2.0, 2.0, 1.0, 2.0], [-2.0, -1.0, 1.0, 0.0]],
        [[1.0, 1.0, 1.0, -2.0], [2.0, 0.0, 2.0, -1.0], [-1.0, 2.0, -2.0, -2.0]],
        [[-1.0, 1.0, -2.0, 2.0], [-1.0, -1.0, 0.0, 2.0], [2.0, 2.0, -1.0, -2.0]],
        [[1.0, 1.0, 1.0, -2.0], [-2.0, 0.0, -1.0, 0.0], [2.0, -1.0, 0.0, -1.0]],
    ]
)
TWO = np.array(
    [
        [
            [-1.0, 2.0, -2.0, -1.0],
            [-2.0, -2.0, -1.0, 1.0],
            [0.0, 0.0, -2.0, 1.0],
            [1.0, -1.0, -2.0, -1.0],
            [-2.0, 1.0, 0.0, 0.0],
        ],
        [
            [-1.0, 0.0, 2.0, -1.0],
            [1.0, -2.0, -1.0, 2.0],
            [2.0, -2.0, 2.0, 2.0],
            [0.0, -1.0, 2.0, 2.0],
            [1.0, -1.0, -1.0, 2.0],
        ],
    ]
)
MORE = np.array(
    [
        [[2.0, 5.0], [6.0, 2.0], [3.0, 7.0], [1.0, 6.0], [9.0, 6.0]],
        [[6.0, 4.0], [9.0, 2.0], [3.0, 6.0], [6.0, 1.0], [1.0, 6.0]],
    ]
)
SEEN = np.array(
    [[True, False, True, True, False], [False, False, False, False, False], [False, True, True, False, True]]
)
SHARED_OUTPUT = np.array(
    [
        [[2.7626, 6.1823], [4.8844, 5.3385], [1.2475, 5.9286]],
        [[1.8582, 5.524], [5.8379, 2.2911], [6.9585, 5.5418]],
        [[5.0369, 4.2485], [7.8174, 5.6736], [6.5535, 3.2349]],
        [[5.7378, 4.0252], [3.8234, 5.1426], [5.556, 4.1175]],
        [[4.1168, 4.336], [5.4323, 3.2112], [4.6255, 4.4408]],
        [[5.7378, 4.0252], [5.4821, 3.6183], [4.2839, 4.8342]],
    ]
)
SHARED_WEIGHTS = np.array(
    [
        [
            [0.3453, 0.0104, 0.5692, 0.0467, 0.0283],
            [0.2163, 0.1312, 0.0796, 0.2163, 0.3566],
            [0.0062, 0.0277, 0.0458, 0.9189, 0.0014],
        ],
        [
            [0.4474, 0.0223, 0.0606, 0.4474, 0.0223],
            [0.0023, 0.9383, 0.0467, 0.0063, 0.0063],
            [0.2487, 0.0555, 0.0124, 0.0075, 0.676],
        ],
        [
            [0.0672, 0.4963, 0.301, 0.0247, 0.1107],
            [0.1067, 0.0647, 0.0393, 0.0007, 0.7886],
            [0.0209, 0.6913, 0.0209, 0.0127, 0.2543],
        ],
        [
            [0.8611, 0.0096, 0.0707, 0.0429, 0.0158],
            [0.1599, 0.0131, 0.7168, 0.097, 0.0131],
            [0.8349, 0.0416, 0.0013, 0.0093, 0.113],
        ],
        [
            [0.0065, 0.353, 0.0107, 0.0478, 0.5821],
            [0.0153, 0.3065, 0.1859, 0.3065, 0.1859],
            [0.4963, 0.1107, 0.0672, 0.0247, 0.301],
        ],
        [
            [0.8611, 0.0096, 0.0707, 0.0429, 0.0158],
            [0.3801, 0.2306, 0.0189, 0.1398, 0.2306],
            [0.0468, 0.2096, 0.5697, 0.0468, 0.1271],
        ],
    ]
)
MASKED_OUTPUT = np.array(
    [
        [[2.5436, 6.233], [0.0, 0.0], [4.2224, 5.1287]],
        [[1.5951, 5.5951], [0.0, 0.0], [8.6763, 5.7183]],
        [[2.7033, 6.5952], [0.0, 0.0], [6.7246, 3.1605]],
        [[5.7824, 4.0131], [0.0, 0.0], [3.1503, 4.9329]],
        [[5.5072, 2.1201], [0.0, 0.0], [3.1303, 5.0751]],
        [[5.7824, 4.0131], [0.0, 0.0], [4.1069, 5.0751]],
    ]
)
MASKED_WEIGHTS = np.array(
    [
        [[0.3592, 0.0, 0.5922, 0.0486, 0.0], [0.0, 0.0, 0.0, 0.0, 0.0], [0.0, 0.3706, 0.611, 0.0, 0.0184]],
        [[0.4683, 0.0, 0.0634, 0.4683, 0.0], [0.0, 0.0, 0.0, 0.0, 0.0], [0.0, 0.0746, 0.0166, 0.0, 0.9088]],
        [[0.171, 0.0, 0.7662, 0.0629, 0.0], [0.0, 0.0, 0.0, 0.0, 0.0], [0.0, 0.7153, 0.0216, 0.0, 0.2631]],
        [[0.8835, 0.0, 0.0725, 0.044, 0.0], [0.0, 0.0, 0.0, 0.0, 0.0], [0.0, 0.2668, 0.0081, 0.0, 0.7252]],
        [[0.0996, 0.0, 0.1643, 0.7361, 0.0], [0.0, 0.0, 0.0, 0.0, 0.0], [0.0, 0.2312, 0.1402, 0.0, 0.6285]],
        [[0.8835, 0.0, 0.0725, 0.044, 0.0], [0.0, 0.0, 0.0, 0.0, 0.0], [0.0, 0.2312, 0.6285, 0.0, 0.1402]],
    ]
)


@pytest.mark.exercise("rotate")
class TestRotate:
    TEXT = np.array([[1.0, 2.0, -1.0, 0.0, 3.0, 1.0], [0.0, 1.0, 2.0, -2.0, 1.0, 1.0], [2.0, 0.0, 1.0, 1.0, -1.0, 2.0]])

    def test_by_hand(self, student):
        """The example by hand: (1, 0, 0, 2) at the positions 0, 1 and 2."""
        wanted = [[1.0, 0.0, 0.0, 2.0], [0.5403, 0.8415, -0.02, 1.9999], [-0.4161, 0.9093, -0.04, 1.9996]]
        with shown("Which columns are a pair, and what is its angle?", x=VECTOR, positions=np.arange(3)):
            same(expect.array(student.rotate(VECTOR, np.arange(3))), np.array(wanted))

    def test_other_places(self, student):
        """Three vectors of three pairs, at the positions 4, 1 and 6."""
        positions = np.array([4, 1, 6])
        with shown("Whose position is whose, and how fast is each pair?", x=self.TEXT, positions=positions):
            same(expect.array(student.rotate(self.TEXT, positions)), ROTATED)

    def test_two_texts(self, student):
        """Two texts at once are turned by the same positions."""
        both, positions = np.stack([self.TEXT, VECTOR_OF_SIX]), np.array([4, 1, 6])
        with shown("Which axis of x belongs to positions? Count it from the end.", x=both, positions=positions):
            same(expect.array(student.rotate(both, positions))[0], ROTATED, "the first text")

    def test_base(self, student):
        """Another base, 100: the second pair turns by a tenth of the position."""
        wanted = [[1.0, 0.0, 0.0, 2.0], [0.5403, 0.8415, -0.1997, 1.99], [-0.4161, 0.9093, -0.3973, 1.9601]]
        with shown("Where does base come in?", x=VECTOR, positions=np.arange(3), base=100.0):
            same(expect.array(student.rotate(VECTOR, np.arange(3), 100.0)), np.array(wanted))

    def test_float32(self, student):
        """float32 gives float32, and the arguments are as before."""
        with shown("Which dtype have the cosines of whole numbers, and which array do you write into?"):
            keeps(student.rotate, VECTOR, np.arange(3), names="x positions")


@pytest.mark.exercise("grouped_query_attention")
class TestGroupedQueryAttention:
    # Two query heads of one word share two keys of width four. Dot products of 2 and 6 become the scores 1 and 3.
    Q = np.array([[[2.0, 0.0, 1.0, 1.0]], [[0.0, 0.0, 0.0, 0.0]]])
    K = np.array([[[1.0, 1.0, 0.0, 0.0], [2.0, 1.0, 2.0, 0.0]]])
    V = np.array([[[10.0, 0.0], [0.0, 10.0]]])

    def judge(self, student, output, weights, *args):
        got = expect.pair(student.grouped_query_attention(*args))
        for part, wanted, what in zip(got, (output, weights), ("output", "weights"), strict=True):
            same(expect.array(part, what=what), wanted, what)

    def test_by_hand(self, student):
        """The example by hand: two query heads share two keys."""
        with shown("What are the scores of head 0, and what are they divided by?", Q=self.Q, K=self.K, V=self.V):
            weights = np.array([[[0.1192, 0.8808]], [[0.5, 0.5]]])
            self.judge(student, np.array([[[1.192, 8.808]], [[5.0, 5.0]]]), weights, self.Q, self.K, self.V, 1)

    def test_two_groups(self, student):
        """Six query heads, two of keys and values: neighbours share."""
        with shown("Which head of keys does query head 1 get, and which one does its neighbour?", Q=SIX, K=TWO, V=MORE):
            self.judge(student, SHARED_OUTPUT, SHARED_WEIGHTS, SIX, TWO, MORE, 2)

    def test_mask(self, student):
        """The same under a mask; the second query may attend to nothing."""
        question = "True means: may attend. What does a query get that may attend to nothing?"
        with shown(question, Q=SIX, K=TWO, V=MORE, mask=SEEN):
            self.judge(student, MASKED_OUTPUT, MASKED_WEIGHTS, SIX, TWO, MORE, 2, SEEN)

    def test_no_groups(self, student):
        """Six query heads cannot form four groups of one size."""
        K = np.zeros((4, 5, 4))
        with shown("When do the groups come out even?", Q="(6, 3, 4)", K="(4, 5, 4)", num_kv_heads=4):
            expect.raises(ValueError, lambda: student.grouped_query_attention(SIX, K, K, 4))

    def test_large_scores(self, student):
        """Queries a hundred thousand times as large give finite numbers."""
        with shown("What could be subtracted before np.exp?"):
            for part in expect.pair(student.grouped_query_attention(1e5 * SIX, TWO, MORE, 2)):
                expect.finite(part)

    def test_float32(self, student):
        """float32 gives float32, and the arguments are as before."""
        with shown("Which line makes a new array, of which dtype?"):
            expect.pair(
                keeps(student.grouped_query_attention, SIX, TWO, MORE, 2, SEEN, names="Q K V num_kv_heads mask")
            )


@pytest.mark.exercise("cache_bytes")
class TestCacheBytes:
    def judge(self, student, wanted, question, **given):
        with shown(question, **given):
            got = student.cache_bytes(*given.values())
            equal(int(got) if isinstance(got, np.integer) else got, wanted, "the count")

    def test_by_hand(self, student):
        """The example by hand: 2 layers, 3 heads, a width of 4, 5 words: 480 bytes."""
        question = "How many keys are there, how many numbers is each, and what else is kept?"
        self.judge(student, 480, question, num_layers=2, num_kv_heads=3, d_head=4, length=5)

    def test_float32(self, student):
        """The same with 4 bytes a number: 960 bytes."""
        question = "Where does bytes_per_number come in?"
        self.judge(student, 960, question, num_layers=2, num_kv_heads=3, d_head=4, length=5, bytes_per_number=4)


def waves(speed, *shape):
    """Numbers from -1 to 1, no two alike: the sines of 1, 2, 3, ... times speed."""
    return np.sin(speed * np.arange(1, np.prod(shape) + 1)).reshape(shape)


WAVES = "sines, no two alike"

# What is to come out below; the inputs are sines.
FIRST_OUTPUT = np.array([0.1809, -0.4244, 0.3846, -0.0881, -0.2672, 0.4441])
FIRST_K = np.array([[[0.2888, 0.8587, 0.1707, -0.7674]], [[-0.5812, 0.4565, 0.8254, -0.0149]]])
FIRST_V = np.array([[[-0.1385, -2.66, 0.824, 2.4477]], [[-1.4547, -2.0729, 1.9889, 1.5604]]])
FOURTH_OUTPUT = np.array([-1.2991, 1.5109, -0.7142, -0.5591, 1.4593, -1.3855])
FOURTH_K = np.array(
    [
        [
            [0.8912, 0.8085, -0.1577, -0.9516],
            [-0.7055, 0.3115, 0.9882, 0.5849],
            [-0.4575, -1.0, -0.4496, 0.5921],
            [-0.4071, -0.8094, 0.1936, -0.762],
        ],
        [
            [0.9868, 0.3031, -0.7118, -0.9488],
            [-0.149, 0.8137, 0.8872, -0.0089],
            [-0.8952, -0.8033, 0.1665, 0.9543],
            [0.511, -0.5339, 0.8255, 0.0099],
        ],
    ]
)
FOURTH_V = np.array(
    [
        [
            [0.9463, -0.6119, -0.5507, 0.9679],
            [-0.0752, -0.9193, 0.6696, 0.4864],
            [-0.9841, 0.1499, 0.8872, -0.7235],
            [-0.1385, -2.66, 0.824, 2.4477],
        ],
        [
            [-0.4194, 0.9946, -0.2238, -0.85],
            [0.7733, 0.35, -0.9996, 0.2964],
            [0.808, -0.8188, -0.2786, 0.9989],
            [-1.4547, -2.0729, 1.9889, 1.5604],
        ],
    ]
)
NEXT_LARGEST = [5.0, 3.4133]
NEXT_TOTAL = [2.2958, 1.0886]
NEXT_MIXED = [[2.0418, 0.1352, -0.615, 0.6647, -0.2205], [-0.5287, 2.939, -0.2281, -2.854, 0.9956]]
BLOCKWISE = [[0.5536, -1.3711], [0.4305, 0.0004], [0.2039, -0.97]]
HALF_OPEN = [[2.2586, -1.58], [1.083, -0.7153]]
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


@pytest.mark.exercise("decoding_step")
class TestDecodingStep:
    # Width 6, four query heads and two of keys, each of width 4, and three words in the cache.
    WEIGHTS = (waves(0.9, 6, 16), waves(1.3, 6, 8), waves(1.7, 6, 8), waves(2.3, 16, 6))
    X, K, V = waves(0.7, 6), waves(1.1, 2, 3, 4), waves(1.9, 2, 3, 4)

    def judge(self, student, wanted, *args):
        got = student.decoding_step(*args)
        if not isinstance(got, tuple) or len(got) != 3:
            expect.fail(f"gave back {expect.kind_of(got)}, not the tuple (output, K, V).")
        for part, other, what in zip(got, wanted, ("output", "K", "V"), strict=True):
            same(expect.array(part, what=what), other, what)

    def test_first_word(self, student):
        """The first word: no cache yet, and it attends to itself."""
        with shown("What is the position of the first word, and what is in the cache afterwards?", x=self.X, K=None):
            self.judge(student, (FIRST_OUTPUT, FIRST_K, FIRST_V), self.X, None, None, *self.WEIGHTS, 4)

    def test_fourth_word(self, student):
        """Three words in the cache: what is found among all four, and a cache of four."""
        question = "At which position does the newest word stand, what of it is turned, and whom does it attend to?"
        with shown(question, x=self.X, K=self.K, V=self.V, W_Q=WAVES):
            wanted = (FOURTH_OUTPUT, FOURTH_K, FOURTH_V)
            self.judge(student, wanted, self.X, self.K, self.V, *self.WEIGHTS, 4)

    def test_two_texts(self, student):
        """Two texts at once, each with a cache of its own."""
        args = [np.stack([part, 0.5 * part]) for part in (self.X, self.K, self.V)]
        with shown("Which axes does your code count from the front?", x=args[0]):
            got = student.decoding_step(*args, *self.WEIGHTS, 4)
            same(expect.array(got[0])[0], FOURTH_OUTPUT, "the first text's output")

    def test_float32(self, student):
        """float32 gives float32, and the cache that came in is as before."""
        with shown("Which line makes a new array, of which dtype?"):
            args = (self.X, self.K, self.V, *self.WEIGHTS, 4)
            keeps(student.decoding_step, *args, names="x K V W_Q W_K W_V W_O num_heads")


@pytest.mark.exercise("sliding_window_mask")
class TestSlidingWindowMask:
    def judge(self, student, question, rows, *args):
        names = dict(zip(("length", "window", "sinks"), args, strict=False))
        wanted = np.array([[letter == "x" for letter in row] for row in rows.split()])
        with shown(question, **names):
            got = expect.array(student.sliding_window_mask(*args))
            same(got, wanted, "the mask")
            expect.dtype(got, np.bool_)

    def test_by_hand(self, student):
        """The example by hand: six words, a window of 3, one sink."""
        rows = "x..... xx.... xxx... xxxx.. x.xxx. x..xxx"
        self.judge(student, "Whom does word 5 see, and why does it see each of them?", rows, 6, 3, 1)

    def test_no_sinks(self, student):
        """Five words, a window of 2, no sinks."""
        rows = "x.... xx... .xx.. ..xx. ...xx"
        self.judge(student, "Which words are the last two, counted from the word itself?", rows, 5, 2)

    def test_two_sinks(self, student):
        """Seven words, a window of 3, two sinks."""
        rows = "x...... xx..... xxx.... xxxx... xxxxx.. xx.xxx. xx..xxx"
        self.judge(student, "Which columns are the sinks, and who may see them?", rows, 7, 3, 2)

    def test_room_for_more(self, student):
        """Three words, a window of 5: all that came before."""
        self.judge(student, "What if the window has room for more words than there are?", "x.. xx. xxx", 3, 5)


LN_3 = np.log(3.0)


# Five words, as two heads of keys (width 2) and of values (width 1) see them.
KEYS = np.array(
    [
        [[1.0, -1.0], [2.0, -2.0], [3.0, -3.0], [4.0, -4.0], [5.0, -5.0]],
        [[10.0, 0.5], [20.0, 1.0], [30.0, 1.5], [40.0, 2.0], [50.0, 2.5]],
    ]
)
VALUES = np.array([[[7.0], [8.0], [9.0], [6.0], [5.0]], [[70.0], [80.0], [90.0], [60.0], [50.0]]])


@pytest.mark.exercise("KeyValueCache")
class TestKeyValueCache:
    @staticmethod
    def words(keys, values):
        """The steps that append these words, one after the other."""
        return [("append", keys[..., n : n + 1, :], values[..., n : n + 1, :]) for n in range(keys.shape[-2])]

    def judge(self, student, question, left, keys, values, window=None, sinks=0):
        """After all these words, those whose numbers are in `left` are kept, and `len` is how many they are."""
        with shown(question, key=keys[..., -1:, :], value=values[..., -1:, :], window=window, sinks=sinks):
            got = student.KeyValueCache.use(self.words(keys, values), window, sinks)
            if not isinstance(got, tuple) or len(got) != 2:
                expect.fail(f"append gave back {expect.kind_of(got)}, not the tuple (K, V).")
            for part, given, what in zip(got, (keys, values), "KV", strict=True):
                same(expect.array(part, what=what), given[..., left, :], what)
            length = student.KeyValueCache.use([*self.words(keys, values), ("len",)], window, sinks)
            equal(length, len(left), "len")

    def test_empty(self, student):
        """A new cache has length 0."""
        with shown("What does __init__ put into self, before there is any word?"):
            equal(student.KeyValueCache.use([("len",)]), 0, "len of a new cache")

    def test_first_word(self, student):
        """After the first word there is one in the cache, whatever other caches hold."""
        question = "What is in a new cache? And is it made for the class, or for each object?"
        self.judge(student, question, [0], KEYS[:, :1], VALUES[:, :1])

    def test_everything(self, student):
        """Five words and no window: all of them, in their order."""
        self.judge(student, "Where does the newest word go, along which axis?", [0, 1, 2, 3, 4], KEYS, VALUES)

    def test_window(self, student):
        """Five words, a window of 2: the last two."""
        self.judge(student, "Which words does no later word look at?", [3, 4], KEYS, VALUES, 2)

    def test_by_hand(self, student):
        """The example by hand: after two and three words all are there, after five the first and the last two."""
        question = "Which one is a sink, and which are the last two?"
        self.judge(student, question, [0, 1], KEYS[:, :2], VALUES[:, :2], 2, 1)
        self.judge(student, question, [0, 1, 2], KEYS[:, :3], VALUES[:, :3], 2, 1)
        self.judge(student, question, [0, 3, 4], KEYS, VALUES, 2, 1)

    def test_two_sinks(self, student):
        """Four words, a window of 1, two sinks."""
        self.judge(student, "How many of the first words are kept?", [0, 1, 3], KEYS[:, :4], VALUES[:, :4], 1, 2)

    def test_two_texts(self, student):
        """Two texts at once, each with keys and values of its own."""
        keys, values = np.stack([KEYS, -KEYS]), np.stack([VALUES, -VALUES])
        self.judge(student, "Which axes does your code count from the front?", [0, 3, 4], keys, values, 2, 1)

    def test_float32(self, student):
        """float32 gives float32, and the words that come in are as before."""
        with shown("Which line makes a new array, of which dtype?"):
            keys, values = KEYS.astype(np.float32), VALUES.astype(np.float32)
            for part in student.KeyValueCache.use(self.words(keys, values), 2, 1):
                expect.dtype(part, np.float32)
            after = student.KeyValueCache.inputs_after_use(self.words(keys, values), 2, 1)
            before = [part for _, *parts in self.words(keys, values) for part in parts]
            expect.unchanged(after, before, ("key", "value") * 5)


@pytest.mark.exercise("online_softmax_step")
class TestOnlineSoftmaxStep:
    # Two queries of width 4, three keys, values of width 5. The first query has seen larger scores, the second has not.
    SEEN = (np.array([5.0, -0.4]), np.array([1.5, 2.5]), waves(0.9, 2, 5))
    BLOCK = (2 * waves(1.1, 2, 4), 2 * waves(1.3, 3, 4), 3 * waves(1.7, 3, 5))

    def judge(self, student, wanted, *args):
        got = student.online_softmax_step(*args)
        if not isinstance(got, tuple) or len(got) != 3:
            expect.fail(f"gave back {expect.kind_of(got)}, not the tuple (largest, total, mixed).")
        for part, other, what in zip(got, wanted, ("largest", "total", "mixed"), strict=True):
            same(expect.array(part, what=what), np.array(other), what)

    def test_first_block(self, student):
        """The example by hand, its first row: nothing seen so far, the score 0, the value 10."""
        before = np.array([-np.inf]), np.array([0.0]), np.array([[0.0]])
        with shown("What is e to the power of -inf?", largest=before[0], total=before[1], mixed=before[2]):
            one = np.array([[1.0]])
            self.judge(student, ([0.0], [1.0], [[10.0]]), *before, one, 0 * one, 10 * one)

    def test_second_block(self, student):
        """The example by hand, its second row: then the score ln 3, the value 2."""
        before = np.array([0.0]), np.array([1.0]), np.array([[10.0]])
        with shown("By what do 1 and 10 shrink?", largest=before[0], total=before[1], mixed=before[2]):
            args = np.array([[1.0]]), np.array([[LN_3]]), np.array([[2.0]])
            self.judge(student, ([1.0986], [1.3333], [[5.3333]]), *before, *args)

    def test_two_queries(self, student):
        """Two queries and a block of three keys: one has seen larger scores before, the other has not."""
        given = dict(zip(("largest", "total", "mixed", "Q", "K", "V"), (*self.SEEN, *self.BLOCK), strict=True))
        with shown("Whose largest score is whose, and what is divided by the square root of 4?", **given):
            self.judge(student, (NEXT_LARGEST, NEXT_TOTAL, NEXT_MIXED), *self.SEEN, *self.BLOCK)

    def test_large_scores(self, student):
        """Queries a hundred thousand times as large give finite numbers."""
        Q, K, V = self.BLOCK
        with shown("What is subtracted from a score before e is raised to it?"):
            for part in student.online_softmax_step(*self.SEEN, 1e5 * Q, K, V):
                expect.finite(part)

    def test_float32(self, student):
        """float32 gives float32, and the arguments are as before."""
        with shown("Which line makes a new array, of which dtype, and does one write into an old one?"):
            keeps(student.online_softmax_step, *self.SEEN, *self.BLOCK, names="largest total mixed Q K V")


@pytest.mark.exercise("online_softmax_attention")
class TestOnlineSoftmaxAttention:
    # Three queries of width 4, seven keys, values of width 2.
    Q, K, V = 2 * waves(1.1, 3, 4), 2 * waves(1.3, 7, 4), 3 * waves(1.7, 7, 2)

    def judge(self, student, wanted, question, Q, K, V, block_size):
        with shown(question, Q=Q, K=K, V=V, block_size=block_size):
            same(expect.array(student.online_softmax_attention(Q, K, V, block_size)), np.array(wanted))

    def test_by_hand(self, student):
        """The example by hand: the scores 0 and ln 3, the values 10 and 2, one key a block."""
        K, V = np.array([[0.0], [LN_3]]), np.array([[10.0], [2.0]])
        self.judge(student, [[4.0]], "What is divided by what at the end?", np.array([[1.0]]), K, V, 1)

    def test_shorter_block(self, student):
        """Seven keys in blocks of three: the last block has one."""
        self.judge(student, BLOCKWISE, "Which keys are in which block?", self.Q, self.K, self.V, 3)

    def test_one_block(self, student):
        """Seven keys in a block with room for ten."""
        self.judge(student, BLOCKWISE, "How many blocks are there?", self.Q, self.K, self.V, 10)

    def test_low_scores(self, student):
        """Scores that are all far below zero give the output that they should."""
        K, V = np.array([[-2000.0], [-2000.0 + LN_3]]), np.array([[10.0], [2.0]])
        question = "What is the largest score before the first block?"
        self.judge(student, [[4.0]], question, np.array([[1.0]]), K, V, 1)

    def test_no_table(self, student):
        """50 queries and 1,000 keys in blocks of 4: at no time are all scores in memory."""
        Q, K, V = waves(1.1, 50, 4), waves(1.3, 1000, 4), waves(1.7, 1000, 2)
        with shown("Which array has a row for each query and a column for each key, and who needs all of it?"):
            try:
                student.online_softmax_attention.within(150_000, Q, K, V, 4)
            except HeldTooMuch as error:
                expect.fail(f"{error.args[0].removesuffix('.')}; a block of scores takes 0.002 MB, all of them 0.4 MB.")

    def test_float32(self, student):
        """float32 gives float32, and the arguments are as before."""
        with shown("Which dtype have the largest, the total and the mixture that you begin with?"):
            keeps(student.online_softmax_attention, self.Q, self.K, self.V, 3, names="Q K V block_size")


@pytest.mark.exercise("rms_norm")
class TestRmsNorm:
    X, GAMMA = np.array([1.0, 3.0, 5.0, 7.0]), np.array([2.0, 2.0, 1.0, 1.0])

    def test_by_hand(self, student):
        """The example by hand: (1, 3, 5, 7) with gamma (2, 2, 1, 1)."""
        with shown("What is the mean of the squares, and what is divided by its root?", x=self.X, gamma=self.GAMMA):
            same(expect.array(student.rms_norm(self.X, self.GAMMA)), np.array([0.4364, 1.3093, 1.0911, 1.5275]))

    def test_three_words(self, student):
        """Three words, the second ten times the first: the two become the same."""
        x = np.stack([self.X, 10 * self.X, [4.0, -4.0, 0.0, 2.0]])
        wanted = [[0.4364, 1.3093, 1.0911, 1.5275]] * 2 + [[2.6667, -2.6667, 0.0, 0.6667]]
        with shown("How many sizes are there for three words?", x=x, gamma=self.GAMMA):
            same(expect.array(student.rms_norm(x, self.GAMMA)), np.array(wanted))

    def test_eps(self, student):
        """(3, 4) has the mean square 12.5; with eps = 12.5 it is divided by 5."""
        x, gamma = np.array([3.0, 4.0]), np.ones(2)
        with shown("What is eps added to?", x=x, gamma=gamma, eps=12.5):
            same(expect.array(student.rms_norm(x, gamma, 12.5)), np.array([0.6, 0.8]))

    def test_nothing(self, student):
        """A word of zeros stays one."""
        x, gamma = np.zeros((1, 4)), np.ones(4)
        with shown("What do you divide by?", x=x, gamma=gamma):
            same(expect.array(student.rms_norm(x, gamma)), x)

    def test_float32(self, student):
        """float32 gives float32, and the arguments are as before."""
        with shown("Which line makes a new array, of which dtype, and does one write into an old one?"):
            keeps(student.rms_norm, self.X, self.GAMMA, names="x gamma")


@pytest.mark.exercise("gated_feed_forward")
class TestGatedFeedForward:
    X = np.array([1.0, 2.0])
    WEIGHTS = (
        np.array([[0.0, 10.0, 1.0], [0.0, 0.0, -6.0]]),
        np.array([[1.0, 1.0, 1.0], [0.0, 1.0, 2.0]]),
        np.array([[1.0, 0.0], [0.1, 0.0], [0.0, 1.0]]),
    )
    OTHERS = (2 * waves(1.1, 2, 3), 2 * waves(1.3, 2, 3), waves(1.7, 3, 2))

    def judge(self, student, wanted, x, weights):
        given = dict(zip(("x", "W_gate", "W_up", "W_down"), (x, *weights), strict=True))
        with shown("What does the gate let through of each number, and through what does the gate go?", **given):
            same(expect.array(student.gated_feed_forward(x, *weights)), np.array(wanted))

    def test_by_hand(self, student):
        """The example by hand: (1, 2), with one gate open and two shut."""
        self.judge(student, [2.9999, -0.0009], self.X, self.WEIGHTS)

    def test_half_open(self, student):
        """Two words, and gates that are half open."""
        self.judge(student, HALF_OPEN, np.array([[1.0, 2.0], [-1.0, 0.5]]), self.OTHERS)

    def test_far_open(self, student):
        """Words a thousand times as large give finite numbers."""
        with shown("Which of the two, np.exp(1000.0) or np.exp(-1000.0), is too large for a number?"):
            expect.finite(student.gated_feed_forward(1000 * self.X, *self.WEIGHTS))

    def test_float32(self, student):
        """float32 gives float32, and the arguments are as before."""
        with shown("Which line makes a new array, of which dtype, and does one write into an old one?"):
            keeps(student.gated_feed_forward, self.X, *self.OTHERS, names="x W_gate W_up W_down")


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

    def run(self, student, sizes=SIZES, dtype="float32", **more):
        import torch

        kind = getattr(torch, dtype)
        weights = {name: torch.tensor(value, dtype=kind) for name, value in self.weights().items()}
        return student.ModernDecoderBlock.run(sizes, weights, torch.tensor(self.X, dtype=kind), **more)

    def judge(self, student, wanted, question, sizes):
        with shown(question, sizes=sizes, weights=WAVES, x=WAVES):
            got = expect.tensor(self.run(student, sizes).value)
            same(got, np.array(wanted), "the output", within=5e-4)

    def test_parameters(self, student):
        """The count for d_model = 16, four heads, two of keys, d_ff = 6: two norms and seven matrices, 1088 numbers."""
        with shown("Compare it with the table above: which part is too much, or not there?"):
            shapes = student.ModernDecoderBlock.build(*self.SIZES)
            total = sum(int(np.prod(shape)) for shape in shapes.values())
            if total != 1088:
                expect.fail(f"it has {total}: {', '.join(f'{n} {tuple(s)}' for n, s in shapes.items())}.")

    def test_four_words(self, student):
        """Four words, and weights of which no two are alike."""
        question = "Go through it word by word: what goes into each branch, what is turned, who sees whom?"
        self.judge(student, WHOLE, question, self.SIZES)

    def test_window(self, student):
        """The same through a window of two."""
        self.judge(student, THROUGH_A_WINDOW, "Whom does the last word see?", (*self.SIZES, 2))

    def test_gradients_arrive(self, student):
        """A gradient reaches x and every parameter, W_Q among them."""
        import torch

        with shown("Which line lets go of it?", sizes=self.SIZES, weights=WAVES):
            got = self.run(student, seeds=[torch.tensor(waves(0.3, 1, 4, 16)).float()])
            arrives([got.inputs[0], *got.parameters.values()], " ".join(["x", *got.parameters]))

    def test_float64(self, student):
        """A block in float64 gives float64, and x is as before."""
        with shown("Which line makes a new tensor, of which dtype?"):
            got = self.run(student, dtype="float64")
            expect.dtype(expect.tensor(got.value), np.float64)
            same(got.after[0], self.X, "x after the call")
