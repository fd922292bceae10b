"""A course on tables with pandas: six exercises, each with right and wrong answers, written from its task alone.

An exercise is its solution and the class of its hidden tests; nothing else is written for it. A wrong answer has words
that its first message must have to fit, or None if nobody would tell from the answers what was done.
"""

# ruff: noqa: E501  (answers as people write them)

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_notebook

from autograder.course.assignments import CONFIG, Course

NAME = "a1_tables"
IMPORTS = "import numpy as np\nimport pandas as pd\n\n\nclass UnknownProduct(Exception):\n    pass"
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
    """An exercise of the course, and answers to it."""

    solution: str
    tests: str
    right: list[str]
    wrong: list[tuple[str, str | None]] = field(default_factory=list)

    @property
    def lines(self) -> int:
        """How many lines its author has written."""
        return sum(bool(line.strip()) for text in (self.solution, self.tests) for line in text.splitlines())


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
            """
def clean(orders):
    rows = [row for row in orders.to_dict("records") if not any(pd.isna(value) for value in row.values())]
    return pd.DataFrame(rows).astype({"price": "float64"})[["city", "product", "amount", "price", "day"]]
""",
        ],
        [
            ("return orders.dropna().reset_index(drop=True)", "dtype"),
            ("return orders.dropna().assign(price=lambda t: t['price'].astype(float))", "index"),
            ("return orders.fillna(0).assign(price=orders['price'].astype(float))", "1 more"),
            ("orders.dropna(inplace=True)\n    orders['price'] = orders['price'].astype(float)\n"
             "    return orders.reset_index(drop=True)", "argument is no longer what it was"),
            ("orders.dropna().assign(price=orders['price'].astype(float))", "None (is there a `return`?)"),
            ("return orders.dropna().assign(price=0.0).reset_index(drop=True)", "'price'"),
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
            """
def revenue(orders):
    cities = (orders["price"] * orders["amount"]).groupby(orders["city"])
    table = pd.concat([cities.count().rename("orders"), cities.sum().rename("revenue")], axis=1)
    return table.loc[table["revenue"].sort_values(ascending=False).index]
""",
        ],
        [
            ("return orders.assign(revenue=orders['price'] * orders['amount']).groupby('city')[['revenue']].sum()"
             ".sort_values('revenue', ascending=False)", "'orders' is missing"),
            ("t = orders.assign(revenue=orders['price'] * orders['amount'])\n"
             "    return t.groupby('city').agg(revenue=('revenue', 'sum'), orders=('revenue', 'size'))", "another order"),
            ("t = orders.assign(revenue=orders['price'] * orders['amount'])\n    t = t.groupby('city').agg("
             "revenue=('revenue', 'sum'), orders=('revenue', 'size'))\n    return t.sort_values('revenue')", "another order"),
            ("t = orders.assign(revenue=orders['price'] * orders['amount'])\n    t = t.groupby('city').agg("
             "revenue=('revenue', 'sum'), orders=('revenue', 'size'))\n"
             "    return t.sort_values('revenue', ascending=False).reset_index()", "'city' is a column"),
            ("t = orders.groupby('city').agg(revenue=('price', 'sum'), orders=('price', 'size'))\n"
             "    return t.loc[['Rome', 'Lima', 'Paris', 'Oslo'][:len(t)]]", None),
            ("t = orders.assign(revenue=orders['price'] * orders['amount'])\n    t = t.groupby('city').agg("
             "revenue=('revenue', 'mean'), orders=('revenue', 'size'))\n"
             "    return t.loc[[c for c in ('Rome', 'Lima', 'Paris', 'Oslo') if c in t.index]]", "'revenue'"),
            ("t = orders.assign(revenue=orders['price'] * orders['amount'])\n"
             "    return t.groupby('city')['revenue'].sum()", "a series of"),
            ("t = orders.assign(revenue=orders['price'] * orders['amount'])\n    t = t.groupby('city').agg("
             "revenue=('revenue', 'sum'), Orders=('revenue', 'size'))\n"
             "    return t.sort_values('revenue', ascending=False)", "'orders' is missing"),
        ],
    ),
    "by_month": Exercise(
        '''
def by_month(orders):
    """A series: the amount ordered in each month, by the month's first day."""
    return orders.groupby(orders["day"].dt.to_period("M").dt.to_timestamp())["amount"].sum()
''',
        '''
@pytest.mark.exercise("by_month")
class TestByMonth:
    test_sums = cases("The sum of each month.", [(PRICED,), (PRICED[:3],)], "What is a month's first day?")
''',
        [
            """
def by_month(orders):
    return orders.set_index("day").sort_index()["amount"].resample("MS").sum()
""",
            """
def by_month(orders):
    first = orders["day"] - pd.to_timedelta(orders["day"].dt.day - 1, unit="D")
    return pd.pivot_table(orders.assign(first=first), index="first", values="amount", aggfunc="sum")["amount"]
""",
        ],
        [
            ("return orders.groupby(orders['day'].dt.month)['amount'].sum()", "index"),
            ("return orders.groupby(orders['day'].dt.to_period('M').dt.to_timestamp())['amount'].count()", "right form"),
            ("return orders.groupby(orders['day'].dt.to_period('M').dt.to_timestamp())['amount'].sum() * 2", "2 times"),
            ("return orders.groupby(orders['day'].dt.to_period('M').dt.to_timestamp())[['amount']].sum()", "should be a series"),
            ("return orders.groupby(orders['day'].dt.to_period('M').dt.to_timestamp())['amount'].sum()[::-1]", "another order"),
            ("return dict(orders.groupby(orders['day'].dt.to_period('M').dt.to_timestamp())['amount'].sum())", "a dict of"),
            ("return orders.set_index('day')['amount'].resample('ME').sum()", "index"),
            ("return orders.groupby(orders['day'].dt.to_period('M').dt.to_timestamp())['price'].sum()", "right form"),
        ],
    ),
    "with_share": Exercise(
        '''
def with_share(orders):
    """The same table with a column `share`: of all that was ordered, how many percent are this row's?"""
    return orders.assign(share=100 * orders["amount"] / orders["amount"].sum())
''',
        '''
@pytest.mark.exercise("with_share")
class TestWithShare:
    def test_share(self, student, reference):
        """Shares add up to 100."""
        got = student.with_share(PRICED)
        expect.table(got, reference.with_share(PRICED), "Percent of what?")
        assert abs(got["share"].sum() - 100) < 1e-9, "What do they add up to?"
''',
        [
            "def with_share(orders):\n    new = orders.copy()\n    new['share'] = new['amount'] / new['amount'].sum() * 100\n"
            "    return new",
            "def with_share(orders):\n    shares = [100 * n / sum(orders['amount']) for n in orders['amount']]\n"
            "    return pd.concat([pd.Series(shares, name='share', index=orders.index), orders], axis=1)",
        ],
        [
            ("return orders.assign(share=orders['amount'] / orders['amount'].sum())", "0.01 times"),
            ("return orders.assign(share=100 * orders['amount'] / len(orders))", "times"),
            ("return orders.assign(share=(100 * orders['amount'] / orders['amount'].sum()).round())", "rounded to whole"),
            ("return orders.assign(share=(100 * orders['amount'] / orders['amount'].sum()).astype(str))", "dtype"),
            ("return 100 * orders['amount'] / orders['amount'].sum()", "a series of"),
            ("return orders[['city']].assign(share=100 * orders['amount'] / orders['amount'].sum())", "are missing"),
            ("return orders.assign(Share=100 * orders['amount'] / orders['amount'].sum())", "'share' is missing"),
        ],
    ),
    "with_cost": Exercise(
        '''
def with_cost(orders, prices):
    """Every order with the `cost` of its product from `prices`, missing where there is none; rows in any order."""
    return orders.merge(prices, on="product", how="left")
''',
        '''
@pytest.mark.exercise("with_cost")
class TestWithCost:
    def test_join(self, student, reference):
        """Each order, with a cost where there is one."""
        right = reference.with_cost(PRICED, PRICES)
        expect.table(student.with_cost(PRICED, PRICES), right, "What of products without a cost?", row_order=False)
''',
        [
            "def with_cost(orders, prices):\n"
            "    return orders.assign(cost=orders['product'].map(prices.set_index('product')['cost']))",
            "def with_cost(orders, prices):\n"
            "    return orders.sort_values('day').merge(prices, how='left').sort_values(['city', 'day'])",
            "def with_cost(orders, prices):\n    known = dict(zip(prices['product'], prices['cost']))\n"
            "    costs = [known.get(product) for product in orders['product']]\n    return orders.assign(cost=costs)[::-1]",
        ],
        [
            ("return orders.merge(prices, on='product')", "1 of 6 are missing"),
            ("return orders.merge(prices, on='product', how='outer')", "1 more"),
            ("return orders.merge(prices, on='product', how='left').fillna(0)", "'cost'"),
            ("return prices.merge(orders, on='product', how='left')", "1 more"),
            ("return orders.assign(cost=1.5)", "'cost'"),
            ("return orders.merge(prices, on='product', how='left')[['product', 'cost']]", "are missing"),
            ("return orders.merge(prices.rename(columns={'product': 'item'}), left_on='product', right_on='item', how='left')",
             "not asked for"),
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
            ("return str(prices.set_index('product')['cost'][product] * 1.19)", "a value of type str"),
            ("return round(prices.set_index('product')['cost'][product] * 0.19, 2)", "KeyError"),
            ("if product not in set(prices['product']): raise ValueError(product)\n"
             "    return round(prices.set_index('product')['cost'][product] * 1.19, 2)", "raise UnknownProduct"),
            ("if product not in set(prices['product']): raise UnknownProduct\n    return 1.785", None),
            ("if product not in set(prices['product']): return None\n"
             "    return round(prices.set_index('product')['cost'][product] * 1.19, 2)", "UnknownProduct"),
        ],
    ),
}  # fmt: skip


def answer(name: str, body: str) -> str:
    """A wrong answer: the exercise's definition with this body."""
    head = EXERCISES[name].solution.strip().splitlines()[0]
    return f"{head}\n    {body}"


def tables_course(root: Path, exercises: Mapping[str, Exercise] = EXERCISES) -> Course:
    """A course with its source notebook, solution and hidden tests, in files."""
    cells = [new_code_cell(IMPORTS, id="imports")]
    for name, exercise in exercises.items():
        data = {"schema_version": 3, "task": False}
        solution = data | {"grade": False, "solution": True, "locked": False, "grade_id": name}
        check = data | {"grade": True, "solution": False, "locked": True, "grade_id": f"test-{name}", "points": 4}
        cells.append(new_code_cell(exercise.solution, id=name, metadata={"nbgrader": solution}))
        cells.append(new_code_cell(f'check("{name}")', id=f"c-{name}", metadata={"nbgrader": check}))
    files = {
        CONFIG: "",
        f"solutions/{NAME}/tables.py": "\n\n".join([IMPORTS, *(one.solution for one in exercises.values())]),
        "tables_course/course.toml": "",
        "tables_course/__init__.py": "",
        f"tables_course/{NAME}/shared_hidden_tests.py": SHARED,
        **{f"tables_course/{NAME}/{name}/hidden_tests.py": HEAD + one.tests for name, one in exercises.items()},
    }
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    (root / "source" / NAME).mkdir(parents=True)
    nbformat.write(new_notebook(cells=cells), root / "source" / NAME / "tables.ipynb")
    return Course(root)
