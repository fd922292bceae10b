"""A course on chance: a sampler, a shuffle, a bootstrap, a Monte Carlo estimate, and a generator of one's own."""

from tests.courses.own import IMPORTS, SUITE, exercise

NAME = "chance"
SOLUTIONS = {
    "throws": '''
def throws(n, rng):
    """Sums of two dice, n of them."""
    ### BEGIN SOLUTION
    return rng.integers(1, 7, (n, 2)).sum(axis=1)
    ### END SOLUTION
''',
    "shuffle": '''
def shuffle(items, rng):
    """Put a list in another order, in place; all orders are equally likely."""
    ### BEGIN SOLUTION
    for last in range(len(items) - 1, 0, -1):
        other = rng.integers(last + 1)
        items[last], items[other] = items[other], items[last]
    ### END SOLUTION
''',
    "resampled": '''
def resampled(data, seed):
    """As many of the data as there are, each drawn from all of them."""
    ### BEGIN SOLUTION
    return np.random.default_rng(seed).choice(data, len(data))
    ### END SOLUTION
''',
    "waiting": '''
def waiting():
    """A waiting time with mean 2, exponentially distributed."""
    ### BEGIN SOLUTION
    return random.expovariate(1 / 2)
    ### END SOLUTION
''',
    "Generator": '''
class Generator:
    """Numbers x -> (5 x + 3) mod 16, from a seed."""
    ### BEGIN SOLUTION
    def __init__(self, seed):
        self.x = seed

    def draw(self):
        self.x = (5 * self.x + 3) % 16
        return self.x
    ### END SOLUTION
''',
}
TESTS = {
    "throws": '''
@pytest.mark.exercise("throws")
class TestThrows:
    def test_sums(self, student):
        """2 to 12, as often as two dice give them."""
        sums = {total: (6 - abs(total - 7)) / 36 for total in range(2, 13)}
        expect.sample(student.throws.draws(2, 5000, rng=RNG), "How many ways lead to a 7?", outcomes=sums)
''',
    "shuffle": '''
from itertools import permutations


@pytest.mark.exercise("shuffle")
class TestShuffle:
    def test_orders(self, student):
        """Each of six orders of three items is equally likely."""
        drawn = student.shuffle.draws_in_place(12_000, [1, 2, 3], rng=RNG)
        expect.sample(drawn, "From which places may an item come?", outcomes=permutations([1, 2, 3]))
''',
    "resampled": '''
DATA = np.array([1.0, 2.0, 2.5, 4.0, 7.0, 7.5, 9.0, 12.0])


@pytest.mark.exercise("resampled")
class TestResampled:
    def test_values(self, student, reference):
        """As the data are distributed."""
        drawn, right = (one.resampled.draws(2000, DATA, seed=SEED) for one in (student, reference))
        expect.sample(drawn, "May an item come twice?", like=right)

    def test_seed(self, student):
        """One seed gives one sample, and another seed another."""
        expect.differs(student.resampled(DATA, 1), student.resampled(DATA, 2), "What is the seed for?")
''',
    "waiting": '''
@pytest.mark.exercise("waiting")
class TestWaiting:
    def test_times(self, student):
        """An exponential distribution with mean 2."""
        drawn = student.waiting.draws(10_000)
        expect.sample(drawn, "Is it the mean, or the rate?", cdf=lambda t: 1 - np.exp(-np.maximum(t, 0) / 2))

    @pytest.mark.random
    def test_positive(self, student):
        """Nobody waits less than no time."""
        assert all(student.waiting() >= 0 for _ in range(5)), "Can it be less than 0?"
''',
    "Generator": '''
@pytest.mark.exercise("Generator")
class TestGenerator:
    def test_sequence(self, student):
        """What follows a seed."""
        expect.equal(student.Generator.use([("draw",), ("draw",)], 7), 1, "What does it keep?")
''',
}
CELLS = IMPORTS + "".join(exercise(name, text) for name, text in SOLUTIONS.items())
FILES = {f"{name}/hidden_tests.py": SUITE + text for name, text in TESTS.items()}

# Other ways to be right: other generators, other paths to the same distribution.
RIGHT = {
    "throws": "def throws(n, rng):\n    return [int(rng.integers(1, 7) + rng.integers(1, 7)) for _ in range(n)]",
    "shuffle": "def shuffle(items, rng):\n    items[:] = [items[i] for i in np.argsort(np.random.random(len(items)))]",
    "resampled": "def resampled(data, seed):\n    return np.array(random.Random(seed).choices(data, k=len(data)))",
    "waiting": "def waiting():\n    return float(np.random.default_rng().exponential(2))",
    "Generator": SOLUTIONS["Generator"],
}
# And to be wrong, with words of what is said.
WRONG = {
    "throws": [
        ("def throws(n, rng):\n    return rng.integers(1, 6, (n, 2)).sum(axis=1)", "too small on the whole"),
        ("def throws(n, rng):\n    return rng.integers(2, 13, n)", "lie too far from the middle"),
        ("def throws(n, rng):\n    return 2 * rng.integers(1, 7, n)", "lie too far from the middle"),
        ("def throws(n, rng):\n    return np.random.default_rng(4).integers(1, 7, (n, 2)).sum(axis=1)", "Is a seed"),
        ("def throws(n, rng):\n    return np.full(n, 7)", "each of 2 calls drew the same"),
        ("def throws(n, rng):\n    return np.sort(rng.integers(1, 7, (n, 2)).sum(axis=1))", "too much alike"),
        ("def throws(n, rng):\n    return None", "each call gave back None"),
        ("def throws(n, rng):\n    return rng.integers(0, 6, (n, 2)).sum(axis=1)", "came out, which cannot be"),
    ],
    "shuffle": [
        (
            "def shuffle(items, rng):\n    for i in range(len(items)):\n        j = rng.integers(len(items))\n"
            "        items[i], items[j] = items[j], items[i]",
            "too",
        ),
        ("def shuffle(items, rng):\n    pass", "each of 12,000 calls drew the same"),
        ("def shuffle(items, rng):\n    items.reverse() if rng.random() < 0.5 else None", "which is too often"),
    ],
    "resampled": [
        ("def resampled(data, seed):\n    return np.random.default_rng(seed).permutation(data)", "even each other out"),
        ("def resampled(data, seed):\n    return np.random.default_rng(0).choice(data, len(data))", "Is a seed set"),
        ("def resampled(data, seed):\n    return np.random.default_rng(seed).normal(5.6, 3.6, len(data))", "too"),
    ],
    "waiting": [
        ("def waiting():\n    return random.expovariate(2)", "too small on the whole"),
        ("def waiting():\n    return random.uniform(0, 4)", "too large on the whole: their median is"),
        ("def waiting():\n    random.seed(1)\n    return random.expovariate(1 / 2)", "Is a seed set"),
        ("def waiting():\n    return abs(random.gauss(0, 2.5))", "too"),
    ],
}
