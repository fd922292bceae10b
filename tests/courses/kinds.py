"""Kinds of test cells that public nbgrader courses have, in our own words; each line says how its answers are tested.

- an introduction to programming, on savings: values in a range with a comparison as the last line, a digest of a
  choice, input typed in and text printed, an exception
- data science, on prices: a table from a file, a module of checks beside the notebook, a query in SQL
- numerics: the axes of a plot, one function that must use another, a cell magic, a random check against numpy
"""

from importlib.util import find_spec

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

#% solution choice
# A: nothing. B: it doubles.
### BEGIN SOLUTION
answer = "B"
### END SOLUTION

#% tests by-digest 1
from hashlib import sha1
assert sha1(str(answer).encode()).hexdigest() == "ae4f281df5a5d0ff3cad6371f76d5c29b6d953ec", "What is a rate of 1?"

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

#% solution rate
def rate(before, after):
    ### BEGIN SOLUTION
    if before <= 0:
        raise ValueError("nothing was there")
    return after / before - 1
    ### END SOLUTION

#% tests by-exception 1
try:
    rate(0, 1)
except ValueError:
    pass
else:
    raise AssertionError("It raises nothing.")

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

#% solution query
### BEGIN SOLUTION
query = "SELECT name FROM prices WHERE price < 2 ORDER BY name"
### END SOLUTION

#% tests by-query 1
import sqlite3

prices.to_sql("prices", store := sqlite3.connect(":memory:"))
pd.testing.assert_frame_equal(pd.read_sql(query, store), pd.DataFrame({"name": ["fig", "kiwi"]}))

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

PLOT = """
#% code
%matplotlib inline
import matplotlib.pyplot as plt

#% solution curve
### BEGIN SOLUTION
plt.plot([0, 1, 2], [0, 1, 4])
plt.xlabel("x")
axes = plt.gca()
### END SOLUTION

#% tests by-axes 2
assert axes.get_xlabel() == "x", "Which axis is which?"
(line,) = axes.get_lines()
assert line.get_ydata().tolist() == [0, 1, 4]
"""

OF_KINDS = {
    "by-value": 2, "by-digest": 1, "by-printed": 2, "by-exception": 1, "by-module": 2, "by-query": 1, "by-axes": 2,
    "by-use": 1, "by-magic": 1,
}  # fmt: skip
RIGHT_KINDS = {
    "savings": "def savings(a, n, r):\n    return round(sum(a * (1 + r) ** k for k in range(n)), 2)",
    "choice": "answer = 'B'",
    "percent": "def percent():\n    text = input()\n    print(int(100 * float(text)), '%', sep='')",
    "rate": "def rate(a, b):\n    if not a:\n        raise ValueError\n    return (b - a) / a",
    "cheapest": "cheapest = prices.loc[prices.price.idxmin(), 'name']\nmeans = prices.groupby('kind').price.mean()",
    "query": "query = 'select name from prices where price <= 1.5 order by name'",
    "curve": "fig, axes = plt.subplots()\naxes.plot(range(3), [k * k for k in range(3)], 'o-')\naxes.set_xlabel('x')",
    "sums": (
        "def square(n):\n    return n ** 2\n\ndef sum_of_squares(n):\n    total = 0\n"
        "    for k in range(n + 1):\n        total += square(k)\n    return total"
    ),
}
WRONG_KINDS = {
    "savings": "def savings(a, n, r):\n    return round(a * n * (1 + r), 2)",
    "choice": "answer = 'A'",
    "percent": "def percent():\n    print(input())",
    "rate": "def rate(before, after):\n    return before and after / before - 1",
    "cheapest": "cheapest = 'kiwi'\nmeans = prices.groupby('name').price.mean()",
    "query": "query = 'select * from prices'",
    "curve": "plt.plot([0, 1, 2], [0, 1, 4])\nplt.ylabel('x')\naxes = plt.gca()",
    "sums": "def square(n):\n    return n * n\n\ndef sum_of_squares(n):\n    return n * (n + 1) // 2",
}

if find_spec("matplotlib"):
    KINDS += PLOT
else:
    del OF_KINDS["by-axes"], RIGHT_KINDS["curve"], WRONG_KINDS["curve"]
