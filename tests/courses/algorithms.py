"""A course on algorithms with plain assert cells on numbers, text and files, and cells that a person grades."""

SORTING = r'''
#% text
# Sorting

#% code
from pathlib import Path

import numpy as np

#% given data
WORDS = ["pear", "fig", "apple", "kiwi"]

#% solution middle
def middle(numbers):
    """The median of a list of numbers."""
    ### BEGIN SOLUTION
    ordered, half = sorted(numbers), len(numbers) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2
    ### END SOLUTION

#% tests middle-odd 2
from numpy.testing import assert_allclose
assert middle([3, 1, 2]) == 2, "The middle one of 1, 2, 3 is 2."

#% tests middle-even 3
assert_allclose(middle([1, 2]), 1.5)
### BEGIN HIDDEN TESTS
SECRET_NUMBERS = [40, 10, 20, 30]
assert middle(SECRET_NUMBERS) == 25, "What if there are two in the middle?"
assert SECRET_NUMBERS == [40, 10, 20, 30]
### END HIDDEN TESTS

#% solution binary_search
def binary_search(ordered, item):
    ### BEGIN SOLUTION
    low, high = 0, len(ordered)
    while low < high:
        at = (low + high) // 2
        low, high = (at + 1, high) if ordered[at] < item else (low, at)
    return low if low < len(ordered) and ordered[low] == item else -1
    ### END SOLUTION

#% tests search 4
right = sum(binary_search(list(range(0, 20, 2)), n) == (n // 2 if n % 2 == 0 else -1) for n in range(20))
right / 5

#% solution longest
def longest(words):
    ### BEGIN SOLUTION
    return max(words, key=len).upper()
    ### END SOLUTION

#% tests test-longest 1
assert longest(WORDS) == "APPLE"

#% solution keep
def keep(path, words):
    ### BEGIN SOLUTION
    Path(path).write_text("\n".join(sorted(words)))
    ### END SOLUTION

#% tests files 2
keep("kept.txt", WORDS)
assert Path("kept.txt").read_text().splitlines() == ["apple", "fig", "kiwi", "pear"]

#% manual by-hand 5
### BEGIN SOLUTION
sorted(WORDS)
### END SOLUTION

#% written why 3
Since it halves what is left.

#% task plan 2
Plan an experiment in cells below.
### BEGIN MARK SCHEME
One point for the sizes.
### END MARK SCHEME
'''

RIGHT = {
    "middle": "def middle(numbers):\n    return float(np.median(numbers))",
    "binary_search": "def binary_search(o, item):\n    return o.index(item) if item in o else -1",
    "longest": "def longest(words):\n    return sorted(words, key=len)[-1].upper()",
    "keep": "def keep(path, words):\n    Path(path).write_text(chr(10).join(sorted(words)))",
    "by-hand": "print(sorted(WORDS))",
    "why": "It halves the list.",
}
FULL = {"middle-odd": 2, "middle-even": 3, "search": 4, "test-longest": 1, "files": 2}

COUNTING = r'''
#% text
# Counting

#% code
from hashlib import sha1

#% solution counts
def counts(text):
    """How often each word is in a text."""
    ### BEGIN SOLUTION
    words = text.split()
    return {word: words.count(word) for word in words}
    ### END SOLUTION

#% tests counts-right 2
# Check that counts gives the right dict
assert counts("to be or not to be") == {"to": 2, "be": 2, "or": 1, "not": 1}

#% tests counts-hidden 1
### BEGIN HIDDEN TESTS
assert counts("") == {}, "What has no words?"
### END HIDDEN TESTS

#% solution sum-of-five
total = ...
### BEGIN SOLUTION
total = 1 + 2 + 4 + 8 + 16
### END SOLUTION

#% tests total 2
assert sha1(str(total).encode()).hexdigest() == "632667547e7cd3e0466547863e1207a8c0c0c549"
'''
COUNTED = {"counts-right": 2, "counts-hidden": 1, "total": 2}
