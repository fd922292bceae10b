"""A course on what a notebook does: a number in a variable, text, files, a figure, input typed in, data to read.

Each exercise in the minimal form: its cells (`#%` lines as in `classic.py`), and one file of hidden tests.
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

#% solution cheap
def cheap(limit, path):
    """Write the names in prices.csv that cost at most `limit` to the file at `path`, one on each line."""
    ### BEGIN SOLUTION
    with open("prices.csv", newline="") as file:
        names = [row["name"] for row in csv.DictReader(file) if float(row["price"]) <= limit]
    with open(path, "w") as file:
        file.write("\n".join(names) + "\n")
    ### END SOLUTION

#% tests test-cheap 2
check("cheap")

#% solution draw
import matplotlib.pyplot as plt

def draw(prices):
    """A bar for each price, with its name below, a title and a label on the y axis."""
    ### BEGIN SOLUTION
    figure, axes = plt.subplots()
    axes.bar(list(prices), list(prices.values()))
    axes.set(title="Prices", ylabel="euros")
    return figure
    ### END SOLUTION

#% tests test-draw 2
check("draw")

#% solution quiz
def quiz():
    """Ask for numbers until an empty line comes, and give their sum."""
    ### BEGIN SOLUTION
    total = 0
    while line := input("A number? "):
        total += float(line)
    return total
    ### END SOLUTION

#% tests test-quiz 2
check("quiz")
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
    "cheap": '''
@pytest.mark.exercise("cheap")
class TestCheap:
    def test_file(self, student, reference):
        """The file has the names that are asked for."""
        got, right = student.cheap.files(2, "cheap.txt"), reference.cheap.files(2, "right.txt")
        expect.text(got["cheap.txt"], right["right.txt"], "At most, or less?", what="cheap.txt")
''',
    "draw": '''
@pytest.mark.exercise("draw")
class TestDraw:
    def test_bars(self, student, reference):
        """The bars, with their words."""
        expect.figure(student.draw.figure(PRICES), reference.draw.figure(PRICES), "Is a bar as high as its price?")
''',
    "quiz": '''
@pytest.mark.exercise("quiz")
class TestQuiz:
    def test_sum(self, student):
        """The sum of what is typed in."""
        expect.close(student.quiz.typed("3", "4.5", "")(), 7.5, "When does it end?")
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
    "cheap": '''
@pytest.mark.exercise("cheap")
class TestVisible:
    def test_one(self, student):
        """One name."""
        with shown("What costs that little?", limit=1):
            expect.text(student.cheap.files(1, "few.txt")["few.txt"], "fig", what="few.txt", tells=True)
''',
    "draw": '''
@pytest.mark.exercise("draw")
class TestVisible:
    def test_heights(self, student):
        """A bar for each."""
        with shown("How high is each bar?"):
            close(student.draw.figure({"a": 1, "b": 2}).axes[0].bars[0].height, [1.0, 2.0])
''',
    "quiz": '''
@pytest.mark.exercise("quiz")
class TestVisible:
    def test_one(self, student):
        """One number."""
        with shown("When does it end?"):
            close(student.quiz.typed("2", "")(), 2.0)
''',
}

# Right answers in other styles, and wrong ones with how what is told of them begins.
RIGHT = [
    {
        "mean_price": """
import numpy as np
mean_price = np.genfromtxt("prices.csv", delimiter=",", skip_header=1)[:, 1].mean()
""",
        "table": """
def table(prices):
    print("\\n".join("%s: %.2f  " % one for one in sorted(prices.items())))
    print()
""",
        "cheap": """
from pathlib import Path
def cheap(limit, path):
    rows = [line.split(",") for line in Path("prices.csv").read_text().split()[1:]]
    Path(path).write_text("\\r\\n".join(name for name, price in rows if float(price) <= limit))
""",
        "draw": """
from matplotlib import pyplot
def draw(prices):
    pyplot.xticks([1, 2], list(prices))
    pyplot.bar([1, 2], prices.values())
    pyplot.title("What it costs")
    pyplot.ylabel("EUR")
    pyplot.show()
    pyplot.close()
""",
        "quiz": """
import sys
def quiz():
    return sum(map(float, sys.stdin.read().split()))
""",
    },
    {
        "mean_price": """
%matplotlib inline
import csv
mean_price = round(sum([2.5, 0.5, 1.5]) / 3, 9)
""",
        "table": """
def table(prices):
    for name, price in sorted(prices.items()):
        print(name, end=": ")
        print(f"{price:.2f}")
""",
        "draw": """
import matplotlib.pyplot as plt
plt.plot([1, 2])
def draw(prices):
    axes = plt.figure().add_subplot()
    axes.barh(range(2), [*prices.values()], tick_label=[*prices])
    axes.set_title("P")
    axes.set_ylabel("p")
    return axes
""",
        "quiz": """
def quiz(total=0.0):
    line = input()
    return quiz(total + float(line)) if line.strip() else total
""",
    },
]
WRONG = [
    ("mean_price", "import csv\nmean_price = 2.5 + 0.5 + 1.5", "mean_price: the result is 4.5, which is not right."),
    ("mean_price", "import csv", "mean_price: the notebook has nothing under the name `mean_price`, or None."),
    ("mean_price", "import csv\nmean_price = '1.5'", "mean_price: gave back a value of type str, where an array"),
    (
        "table",
        "def table(prices):\n    for name in sorted(prices):\n        print(f'{name}: {prices[name]}')",
        "table(prices): line 1 of what it prints is `…: 0.5`, which is not right.",
    ),
    ("table", "def table(prices):\n    return str(prices)", "table(prices): what it prints is empty."),
    (
        "table",
        "def table(prices):\n    print('Prices')\n    print('fig: 0.50')\n    print('pear: 2.50')",
        "table(prices): line 1 of what it prints is `Prices`, which is not right.",
    ),
    (
        "table",
        "def table(prices):\n    for name in sorted(prices):\n        print(f'{name.title()}: {prices[name]:.2f}')",
        "table(prices): line 1 of what it prints is `…: 0.50`, which is not right, though only",
    ),
    (
        "cheap",
        "def cheap(limit, path):\n    open('names.txt', 'w').write('fig')",
        "cheap(limit=2, path='cheap.txt'): wrote no file `cheap.txt`, and 1 of another name.",
    ),
    (
        "cheap",
        "def cheap(limit, path):\n    open(path, 'w').write('pear\\nkiwi')",
        "cheap(limit=2, path='cheap.txt'): line 1 of cheap.txt is not right.",
    ),
    (
        "cheap",
        "def cheap(limit, path):\n    open('/cheap.txt', 'w').write('fig')",
        "cheap(limit=2, path='cheap.txt'): raised OSError",
    ),
    ("draw", "def draw(prices):\n    return list(prices)", "draw(prices): drew nothing"),
    (
        "draw",
        "import matplotlib.pyplot as plt\ndef draw(prices):\n    plt.plot(list(prices), list(prices.values()))",
        "draw(prices): the figure has 1 line, it should have 0.",
    ),
    (
        "draw",
        "import matplotlib.pyplot as plt\ndef draw(prices):\n    plt.bar(list(prices), sorted(prices.values()))",
        "draw(prices): the set of bars in the figure has height 2.5 at [0], which is not right.",
    ),
    (
        "draw",
        "import matplotlib.pyplot as plt\ndef draw(prices):\n    plt.bar(list(prices), list(prices.values()))",
        "draw(prices): the figure has no title.",
    ),
    ("quiz", "def quiz():\n    return float(input())", "quiz() with '3', '4.5', '' typed in: the result is 3, which"),
    (
        "quiz",
        "def quiz():\n    return sum(float(input() or 0) for _ in range(4))",
        "quiz() with '3', '4.5', '' typed in: asks for a fourth input, and only 3 are typed in.",
    ),
]
