"""A course whose exercises ask for a variable and for printed text, with data files.

Each exercise has the minimal form: its cells (`#%` lines as in `classic.py`), and one file of hidden tests.
"""

NAME = "a1_notes"

NOTEBOOK = r'''
#% text
# Notes

## 1. Mean

Set `mean_price` to the mean of all prices in `prices.csv`.

#% solution mean_price
import csv
### BEGIN SOLUTION
with open("prices.csv", newline="") as file:
    rows = list(csv.DictReader(file))
mean_price = sum(float(row["price"]) for row in rows) / len(rows)
### END SOLUTION

#% tests test-mean_price 2
check("mean_price")

#% solution table
def table(prices):
    """Print each name, a colon and its price with two digits, in order of names."""
    ### BEGIN SOLUTION
    for name in sorted(prices):
        print(f"{name}: {prices[name]:.2f}")
    ### END SOLUTION

#% tests test-table 2
check("table")

'''

DATA = {"prices.csv": b"name,price\npear,2.5\nfig,0.5\nkiwi,1.5\n", "data/limits.csv": b"limit\n2\n"}

HEAD = """import pytest

from autograder.testing import close, expect, shown

PRICES = {"pear": 2.5, "fig": 0.5}

"""

SUITES = {
    "mean_price": '''
@pytest.mark.exercise("mean_price")
class TestMeanPrice:
    def test_value(self, student, reference):
        """The mean of the prices."""
        expect.close(student.value("mean_price"), reference.value("mean_price"), "How many prices are there?")
''',
    "table": '''
@pytest.mark.exercise("table")
class TestTable:
    def test_lines(self, student, reference):
        """A line for each price, in order."""
        expect.text(student.table.printed(PRICES), reference.table.printed(PRICES), "Two digits each, in order?")
''',
}

VISIBLE = {
    "mean_price": '''
@pytest.mark.exercise("mean_price")
class TestVisible:
    def test_size(self, student):
        """It is a price."""
        with shown("Are there prices above 3?"):
            close(student.value("mean_price") < 3, True)
''',
    "table": '''
@pytest.mark.exercise("table")
class TestVisible:
    def test_one(self, student):
        """One price."""
        with shown("What does each line look like?", prices={"fig": 0.5}):
            expect.text(student.table.printed({"fig": 0.5}), "fig: 0.50", tells=True)
''',
}

# Right answers in another style, and wrong ones with the start of their message.
RIGHT = {
    "mean_price": """
import numpy as np
mean_price = np.genfromtxt("prices.csv", delimiter=",", skip_header=1)[:, 1].mean()
""",
    "table": """
def table(prices):
    print("\\n".join("%s: %.2f  " % one for one in sorted(prices.items())))
    print()
""",
}
WRONG = [
    ("mean_price", "import csv\nmean_price = 2.5 + 0.5 + 1.5", "mean_price: the result is 4.5, which is not right."),
    ("mean_price", "import csv", "mean_price: the notebook has nothing under the name `mean_price`, or None."),
    (
        "table",
        "def table(prices):\n    for name in sorted(prices):\n        print(f'{name}: {prices[name]}')",
        "table(prices): line 1 of what it prints is `fig: 0.5`, which is not right.",
    ),
    ("table", "def table(prices):\n    return str(prices)", "table(prices): what it prints is empty."),
]
