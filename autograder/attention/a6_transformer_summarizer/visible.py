"""Visible checks of a6. What stands here, students may read; the numbers are those of the notebook."""

import numpy as np
import pytest

from autograder.suites import expect
from autograder.suites.shown import arrives, equal, keeps, same, shown


def counting():
    """The notebook's own example of a model: after token i comes token i + 1; after 9 comes 0."""
    import torch.nn as nn  # here, since checks of assignments without PyTorch read this file, too
    import torch.nn.functional as F

    class Counting(nn.Module):
        def forward(self, token_ids):
            return 5.0 * F.one_hot((token_ids + 1) % 10, 10).float()

        def __repr__(self):
            return "counting"

    return Counting()


def adding():
    """A model that hangs on every token: what comes next is the last digit of their sum. All its logits are low."""
    import torch.nn as nn
    import torch.nn.functional as F

    class Adding(nn.Module):
        def forward(self, token_ids):
            return 5.0 * F.one_hot(token_ids.cumsum(dim=1) % 10, 10).float() - 1000.0

        def __repr__(self):
            return "adding"

    return Adding()


ADDING = "says the last digit of the sum of all it has read, with logits around -1000"


def unchanged(now, then, name):
    """The list `name` holds what it held before the call."""
    if list(now) != then:
        expect.fail(f"{name} is `{now}` after the call, and was `{then}` before.")


@pytest.mark.exercise("training_example")
class TestTrainingExample:
    def parts(self, student, *args):
        return expect.pair(student.training_example(*args), "(token_ids, loss_mask)")

    def test_token_ids(self, student):
        """The example by hand: 11 12 13, the separator 1, 14 15, the end 2."""
        given = {"article_ids": [11, 12, 13], "summary_ids": [14, 15], "separator_id": 1, "end_id": 2}
        with shown("Compare it with the second line of the table: what differs?", **given):
            equal(self.parts(student, *given.values())[0], [11, 12, 13, 1, 14, 15, 2], "token_ids")

    def test_loss_mask(self, student):
        """The example by hand: four times False, three times True."""
        given = {"article_ids": [11, 12, 13], "summary_ids": [14, 15], "separator_id": 1, "end_id": 2}
        with shown("Compare it with the last line of the table: what differs?", **given):
            mask = self.parts(student, *given.values())[1]
            equal(mask, [False] * 4 + [True] * 3, "loss_mask")
            if not all(isinstance(one, bool | np.bool_) for one in mask):
                expect.fail(f"loss_mask holds {expect.kind_of(mask[0])}, not True and False.")

    def test_a_word_in_both(self, student):
        """A word of the summary, and the end's id, may stand in the article, too; there they do not count."""
        given = {"article_ids": [14, 2, 15, 14], "summary_ids": [15, 14], "separator_id": 1, "end_id": 2}
        with shown("Does a token count for what it is, or for where it stands?", **given):
            ids, mask = self.parts(student, *given.values())
            equal(ids, [14, 2, 15, 14, 1, 15, 14, 2], "token_ids")
            equal(mask, [False] * 5 + [True] * 3, "loss_mask")

    def test_lists_left_alone(self, student):
        """The lists that came in are as before."""
        given = {"article_ids": [11, 12, 13], "summary_ids": [14, 15], "separator_id": 1, "end_id": 2}
        with shown("Which line makes a list longer, and is it a list of your own?", **given):
            after = student.training_example.inputs_after([11, 12, 13], [14, 15], 1, 2)
            unchanged(after[0], [11, 12, 13], "article_ids")
            unchanged(after[1], [14, 15], "summary_ids")


@pytest.mark.exercise("summary_loss")
class TestSummaryLoss:
    PROBABILITIES = np.array([[[0.1, 0.8, 0.1], [0.25, 0.25, 0.5], [0.5, 0.25, 0.25], [0.6, 0.2, 0.2]]])
    IDS, MASK = np.array([[0, 1, 2, 1]]), np.array([[False, False, True, True]])

    # Two texts of five tokens, four words; three tokens of the first count, one of the second.
    LOGITS = np.array(
        [
            [
                [2.0, 3.0, 3.0, 0.0],
                [3.0, 3.0, 3.0, -3.0],
                [0.0, 1.0, -2.0, -1.0],
                [1.0, 2.0, 1.0, -2.0],
                [1.0, 3.0, -2.0, 0.0],
            ],
            [
                [-1.0, 3.0, -3.0, 0.0],
                [3.0, 0.0, -3.0, 2.0],
                [3.0, 3.0, 3.0, -1.0],
                [2.0, 3.0, 1.0, 3.0],
                [1.0, -2.0, 0.0, 1.0],
            ],
        ]
    )
    TWO_IDS = np.array([[0, 2, 3, 1, 1], [3, 1, 0, 2, 0]])
    TWO_MASKS = np.array([[False, False, True, True, True], [False, False, False, True, False]])

    def tensors(self, *arrays):
        import torch

        return [torch.from_numpy(array.copy()) for array in arrays]

    def loss(self, student, *arrays):
        return expect.tensor(student.summary_loss(*self.tensors(*arrays)))

    def test_by_hand(self, student):
        """The example by hand: (0.693 + 1.386) / 2 = 1.040."""
        logits, hint = np.log(self.PROBABILITIES), "Which row speaks of token 2, and how many tokens are counted?"
        with shown(hint, probabilities=self.PROBABILITIES, token_ids=self.IDS, loss_mask=self.MASK):
            same(self.loss(student, logits, self.IDS, self.MASK), np.array(1.0397), "the loss")

    def test_knows_nothing(self, student):
        """All three words equally likely, everywhere: log 3 = 1.099."""
        with shown("What is -log of one third, and what is the mean of that?", logits="zeros, (1, 4, 3)"):
            same(self.loss(student, np.zeros((1, 4, 3)), self.IDS, self.MASK), np.array(1.0986), "the loss")

    def test_two_texts(self, student):
        """Two texts, with three tokens that count and with one: each of the four has the same say."""
        given = {"logits": self.LOGITS, "token_ids": self.TWO_IDS, "loss_mask": self.TWO_MASKS}
        with shown("By how many tokens is the sum divided, and is it one mean or a mean of means?", **given):
            same(self.loss(student, *given.values()), np.array(2.3016), "the loss")

    def test_large_logits(self, student):
        """Logits a thousand times as large still give a finite loss."""
        given = {"logits": 1000 * self.LOGITS, "token_ids": self.TWO_IDS, "loss_mask": self.TWO_MASKS}
        with shown("What is the exp of 1000, and which function takes logits as they are?", **given):
            same(self.loss(student, *given.values()), np.array(1500.5493), "the loss")

    def test_gradient_and_dtype(self, student):
        """A gradient reaches the logits, float32 gives float32, and what went in is as before."""
        import torch

        given = self.tensors(self.LOGITS, self.TWO_IDS, self.TWO_MASKS)
        with shown("Which line lets go of a gradient, makes another dtype, or writes into what came in?"):
            seed = torch.tensor(2.0, dtype=torch.float64)
            arrives(student.summary_loss.gradients(*given, seeds=[seed]).inputs[:1], "logits")
            expect.dtype(student.summary_loss(*given), np.float64)
            keeps(student.summary_loss, *given, names="logits token_ids loss_mask")


@pytest.mark.exercise("next_token")
class TestNextToken:
    def token(self, student, model, ids):
        got = student.next_token(model, ids)
        if isinstance(got, bool) or not isinstance(got, int | np.integer):
            expect.fail(f"gave back {expect.kind_of(got)}, not an int.")
        return int(got)

    def test_counting(self, student):
        """The model counts: after [4, 7] comes 8."""
        with shown(
            "Which row of the picture above speaks of what follows the 7, and is the answer an int?", token_ids=[4, 7]
        ):
            equal(self.token(student, counting(), [4, 7]), 8, "the next token")

    def test_from_nine_to_zero(self, student):
        """After [3, 1, 9] comes 0."""
        with shown("The text has three tokens. How many rows of logits are there?", token_ids=[3, 1, 9]):
            equal(self.token(student, counting(), [3, 1, 9]), 0, "the next token")

    def test_adding(self, student):
        """A model that adds up all it reads: after [4, 7, 3] comes 4, though every logit is far below zero."""
        hint = "Does the model get to read every token, and is it the largest logit that you take?"
        with shown(hint, model=ADDING, token_ids=[4, 7, 3]):
            equal(self.token(student, adding(), [4, 7, 3]), 4, "the next token")

    def test_list_left_alone(self, student):
        """The list of ids is as before."""
        with shown("Which line makes a list longer, and is it a list of your own?", token_ids=[4, 7]):
            unchanged(student.next_token.inputs_after(counting(), [4, 7])[1], [4, 7], "token_ids")


@pytest.mark.exercise("greedy_summary")
class TestGreedySummary:
    def test_counting(self, student):
        """Article [4, 2], separator 5, end 9: the summary is [6, 7, 8]."""
        given = {"article_ids": [4, 2], "separator_id": 5, "end_id": 9, "max_new_tokens": 20}
        with shown("Compare it with the table: what is read, what is said, what is kept?", **given):
            equal(student.greedy_summary(counting(), *given.values()), [6, 7, 8], "the summary")

    def test_at_most_two(self, student):
        """The same with max_new_tokens=2: [6, 7]."""
        given = {"article_ids": [4, 2], "separator_id": 5, "end_id": 9, "max_new_tokens": 2}
        with shown("How often may your loop go round?", **given):
            equal(student.greedy_summary(counting(), *given.values()), [6, 7], "the summary")

    def test_nothing_to_say(self, student):
        """Article [3], separator 8, end 9: the first word would be the end, so the summary is empty."""
        given = {"article_ids": [3], "separator_id": 8, "end_id": 9, "max_new_tokens": 20}
        with shown("Is the end a word of the summary?", **given):
            equal(student.greedy_summary(counting(), *given.values()), [], "the summary")

    def test_adding(self, student):
        """A model that adds up all it reads says 1, 2, 4, 8, 6, and then 2 once more."""
        given = {"article_ids": [4, 2], "separator_id": 5, "end_id": 9, "max_new_tokens": 6}
        with shown(
            "Does the model read the article and every word so far, and may a word come twice?", model=ADDING, **given
        ):
            equal(student.greedy_summary(adding(), *given.values()), [1, 2, 4, 8, 6, 2], "the summary")

    def test_list_left_alone(self, student):
        """The article is as before."""
        with shown("Which line makes a list longer, and is it a list of your own?", article_ids=[4, 2]):
            unchanged(student.greedy_summary.inputs_after(counting(), [4, 2], 5, 9, 20)[1], [4, 2], "article_ids")


@pytest.mark.exercise("ablate")
class TestAblate:
    # Two layers of two heads of width two on d_model 3; the second digit is the column, counted from 1.
    W_O = np.array([[11.0, 12.0, 13.0, 14.0], [21.0, 22.0, 23.0, 24.0], [31.0, 32.0, 33.0, 34.0]])
    NAMES = ("blocks.0.attention.W_O.weight", "blocks.1.attention.W_O.weight", "blocks.1.attention.W_V.weight")

    def weights(self, dtype="float64"):
        import torch

        arrays = (self.W_O, self.W_O + 100, self.W_O.T + 200)
        return {n: torch.from_numpy(a.astype(dtype)) for n, a in zip(self.NAMES, arrays, strict=True)}

    def numbers(self, got):
        if not isinstance(got, dict):
            expect.fail(f"gave back {expect.kind_of(got)}, not a dict.")
        missing = [name for name in self.NAMES if name not in got]
        if missing:
            expect.fail(f"the dict has no {missing[0]}.")
        return {name: expect.tensor(value, what=name) for name, value in got.items()}

    def test_by_hand(self, student):
        """Layer 0, head 1 of two: the columns 2 and 3 are zero."""
        with shown("Which columns of W_O.weight are this head's?", layer=0, head=1, num_heads=2, W_O=self.W_O):
            got = self.numbers(student.ablate(self.weights(), 0, 1, 2))
            same(got[self.NAMES[0]], self.W_O * np.array([1, 1, 0, 0]), "the W_O of layer 0")

    def test_another_layer(self, student):
        """Layer 1, head 0 of two: its own columns, and nothing of layer 0."""
        with shown("Which name has the W_O of this layer?", layer=1, head=0, num_heads=2, W_O=self.W_O + 100):
            got = self.numbers(student.ablate(self.weights(), 1, 0, 2))
            same(got[self.NAMES[1]], (self.W_O + 100) * np.array([0, 0, 1, 1]), "the W_O of layer 1")
            same(got[self.NAMES[0]], self.W_O, "the W_O of layer 0")
            same(got[self.NAMES[2]], self.W_O.T + 200, "the W_V of layer 1")

    def test_four_heads(self, student):
        """Four heads of width one: of head 2, one column is zero."""
        with shown("How wide is one of four heads here?", layer=0, head=2, num_heads=4, W_O=self.W_O):
            got = self.numbers(student.ablate(self.weights(), 0, 2, 4))
            same(got[self.NAMES[0]], self.W_O * np.array([1, 1, 0, 1]), "the W_O of layer 0")

    def test_left_alone(self, student):
        """float32 gives float32, float64 gives float64, and the weights that came in are as before."""
        with shown("Which tensor do you write into, and whose is it?"):
            after = student.ablate.inputs_after(self.weights("float32"), 0, 1, 2)[0]
            for name, value in self.weights("float32").items():
                same(expect.tensor(after[name]), expect.tensor(value), f"{name} of what came in")
            for dtype in ("float32", "float64"):
                got = student.ablate(self.weights(dtype), 0, 1, 2)
                self.numbers(got)
                for name in self.NAMES:
                    expect.dtype(got[name], np.dtype(dtype).type, what=name)


@pytest.mark.exercise("next_word_probabilities")
class TestNextWordProbabilities:
    PLAIN = np.array([0.2, 0.4, 0.1, 0.3])  # the example by hand; its logits are the logarithms

    def logits(self, dtype="float64"):
        import torch

        return torch.from_numpy(np.log(self.PLAIN).astype(dtype))

    def judge(self, student, wanted, question, *case):
        names = ("temperature", "top_k", "top_p")
        with shown(question, **{"exp(logits)": self.PLAIN}, **dict(zip(names, case, strict=False))):
            same(expect.tensor(student.next_word_probabilities(self.logits(), *case)), wanted)

    def test_as_they_are(self, student):
        """Nothing asked for: the softmax of the logits."""
        self.judge(student, self.PLAIN, "Which function makes probabilities of logits?")

    def test_temperature(self, student):
        """Temperature 0.5: the likeliest gets likelier."""
        question = "0.4 is twice 0.2. At temperature 0.5, how many times as likely is it?"
        self.judge(student, [0.1333, 0.5333, 0.0333, 0.3], question, 0.5)

    def test_top_k(self, student):
        """top_k 2: the likeliest two, who had 0.4 and 0.3, share everything; with top_k 1 it is one."""
        self.judge(student, [0.0, 0.5714, 0.0, 0.4286], "What do the two that are left sum to?", 1.0, 2)
        self.judge(student, [0.0, 1.0, 0.0, 0.0], "Which word is left, and how likely is it now?", 1.0, 1)

    def test_top_p(self, student):
        """top_p 0.6: 0.4 is not enough, 0.4 + 0.3 is. With 0.75 it takes three words, with 0.3 one."""
        question = "Add up from the likeliest word on: with which word is top_p reached?"
        self.judge(student, [0.0, 0.5714, 0.0, 0.4286], question, 1.0, None, 0.6)
        self.judge(student, [0.2222, 0.4444, 0.0, 0.3333], question, 1.0, None, 0.75)
        self.judge(student, [0.0, 1.0, 0.0, 0.0], question, 1.0, None, 0.3)

    def test_together(self, student):
        """top_k 3 leaves 0.44, 0.33 and 0.22. For top_p 0.75 two of them will do."""
        question = "top_k has thrown words out before. What do the rest add up to, when top_p looks at them?"
        self.judge(student, [0.0, 0.5714, 0.0, 0.4286], question, 1.0, 3, 0.75)
        question = "At temperature 2 the roots count. Is that done before the others are cut off, or after?"
        self.judge(student, [0.2748, 0.3886, 0.0, 0.3366], question, 2.0, None, 0.65)

    def test_large_logits(self, student):
        """Logits around 1000: it is their differences that count."""
        import torch

        logits = torch.tensor([1000.0, 1002.0, 0.0, 1001.0])
        with shown("What is e to the power of 1000, for a computer? Which softmax takes care?", logits=logits.numpy()):
            same(expect.tensor(student.next_word_probabilities(logits)), [0.09, 0.6652, 0.0, 0.2447])

    def test_left_alone(self, student):
        """float32 gives float32, float64 gives float64, and the logits are as before."""
        with shown("Is it a tensor of your own that you write into, and of which dtype?"):
            for dtype in ("float32", "float64"):
                got = student.next_word_probabilities(self.logits(dtype), 0.5, 3, 0.75)
                expect.dtype(expect.tensor(got), np.dtype(dtype).type)
            logits = self.logits("float32")
            after = student.next_word_probabilities.inputs_after(logits, 0.5, 3, 0.75)[0]
            same(expect.tensor(after), np.log(self.PLAIN), "the logits")


# Three texts of three words ask, three memories of four places answer, in two heads: no two sizes are alike.
ASKING = {
    "x": np.array(
        [
            [[2.0, -1.0, 0.0, -1.0, -1.0], [-1.0, -2.0, 0.0, 0.0, 0.0], [-2.0, -2.0, 1.0, 1.0, 0.0]],
            [[2.0, 1.0, -1.0, -2.0, 2.0], [1.0, 0.0, -1.0, 2.0, 0.0], [2.0, 2.0, 2.0, 2.0, -2.0]],
            [[-1.0, 1.0, 2.0, -2.0, 0.0], [-1.0, -2.0, 0.0, 0.0, 1.0], [0.0, -1.0, 0.0, 0.0, 1.0]],
        ]
    ),
    "memory": np.array(
        [
            [
                [-2.0, 2.0, -1.0, 1.0, -2.0, 0.0, -2.0],
                [2.0, -1.0, 1.0, -1.0, 2.0, 1.0, -1.0],
                [2.0, 1.0, 1.0, 0.0, 2.0, 1.0, 2.0],
                [1.0, -2.0, 0.0, 2.0, -2.0, -1.0, -1.0],
            ],
            [
                [-1.0, 1.0, 2.0, 0.0, -1.0, 0.0, 1.0],
                [0.0, -1.0, 1.0, 0.0, 2.0, -2.0, 1.0],
                [-1.0, -1.0, -1.0, -1.0, 0.0, 2.0, 2.0],
                [-1.0, 0.0, 2.0, 0.0, 2.0, 0.0, 1.0],
            ],
            [
                [2.0, -1.0, 1.0, 1.0, -2.0, 0.0, 1.0],
                [2.0, 1.0, -2.0, -1.0, -2.0, -2.0, 2.0],
                [0.0, 0.0, 2.0, -2.0, -1.0, -2.0, 1.0],
                [-1.0, -2.0, 0.0, -1.0, 1.0, 2.0, -1.0],
            ],
        ]
    ),
    "W_Q": np.array(
        [
            [0.0, -0.5, -0.5, 0.0, 0.0, 0.5, -0.5, 0.0],
            [0.0, 0.0, 0.0, 0.0, 0.0, -0.5, 0.0, 0.5],
            [0.0, -0.5, 0.0, 0.5, 0.5, -0.5, -0.5, 0.5],
            [0.5, 0.0, 0.5, 0.0, 0.5, -0.5, -0.5, -0.5],
            [0.0, 0.0, 0.0, 0.0, -0.5, 0.0, 0.5, 0.0],
        ]
    ),
    "W_K": np.array(
        [
            [0.0, 0.0, 0.5, 0.0, 0.0, 0.0, 0.5, 0.0],
            [0.5, 0.0, -0.5, 0.5, 0.5, -0.5, 0.5, 0.5],
            [0.0, 0.5, 0.5, 0.5, 0.5, -0.5, 0.5, -0.5],
            [0.0, -0.5, 0.5, -0.5, 0.0, 0.0, -0.5, 0.5],
            [-0.5, 0.0, 0.0, 0.5, 0.0, 0.0, -0.5, 0.0],
            [-0.5, 0.5, -0.5, -0.5, 0.5, 0.0, 0.0, 0.5],
            [-0.5, -0.5, 0.0, 0.5, 0.0, 0.5, -0.5, 0.0],
        ]
    ),
    "W_V": np.array(
        [
            [1.0, 1.0, 0.0, 1.0, -1.0, 1.0],
            [-1.0, 1.0, -1.0, 1.0, 1.0, -1.0],
            [1.0, -1.0, 1.0, 0.0, -1.0, -1.0],
            [-1.0, 1.0, 1.0, 1.0, 0.0, -1.0],
            [1.0, 1.0, 0.0, 1.0, 1.0, 0.0],
            [-1.0, 1.0, 1.0, -1.0, -1.0, 1.0],
            [1.0, -1.0, 1.0, -1.0, 0.0, 0.0],
        ]
    ),
    "W_O": np.array(
        [
            [0.0, 1.0, 1.0, 1.0, 1.0],
            [1.0, -1.0, 1.0, 1.0, -1.0],
            [1.0, -1.0, -1.0, 1.0, 0.0],
            [0.0, -1.0, 1.0, 0.0, 1.0],
            [1.0, -1.0, 0.0, -1.0, 1.0],
            [-1.0, -1.0, 1.0, 1.0, 1.0],
        ]
    ),
}
ANSWERED_WEIGHTS = np.array(
    [
        [[0.5819, 0.0695, 0.3114, 0.0372], [0.1102, 0.3845, 0.2058, 0.2995], [0.0314, 0.2976, 0.1805, 0.4906]],
        [[0.0429, 0.1167, 0.3173, 0.5231], [0.0733, 0.422, 0.1759, 0.3287], [0.1713, 0.4655, 0.2823, 0.0809]],
    ]
)
ANSWERED = np.array(
    [
        [
            [-2.2232, -4.3867, 1.6138, 0.3123, -6.805],
            [-1.2553, -1.9335, 5.251, 8.5103, 0.4906],
            [-0.2471, -2.8336, 4.1047, 7.2351, 2.2983],
        ],
        [
            [-1.5582, 1.8382, -7.2906, 3.5499, -0.5107],
            [1.5581, 4.5194, -4.3899, -1.4589, 5.0748],
            [0.5233, 9.3246, -2.502, 1.4608, 5.5659],
        ],
        [
            [-8.9851, 9.5392, 0.7711, 2.4277, 5.6194],
            [-2.967, 8.1737, -3.7777, 1.3858, 2.5199],
            [-4.7837, 7.5157, -1.565, 1.7837, 3.2343],
        ],
    ]
)
# Of the first memory the last place is padding, of the second one the first, of the third all.
REAL = np.array([[[True, True, True, False]], [[False, True, True, True]], [[False, False, False, False]]])
REAL_WEIGHTS = np.array(
    [
        [
            [[0.6043, 0.0722, 0.3235, 0.0], [0.1573, 0.5489, 0.2938, 0.0], [0.0616, 0.5841, 0.3543, 0.0]],
            [[0.09, 0.2447, 0.6652, 0.0], [0.1092, 0.6287, 0.2621, 0.0], [0.1863, 0.5065, 0.3072, 0.0]],
        ],
        [
            [[0.0, 0.0051, 0.9747, 0.0202], [0.0, 0.5254, 0.1933, 0.2813], [0.0, 0.8247, 0.032, 0.1433]],
            [[0.0, 0.2408, 0.7417, 0.0174], [0.0, 0.5378, 0.136, 0.3262], [0.0, 0.0229, 0.2176, 0.7595]],
        ],
    ]
)
REAL_ANSWERED = np.array(
    [
        [
            [-1.3925, -7.1507, 2.8993, -0.6308, -4.3961],
            [-0.5161, -3.4132, 8.913, 10.4452, 2.2084],
            [1.4837, -2.3965, 9.0157, 11.2712, 3.2719],
        ],
        [
            [-1.6911, 1.6523, -7.1557, 3.7771, -0.3984],
            [2.1998, 5.5002, -1.058, 1.4506, 7.2079],
            [0.5675, 10.1638, -0.7603, 2.8304, 6.8275],
        ],
        [[0.0, 0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0, 0.0]],
    ]
)
# The first text ten thousand times as large.
SURE = np.array(
    [
        [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]],
        [[0.0, 0.0, 1.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]],
    ]
)


@pytest.mark.exercise("cross_attention")
class TestCrossAttention:
    # The example by hand: one head of d_k = 4, two words that ask, three that answer.
    EYE, NARROW = np.eye(2), np.eye(2, 4)
    MEMORY = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    BY_HAND = {"x": 2 * EYE, "memory": MEMORY, "W_Q": NARROW, "W_K": NARROW, "W_V": 10 * EYE, "W_O": EYE}

    def tensors(self, given, *more):
        import torch

        return [torch.from_numpy(array.copy()) for array in given.values()], *map(torch.from_numpy, more)

    def attend(self, student, given, num_heads, *padding):
        arguments, *more = self.tensors(given, *padding)
        output, weights = expect.pair(student.cross_attention(*arguments, num_heads, *more))
        return expect.tensor(output, what="output"), expect.tensor(weights, what="weights")

    def of(self, text, x=1.0):
        """One of the three texts with its memory, the text so many times as large."""
        return ASKING | {"x": x * ASKING["x"][text], "memory": ASKING["memory"][text]}

    def test_weights(self, student):
        """The example by hand: a row for each of the two words that ask, a column for each of the three that answer."""
        with shown("Which text do the queries come from, and which one the keys?", **self.BY_HAND, num_heads=1):
            weights = self.attend(student, self.BY_HAND, 1)[1]
            same(weights, [[[0.4223, 0.1554, 0.4223], [0.1554, 0.4223, 0.4223]]], "weights")

    def test_output(self, student):
        """The example by hand: the first word gets (8.4, 5.8), the second (5.8, 8.4)."""
        with shown("Whose values are blended, and with which weights?", **self.BY_HAND, num_heads=1):
            same(self.attend(student, self.BY_HAND, 1)[0], [[8.4464, 5.7768], [5.7768, 8.4464]], "output")

    def test_padding_by_hand(self, student):
        """The example by hand, with the third word of memory as padding."""
        real = np.array([[True, True, False]])
        with shown("Who shares in the sum of a row?", **self.BY_HAND, num_heads=1, memory_padding=real):
            output, weights = self.attend(student, self.BY_HAND, 1, real)
            same(weights, [[[0.7311, 0.2689, 0.0], [0.2689, 0.7311, 0.0]]], "weights")
            same(output, [[7.3106, 2.6894], [2.6894, 7.3106]], "output")

    def test_one_text(self, student):
        """No batch axis: three words of width 5, four of width 7, two heads with d_k = 4 and d_v = 3."""
        given = self.of(0)
        with shown("Write a shape beside each line: where is an L, and where an S?", **given, num_heads=2):
            output, weights = self.attend(student, given, 2)
            same(weights, ANSWERED_WEIGHTS, "weights")
            same(output, ANSWERED[0], "output")

    def test_batch(self, student):
        """Three texts at once: each asks its own memory, and gets what it gets alone."""
        with shown("Do you count axes from the end?", **ASKING, num_heads=2):
            output, weights = self.attend(student, ASKING, 2)
            expect.shape(weights, (3, 2, 3, 4), what="weights")
            same(output, ANSWERED, "output")

    def test_two_batch_axes(self, student):
        """Two batch axes, (1, 3): the same numbers."""
        lifted = ASKING | {"x": ASKING["x"][np.newaxis], "memory": ASKING["memory"][np.newaxis]}
        with shown("How many axes may stand before (L, d_model), and where does padding get one for the heads?"):
            same(self.attend(student, lifted, 2, REAL[np.newaxis])[0], REAL_ANSWERED[np.newaxis], "output")

    def test_padding(self, student):
        """Each memory has padding of its own; the third is nothing else, and its text gets weights and output 0."""
        question = "Which axis of the weights belongs to memory? And what does a softmax over nothing divide by?"
        with shown(question, **ASKING, num_heads=2, memory_padding=REAL):
            output, weights = self.attend(student, ASKING, 2, REAL)
            same(weights[:2], REAL_WEIGHTS, "weights of the first two texts")
            same(weights[2], np.zeros((2, 3, 4)), "weights of the third text")
            same(output, REAL_ANSWERED, "output")

    def test_large_scores(self, student):
        """A text ten thousand times as large still gives finite weights, and no padding gets any."""
        given = self.of(0, x=1e4)
        question = "What is the exp of 1000, and what does a hidden score become?"
        with shown(question, **given, num_heads=2, memory_padding=REAL[0]):
            same(self.attend(student, given, 2, REAL[0])[1], SURE, "weights")

    def test_gradients_and_what_came_in(self, student):
        """Gradients reach both texts and the matrices; float32 gives float32, and what came in is as before."""
        import torch

        arguments, real = self.tensors(ASKING, REAL)
        names = "x memory W_Q W_K W_V W_O"
        with shown("Which line lets go of a gradient, makes another dtype, or writes into what came in?"):
            of_output, of_weights = torch.from_numpy(ANSWERED), torch.from_numpy(np.stack([ANSWERED_WEIGHTS] * 3))
            for seeds, count in (([of_output, None], 6), ([None, of_weights], 4)):
                got = student.cross_attention.gradients(*arguments, 2, seeds=seeds)
                arrives(got.inputs[:count], " ".join(names.split()[:count]))
            keeps(student.cross_attention, *arguments, 2, real, names=f"{names} num_heads memory_padding")
            for part in student.cross_attention(*arguments, 2, real):
                expect.dtype(part, np.float64)
