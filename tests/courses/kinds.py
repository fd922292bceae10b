"""Kinds of test cells that public nbgrader courses have, in our own words; each line says how its answers are tested.

- an introduction to programming, on savings: values in a range with a comparison as the last line, input typed in and
  text printed
- data science, on prices: a table from a file, a module of checks beside the notebook
- numerics: one function that must use another, a cell magic, a random check against numpy
"""

FILES = {
    "data/prices.csv": "name,kind,price\nfig,fruit,1.5\nkiwi,fruit,0.5\nleek,vegetable,2\nkale,vegetable,4\n",
    "checks.py": "def same(got, wanted, hint):\n    assert got == wanted, f'{hint} (yours: {got!r})'\n",
}

KINDS = r'''
#% solution savings
def savings(amount, years, rate):
    """What so much a year comes to, with interest, to two digits."""
    ### BEGIN SOLUTION
    total = 0
    for _ in range(years):
        total = total * (1 + rate) + amount
    return round(total, 2)
    ### END SOLUTION

#% tests by-value 2
### BEGIN HIDDEN TESTS
assert 1317 < savings(100, 10, 0.06) < 1319
### END HIDDEN TESTS
savings(100, 2, 0.1) == 210.0

#% solution percent
def percent():
    """Asks for a rate, prints it as per cent."""
    ### BEGIN SOLUTION
    print(f"{float(input('Rate? ')):.0%}")
    ### END SOLUTION

#% tests by-printed 2
import contextlib
import io
from unittest.mock import patch

printed = io.StringIO()
with patch("builtins.input", return_value="0.05"), contextlib.redirect_stdout(printed):
    percent()
assert printed.getvalue().strip() == "5%"

#% code
import pandas as pd
from checks import same

#% given table
prices = pd.read_csv("data/prices.csv")

#% solution cheapest
### BEGIN SOLUTION
cheapest = prices.sort_values("price")["name"].iloc[0]
means = prices.groupby("kind")["price"].mean()
### END SOLUTION

#% tests by-module 2
same(cheapest, "kiwi", "Which one comes first?")
### BEGIN HIDDEN TESTS
same(means.round(2).to_dict(), {"fruit": 1.0, "vegetable": 3.0}, "Which rows are taken together?")
### END HIDDEN TESTS

#% solution sums
def square(n):
    ### BEGIN SOLUTION
    return n * n
    ### END SOLUTION

def sum_of_squares(n):
    ### BEGIN SOLUTION
    return sum(square(k) for k in range(n + 1))
    ### END SOLUTION

#% tests by-use 1
kept = square
del square
try:
    sum_of_squares(3)
except NameError:
    pass
else:
    raise AssertionError("Does it call square?")
finally:
    square = kept

#% tests by-magic 1
%%time
for n in np.random.default_rng().integers(1, 50, 20):
    np.testing.assert_equal(sum_of_squares(n), (np.arange(n + 1) ** 2).sum())
'''

OF_KINDS = {"by-value": 2, "by-printed": 2, "by-module": 2, "by-use": 1, "by-magic": 1}
RIGHT_KINDS = {
    "savings": "def savings(a, n, r):\n    return round(sum(a * (1 + r) ** k for k in range(n)), 2)",
    "percent": "def percent():\n    text = input()\n    print(int(100 * float(text)), '%', sep='')",
    "cheapest": "cheapest = prices.loc[prices.price.idxmin(), 'name']\nmeans = prices.groupby('kind').price.mean()",
    "sums": (
        "def square(n):\n    return n ** 2\n\ndef sum_of_squares(n):\n    total = 0\n"
        "    for k in range(n + 1):\n        total += square(k)\n    return total"
    ),
}
WRONG_KINDS = {
    "savings": "def savings(a, n, r):\n    return round(a * n * (1 + r), 2)",
    "percent": "def percent():\n    print(input())",
    "cheapest": "cheapest = 'kiwi'\nmeans = prices.groupby('name').price.mean()",
    "sums": "def square(n):\n    return n * n\n\ndef sum_of_squares(n):\n    return n * (n + 1) // 2",
}
