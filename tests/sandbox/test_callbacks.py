"""Follow-through and callable arguments: student code calls functions that run on the trusted side."""

from __future__ import annotations

import textwrap
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import torch
from torch import nn

from autograder.testing.callbacks import Questions, refusing_text_as_code
from autograder.testing.functions import Functions, Here
from cellcage.notebook_calls import Terms, read

CODE = textwrap.dedent("""
    import numpy as np, torch
    from torch import nn

    def scores(q, k):
        return scale(q @ k.swapaxes(-2, -1), q.shape[-1])

    def apply(f, x):
        return f(x)
    def word(model, ids):
        model.eval()
        with torch.no_grad():
            return int(model(torch.tensor([ids]))[0, -1].argmax())
    def second_word(model, ids):
        return first_word(model, ids + [first_word(model=model, ids=ids)])
    def word_by_tensor(model, ids):
        return first_word(model, torch.tensor(ids))
    def halves(numbers):
        return scale(numbers, 2)
    def first_word(model, ids):
        return -1
    def count(model):
        return sum(p.numel() for p in model.parameters())

    class Block(nn.Module):
        def __init__(self, d):
            super().__init__()
            self.inner = Inner(d, bias=False)
        def forward(self, x):
            return x + self.inner(x)

    def use_missing(x):
        return missing(x)
    def ask_for(number):
        return scale(np.ones((2, 2)), number)
    def ask_for_big():
        return scale(np.ones((6000, 1)), 1)
    def ask_again_and_again():
        for _ in range(5000):
            scale(np.ones(2), 1)
    def scale(x, d):
        raise NotImplementedError

    import pandas as pd

    def total(orders):
        return priced(orders)["paid"].sum()
    def many(values):
        return kinds(values)
    def sort(numbers):
        for place in range(1, len(numbers)):
            swap(numbers, place - 1, place)
        return numbers
    def first_of_rows(grid):
        row = grid[0]
        fill(grid, 7)
        return row, grid
    def number_of(text):
        return calculated(text)
    def swap(numbers, one, other):
        return None
    def fill(grid, value):
        return None
    def priced(orders):
        return orders.assign(paid=0.0)
    def kinds(values):
        return "own"
    def calculated(text):
        return "own"
""")


class Inner(nn.Module):
    def __init__(self, d, bias=True):
        super().__init__()
        self.layer = nn.Sequential(nn.Linear(d, d, bias=bias), nn.Tanh())

    def forward(self, x):
        return self.layer(x)


def scale(x, d):
    if d == 0:
        raise ValueError("nothing to divide by")
    return x / d


def missing(x):
    return 3 * x


def first_word(model, ids):
    return int(model(torch.tensor([ids]))[0, -1].argmax())


def priced(orders):
    return orders.assign(paid=orders["price"] * orders["amount"])


def kinds(values):
    return {key: type(value).__name__ for key, value in values.items()}


def swap(numbers, one, other):
    numbers[one], numbers[other] = numbers[other], numbers[one]


def fill(grid, value):
    for row in grid:
        row[:] = [value] * len(row)


def calculated(text):
    return eval(text)


FUNCTIONS = {one.__name__: one for one in (priced, kinds, swap, fill, calculated)}
REFERENCE = SimpleNamespace(first_word=first_word, Inner=Inner, scale=scale, missing=missing, **FUNCTIONS)
ALL = tuple(vars(REFERENCE))


class Transport:
    """Calls a notebook whose code may call the reference's functions."""

    def __init__(self, names):
        self.questions = Questions(vars(REFERENCE), ALL)
        self.exercise = names.begin(Terms(self.questions, "an exercise"))  # one without a name has less time

    def __call__(self, call):
        return read(next(self.exercise.ask([(call, None)])))


@pytest.fixture(params=["in the sandbox", "in this process"])
def transport(request, sandbox):
    if request.param == "in this process":
        names = {"__name__": "notebook"}
        exec(CODE, names)
        yield Transport(Here(names))
    else:
        with sandbox.open([CODE]) as running:
            asked = Transport(running)
            yield asked
            asked.exercise.close()


@pytest.fixture
def student(transport):
    return Functions(transport, lambda name: ())


def test_reference_answers_for_an_earlier_exercise(student, transport):
    q, k = np.ones((2, 3)), np.ones((4, 3))
    np.testing.assert_allclose(student.scores(q, k), np.ones((2, 4)))
    assert transport.questions.asked == {"scale"}


def test_reference_module_has_parameters_and_gradients(student, transport):
    weight, x, seed = torch.randn(3, 3, dtype=torch.float64), torch.randn(2, 3).double(), torch.randn(2, 3).double()
    assert student.Block.build(3) == {"inner.layer.0.weight": (3, 3)}
    got = student.Block.run((3,), {"inner.layer.0.weight": weight}, x, seeds=[seed])
    leaf, w = x.clone().requires_grad_(), weight.clone().requires_grad_()
    wanted = leaf + torch.tanh(leaf @ w.T)
    (wanted * seed).sum().backward()
    torch.testing.assert_close(got.value, wanted.detach())
    torch.testing.assert_close(got.inputs[0], leaf.grad)
    torch.testing.assert_close(got.parameters["inner.layer.0.weight"], w.grad)
    assert transport.questions.asked == {"Inner"}


def test_exception_of_the_reference_reaches_student_code(student):
    with pytest.raises(ValueError, match="nothing to divide by"):
        student.ask_for(0)


def test_size_and_number_of_questions_are_limited(student, transport):
    np.testing.assert_allclose(student.ask_for(5200), np.full((2, 2), 1 / 5200))
    np.testing.assert_allclose(student.ask_for(-np.inf), np.zeros((2, 2)))  # no size
    for call in (lambda: student.ask_for(5201), student.ask_for_big, student.ask_again_and_again):
        with pytest.raises(Exception, match=r"not started|NotImplementedError"):  # the student's own stub
            call()


def test_function_missing_in_the_notebook_is_provided(student):
    assert student.use_missing(3) == 9


def test_function_can_be_an_argument(student):
    seen = []

    def f(x):
        seen.append(x)
        return x + 1

    np.testing.assert_allclose(student.apply(f, np.ones(3)), np.full(3, 2.0))
    assert len(seen) == 1
    got = student.apply.gradients(lambda x: x**3, torch.tensor([2.0]), seeds=[torch.ones(1)])
    assert got.inputs[1].item() == 12


def test_model_can_be_an_argument(student):
    model = nn.Sequential(nn.Embedding(7, 4), nn.Linear(4, 7))
    ids = [1, 5, 2]
    with pytest.raises(TypeError, match=r"word gets a Sequential with trainable weights.* pass its state_dict\(\)"):
        student.word(model, ids)
    model.requires_grad_(False)
    wanted = int(model(torch.tensor([ids]))[0, -1].argmax())
    assert student.word(model, ids) == wanted
    assert student.count(model) == sum(p.numel() for p in model.parameters())


def test_reference_answers_questions_about_a_model_argument(student, transport):
    # The product of the ids is above the limit for sizes, but ids are not sizes.
    model, ids = nn.Sequential(nn.Embedding(90, 4), nn.Linear(4, 90)), [81, 75, 82, 69, 77]
    model.requires_grad_(False)
    first = first_word(model, ids)
    assert student.second_word(model, ids) == first_word(model, [*ids, first])
    assert transport.questions.asked == {"first_word"}


def test_question_may_have_another_kind_of_list_than_the_reference_takes(student, transport):
    """A student's own code may take a list or a tensor of ids; the reference takes an array, or a list."""
    np.testing.assert_allclose(student.halves([2.0, 4.0]), [1.0, 2.0])
    model, ids = nn.Sequential(nn.Embedding(90, 4), nn.Linear(4, 90)), [81, 75, 82]
    model.requires_grad_(False)
    assert student.word_by_tensor(model, ids) == first_word(model, ids)
    assert transport.questions.asked == {"scale", "first_word"}


# ---------------------------------------------------------------- tables, text and other values

ORDERS = pd.DataFrame({"city": ["Rome", None, "Oslo"], "price": [2.5, 1000.0, 4.0], "amount": [4, 1, 9000]})


def test_question_can_be_about_a_table(student, transport):
    assert student.total(ORDERS) == 37010
    assert student.total(ORDERS[2:]) == 36000  # a number in a table is not a size
    assert transport.questions.asked == {"priced"}


def test_question_can_be_about_text_and_other_values(student):
    values = {"a": "text", "b": 1.5, "c": {1, 2}, "e": {"f": (1, None)}, 3: b"bytes"}
    assert student.many(values) == {key: type(value).__name__ for key, value in values.items()}


def test_question_with_a_large_number_or_value_is_refused(student):
    for value in (
        "word " * 100,
        5201,
        10**400,
        {"a": "b" * 200},
        {"a": [10**6]},
        pd.DataFrame({"a": np.zeros(70_000)}),
    ):
        assert student.many({"a": value}) == "own"


def test_reference_can_change_its_arguments(student):
    assert student.sort([3, 1, 2]) == [1, 2, 3]
    row, grid = student.first_of_rows([[1, 2], [3]])
    assert row == [7, 7] and grid == [[7, 7], [7]]


def test_text_of_a_question_is_never_evaluated(student):
    for value in ("1 + 1", "[c for c in ().__class__.__base__.__subclasses__()]"):
        assert student.number_of(value) == "own"
    assert eval("1 + 1") == 2  # still possible here
    with refusing_text_as_code(["price > 3"]), pytest.raises(RuntimeError, match="may not become a program"):
        ORDERS.query("price > 3")
    with refusing_text_as_code([ORDERS["price"].to_numpy(), 3]):
        assert len(ORDERS.query("price > 3")) == 2
