"""A course on pandas tables: three exercises with right and wrong answers, written without looking at the tests.

An exercise has only a solution and hidden tests. A wrong answer comes with words that its first message must contain,
or None if the results do not show what went wrong.
"""

# ruff: noqa: E501  (answers as people write them)

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from autograder.course.assignments import Course
from tests.courses.own import course_of, exercise

NAME = "a1_tables"
IMPORTS = "from autograder import check\nimport numpy as np\nimport pandas as pd\n\n\nclass UnknownProduct(Exception):\n    pass"
SHARED = """
import pandas as pd

ORDERS = pd.DataFrame(
    {
        "city": ["Paris", "Rome", "Paris", "Oslo", "Rome", "Oslo", "Lima"],
        "product": ["tea", "nuts", "tea", "figs", "tea", "nuts", "figs"],
        "price": ["2.50", "4.00", "2.50", "3.25", "2.50", "4.00", "3.25"],
        "amount": [4, 1, 2, None, 10, 3, 6],
        "day": pd.to_datetime(
            ["2024-01-30", "2024-02-01", "2024-01-02", "2024-02-11", "2024-03-05", "2024-03-01", "2024-02-20"]
        ),
    }
)
PRICED = ORDERS.assign(price=ORDERS["price"].astype(float)).dropna().reset_index(drop=True)
PRICES = pd.DataFrame({"product": ["nuts", "tea", "soap"], "cost": [3.0, 1.5, 7.0]})
"""
HEAD = """import pytest

from autograder.testing import cases, expect

from ..shared_hidden_tests import ORDERS, PRICED, PRICES

"""


@dataclass(frozen=True)
class Exercise:
    """An exercise, with right and wrong answers."""

    solution: str
    tests: str
    right: list[str]
    wrong: list[tuple[str, str | None]] = field(default_factory=list)


EXERCISES = {
    "clean": Exercise(
        '''
def clean(orders):
    """Without rows that lack something, prices as numbers, rows numbered from 0."""
    return orders.dropna().assign(price=lambda t: t["price"].astype(float)).reset_index(drop=True)
''',
        '''
@pytest.mark.exercise("clean")
class TestClean:
    test_clean = cases("Whole rows, prices as numbers.", [(ORDERS,), (ORDERS[::2],)], "What has each row?", weight=3)

    def test_unchanged(self, student):
        """The orders that came stay as they are."""
        expect.unchanged(student.clean.inputs_after(ORDERS), [ORDERS], ["orders"], "Which line writes into orders?")
''',
        [
            """
def clean(orders):
    whole = orders[orders.notna().all(axis=1)].copy()
    whole["price"] = pd.to_numeric(whole["price"])
    whole.index = range(len(whole))
    return whole
""",
        ],
        [
            ("return orders.dropna().reset_index(drop=True)", "dtype"),
            ("return orders.dropna().assign(price=lambda t: t['price'].astype(float))", "index"),
            ("orders.dropna(inplace=True)\n    orders['price'] = orders['price'].astype(float)\n"
             "    return orders.reset_index(drop=True)", "call changes an argument"),
            ("return orders", "as it went in"),
        ],
    ),
    "revenue": Exercise(
        '''
def revenue(orders):
    """A table with the city as its index: `revenue` (price times amount) and `orders` (how many), largest first."""
    paid = orders.assign(revenue=orders["price"] * orders["amount"])
    table = paid.groupby("city").agg(revenue=("revenue", "sum"), orders=("revenue", "size"))
    return table.sort_values("revenue", ascending=False)
''',
        '''
@pytest.mark.exercise("revenue")
class TestRevenue:
    def test_table(self, student, reference):
        """Revenue and number of orders of each city, the largest revenue first."""
        for orders in (PRICED, PRICED[PRICED["city"] != "Lima"]):
            expect.table(student.revenue(orders), reference.revenue(orders), "Which rows make up one city?")
''',
        [
            """
def revenue(orders):
    found = {}
    for _, row in orders.iterrows():
        total, count = found.get(row["city"], (0.0, 0))
        found[row["city"]] = total + row["price"] * row["amount"], count + 1
    table = pd.DataFrame.from_dict(found, orient="index", columns=["revenue", "orders"])
    return table.sort_values("revenue", ascending=False)
""",
        ],
        [
            ("return orders.assign(revenue=orders['price'] * orders['amount']).groupby('city')[['revenue']].sum()"
             ".sort_values('revenue', ascending=False)", "'orders' is missing"),
            ("t = orders.assign(revenue=orders['price'] * orders['amount'])\n"
             "    return t.groupby('city').agg(revenue=('revenue', 'sum'), orders=('revenue', 'size'))", "another order"),
            ("t = orders.assign(revenue=orders['price'] * orders['amount'])\n    t = t.groupby('city').agg("
             "revenue=('revenue', 'mean'), orders=('revenue', 'size'))\n"
             "    return t.loc[[c for c in ('Rome', 'Lima', 'Paris', 'Oslo') if c in t.index]]", "'revenue'"),
        ],
    ),
    "price_of": Exercise(
        '''
def price_of(prices, product):
    """The cost of a product with 19 % on top, to two places; raises UnknownProduct."""
    found = prices.loc[prices["product"] == product, "cost"]
    if found.empty:
        raise UnknownProduct(product)
    return float(round(found.iloc[0] * 1.19, 2))
''',
        '''
@pytest.mark.exercise("price_of")
class TestPriceOf:
    test_price = cases("Two places.", [((PRICES, "tea"),), ((PRICES, "nuts"),)], "What are 19 %?", weight=2)

    def test_unknown(self, student):
        """A product that is not there."""
        expect.raises("UnknownProduct", lambda: student.price_of(PRICES, "salt"), "What of a product without a price?")
''',
        [
            """
class NoSuch(UnknownProduct):
    pass

def price_of(prices, product):
    costs = dict(zip(prices["product"], prices["cost"]))
    if product not in costs:
        raise NoSuch
    return round(costs[product] * 119 / 100, 2)
""",
        ],
        [
            ("return round(prices.set_index('product')['cost'][product] * 0.19, 2)", "KeyError"),
            ("if product not in set(prices['product']): raise ValueError(product)\n"
             "    return round(prices.set_index('product')['cost'][product] * 1.19, 2)", "raise UnknownProduct"),
            ("if product not in set(prices['product']): return None\n"
             "    return round(prices.set_index('product')['cost'][product] * 1.19, 2)", "UnknownProduct"),
        ],
    ),
}  # fmt: skip


def answer(name: str, body: str) -> str:
    """The exercise's definition with this body."""
    head = EXERCISES[name].solution.strip().splitlines()[0]
    return f"{head}\n    {body}"


def tables_course(root: Path, exercises: Mapping[str, Exercise] = EXERCISES) -> Course:
    """A course with these exercises."""
    cells = "".join(exercise(name, one.solution, points=4) for name, one in exercises.items())
    files = {f"{name}/hidden_tests.py": HEAD + one.tests for name, one in exercises.items()}
    return course_of(root, NAME, f"#% code\n{IMPORTS}\n{cells}", {"shared_hidden_tests.py": SHARED} | files)
