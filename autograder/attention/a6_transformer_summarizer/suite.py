"""Hidden suite of a6: training example, masked loss, next token, greedy decoding, ablation, sampling, cross-attention.

The models are small and made here (`models.py`); training is never part of it. Sizes differ: B = 3, L = 11, V = 7. A
test's weight is its points: they add up to those of the cell.
"""

import math

import numpy as np
import pytest

from autograder.attention.hidden.inputs import normal, tensor
from autograder.attention.hidden.models import Reader, Storyteller
from autograder.attention.hidden.properties import gradients_match, responds, same_item_by_item
from autograder.suites import expect

ATOL = 1e-4  # honest float32 work is within 3e-6 of the float64 reference, the mildest known mistake 0.01 away
EXACT = 1e-6  # what must not count has no share at all; float32 may sum in another order
LARGE = 1e4  # exp(1e4) overflows even float64
LOUD = 300.0  # put where it must not count


def number(got):
    """`got` as a whole number, for tests that judge its value and not its type."""
    if hasattr(got, "detach"):
        got = got.detach().numpy()
    if isinstance(got, np.ndarray) and got.size == 1:
        got = got.reshape(())[()]
    if isinstance(got, float | np.floating) and float(got).is_integer():
        got = int(got)
    if isinstance(got, bool | np.bool_) or not isinstance(got, int | np.integer):
        expect.fail(f"gave back {expect.kind_of(got)}, where a token id belongs.", "An id is one whole number.")
    return int(got)


def sequence(got, what):
    """`got` as a list, for tests that judge its values and not its type."""
    if hasattr(got, "detach"):
        got = got.detach().numpy()
    if isinstance(got, np.ndarray) and got.ndim == 1:
        got = got.tolist()
    if not isinstance(got, list | tuple):
        expect.fail(f"{what}: this is {expect.kind_of(got)}, where a list belongs.")
    return list(got)


def same_list(got, wanted, hint, what):
    """Length, then place by place. The length of the right answer is no secret where it follows from the arguments."""
    if len(got) != len(wanted):
        expect.fail(f"{what} has {len(got)} entries; that is not right.", hint)
    for place, (one, right) in enumerate(zip(got, wanted, strict=True)):
        if one != right:
            expect.fail(f"{what}[{place}] is {one}, which is not right.", hint)


# ---------------------------------------------------------------- training_example


@pytest.mark.exercise("training_example")
class TestTrainingExample:
    ARTICLE, SUMMARY = [14, 31, 8, 27, 19], [40, 12, 33]  # no word in common; a test of its own has some
    MARKS = (3, 5)  # separator, end

    def both(self, student, *args, **kwargs):
        """Token ids and mask as lists of whatever they hold."""
        ids, mask = expect.pair(student.training_example(*args, **kwargs), "(token_ids, loss_mask)")
        return sequence(ids, "token_ids"), sequence(mask, "loss_mask")

    def ids(self, student, *args, **kwargs):
        """The token ids."""
        return [number(i) for i in self.both(student, *args, **kwargs)[0]]

    def mask(self, student, *args, **kwargs):
        """The mask."""
        return [self.flag(m) for m in self.both(student, *args, **kwargs)[1]]

    def example(self, student, *args, **kwargs):
        """Both."""
        ids, mask = self.both(student, *args, **kwargs)
        return [number(i) for i in ids], [self.flag(m) for m in mask]

    def flag(self, got):
        """True or False; 1 and 0 will do here."""
        if hasattr(got, "detach") or isinstance(got, np.ndarray):
            got = got.item() if hasattr(got, "item") and np.size(got) == 1 else got
        if not isinstance(got, bool | np.bool_ | int | np.integer | float | np.floating):
            expect.fail(f"loss_mask holds {expect.kind_of(got)}.", "Each entry is True or False.")
        return bool(got)

    def looks_like_an_example(self, student):
        """Other articles and summaries give other ids, and a longer summary another mask."""
        first = self.example(student, self.ARTICLE, self.SUMMARY, *self.MARKS)
        if first != self.example(student, self.ARTICLE, self.SUMMARY, *self.MARKS):
            expect.fail("the same arguments give another result each time.")
        longer = self.example(student, [14, 31, 9, 27, 19, 2, 7], [40, 13, 33, 36], *self.MARKS)
        if first[0] == longer[0] or first[1] == longer[1] or not any(first[1]):
            expect.fail("the result does not depend on article and summary.", "Is every argument used?")
        return first

    @pytest.mark.weight(0.2)
    def test_form(self, student):
        """A tuple of two: the token ids, and a mask with one entry for each of them."""
        ids, mask = self.both(student, self.ARTICLE, self.SUMMARY, *self.MARKS)
        if len(ids) != len(mask):
            expect.fail(f"{len(ids)} token ids and {len(mask)} mask entries.", "Does each token have its entry?")

    @pytest.mark.weight(0.97)
    def test_token_ids(self, student, reference):
        """Article, separator, summary, end, one after the other."""
        hint = "Write the words down in order. What stands between article and summary, and what comes last?"
        for args in (
            (self.ARTICLE, self.SUMMARY, 3, 5),
            ([6, 6, 9], [22, 17, 30, 11, 28], 1, 0),
            (list(range(20, 33)), [44, 2], 9, 7),
            ([], [9, 4], 3, 5),
            ([7, 8], [], 3, 5),
        ):
            wanted, _ = reference.training_example(*args)
            same_list(self.ids(student, *args), wanted, hint, "token_ids")

    @pytest.mark.weight(1.08)
    def test_loss_mask(self, student, reference):
        """The loss counts the summary and its end, and nothing before."""
        hint = "Which tokens do we want the model to learn to write itself?"
        for args in (
            (self.ARTICLE, self.SUMMARY, 3, 5),
            ([6, 6, 9], [22, 17, 30, 11, 28], 1, 0),
            (list(range(20, 33)), [44, 2], 9, 7),
            ([], [9, 4], 3, 5),
            ([7, 8], [], 3, 5),
        ):
            _, wanted = reference.training_example(*args)
            same_list(self.mask(student, *args), wanted, hint, "loss_mask")

    @pytest.mark.weight(0.35)
    def test_words_in_common(self, student):
        """Where article and summary share words, each place is still judged by where it stands."""
        self.looks_like_an_example(student)
        _, apart = self.example(student, self.ARTICLE, self.SUMMARY, *self.MARKS)
        _, common = self.example(student, [40, 31, 12, 12, 19], [12, 40, 12], *self.MARKS)
        hint = "Is a place counted for where it stands, or for which word is there?"
        same_list(common, apart, hint, "loss_mask")

    @pytest.mark.weight(0.2)
    def test_lists(self, student):
        """Two plain lists: one of ints, one of True and False."""
        self.looks_like_an_example(student)
        ids, mask = student.training_example(self.ARTICLE, self.SUMMARY, *self.MARKS)
        for name, got in (("token_ids", ids), ("loss_mask", mask)):
            if not isinstance(got, list):
                expect.fail(f"{name} is {expect.kind_of(got)}, not a list.")
        if not all(isinstance(i, int | np.integer) and not isinstance(i, bool) for i in ids):
            expect.fail("token_ids holds something that is no int.")
        if not all(isinstance(m, bool | np.bool_) for m in mask):
            hint = "As a mask, what do tensors of 0 and 1 do that tensors of False and True do not?"
            expect.fail("loss_mask holds something that is neither True nor False.", hint)

    @pytest.mark.weight(0.2)
    def test_arguments(self, student):
        """The lists that came in are as before; arguments may come by keyword."""
        by_place = self.looks_like_an_example(student)
        after = student.training_example.inputs_after(list(self.ARTICLE), list(self.SUMMARY), *self.MARKS)
        for name, now, then in zip(("article_ids", "summary_ids"), after, (self.ARTICLE, self.SUMMARY), strict=False):
            if now != then:
                expect.fail(f"{name} holds other values after the call than before.", "Whose list does append change?")
        by_name = self.example(
            student, end_id=5, separator_id=3, summary_ids=list(self.SUMMARY), article_ids=list(self.ARTICLE)
        )
        if by_name != by_place:
            expect.fail("gave back something else than with the same arguments by position.")


# ---------------------------------------------------------------- summary_loss

B, L, V = 3, 11, 7
# Articles of 3, 4 and 2 words, then a separator, then 3, 6 and 5 counted tokens; the rest is filling.
COUNTED = np.zeros((B, L), dtype=bool)
for row, (start, stop) in enumerate(((4, 7), (5, 11), (3, 8))):
    COUNTED[row, start:stop] = True


def batch_of(seed, dtype=np.float64):
    """Logits (B, L, V), token ids (B, L), mask (B, L): no two neighbours alike."""
    random = np.random.default_rng(seed + 500)
    steps = random.integers(1, V, size=(B, L))
    return tensor(1.5 * normal(seed, B, L, V, dtype=dtype)), tensor(steps.cumsum(1) % V), tensor(COUNTED.copy())


@pytest.mark.exercise("summary_loss")
class TestSummaryLoss:
    def loss(self, student, *args, **kwargs):
        """The loss as an array; a plain number will do here."""
        got = student.summary_loss(*args, **kwargs)
        if not hasattr(got, "detach") and not isinstance(got, int | float | np.generic | np.ndarray):
            expect.fail(f"gave back {expect.kind_of(got)}, where a loss belongs.")
        return np.asarray(expect.numbers(got))

    def looks_like_a_loss(self, student):
        """It hangs on logits, ids and mask; the ordinary batch."""
        batch = batch_of(1)
        other_mask = COUNTED.copy()
        other_mask[0, 6:9] = [False, True, True]
        responds(
            lambda *args: self.loss(student, *args),
            batch,
            [batch_of(2)[0], batch_of(2)[1], tensor(other_mask)],
            ("logits", "token_ids", "loss_mask"),
        )
        return batch

    @pytest.mark.weight(0.2)
    def test_shape(self, student):
        """One number: a tensor without axes."""
        got = student.summary_loss(*batch_of(1))
        expect.shape(expect.tensor(got), (), "How do many losses become one number?")

    @pytest.mark.weight(2.1)
    def test_values(self, student, reference):
        """The mean cross-entropy of the next token, over the tokens that the mask counts."""
        hint = "Take one counted token: at which place are the logits that predict it, and what does it cost alone?"
        logits, ids, mask = batch_of(11)
        mask[:] = False
        mask[1, 6] = True
        wanted = reference.summary_loss(logits, ids, mask)
        if expect.holds(lambda: expect.close(self.loss(student, logits, ids, mask), wanted, atol=ATOL)):
            hint = "With one counted token alone your loss is right. With more: what is summed, and divided by what?"
        for seed in (11, 12):
            batch = batch_of(seed)
            expect.close(self.loss(student, *batch), reference.summary_loss(*batch), hint, "the loss", ATOL)

    @pytest.mark.weight(0.35)
    def test_only_what_counts(self, student):
        """Logits that predict no counted token have no influence."""
        logits, ids, mask = self.looks_like_a_loss(student)
        plain = self.loss(student, logits, ids, mask)
        moved = logits.clone()
        predicts = np.zeros((B, L), dtype=bool)
        predicts[:, :-1] = COUNTED[:, 1:]
        moved[tensor(~predicts)] = LOUD * tensor(normal(21, int((~predicts).sum()), V))
        hint = "Which place predicts the first word of the summary, and which one predicts the end?"
        expect.close(self.loss(student, moved, ids, mask), plain, hint, "the loss", EXACT)

    @pytest.mark.weight(0.35)
    def test_every_token_counts_the_same(self, student):
        """A mean over all counted tokens of the batch: a text with six of them has twice the say of one with three."""
        logits, ids, mask = self.looks_like_a_loss(student)
        rows = [[0], [1], [2]]
        alone = [float(self.loss(student, logits[r], ids[r], mask[r]).sum()) for r in rows]
        wanted = np.average(alone, weights=COUNTED.sum(1))
        got = self.loss(student, logits, ids, mask)
        expect.shape(got, ())
        hint = "One text has 3 counted tokens, another has 6. What is the sum divided by?"
        expect.close(got, wanted, hint, "the loss", ATOL)

    @pytest.mark.weight(0.35)
    def test_gradients(self, student):
        """Gradients reach the logits, so that a model can learn."""
        logits, ids, mask = self.looks_like_a_loss(student)
        shape = self.loss(student, logits, ids, mask).shape
        seeds = [tensor(np.full(shape, 1.3))]
        hint = "Is there an .item(), .detach() or torch.no_grad() on the way?"
        gradients_match(student.summary_loss, [logits, ids, mask], seeds, hint, ["logits"])

    @pytest.mark.weight(0.2)
    def test_large_logits(self, student):
        """Logits of 10,000 still give a finite loss, and twice as large ones twice the loss."""
        logits, ids, mask = self.looks_like_a_loss(student)
        hint = "Where is an exp without something subtracted first, or the log of a number that has become 0?"
        once, twice = (self.loss(student, size * logits, ids, mask) for size in (LARGE, 2 * LARGE))
        expect.finite(once, hint, "the loss")
        # So far apart, each word costs what its logit lacks to the largest.
        atol = 1e-3 * max(1.0, float(np.abs(once).max()))
        expect.close(twice / 2, once, "Is a probability kept from becoming 0?", "half the loss", atol)

    @pytest.mark.weight(0.2)
    def test_dtype(self, student):
        """float32 logits give a float32 loss, float64 a float64 one."""
        logits, ids, mask = self.looks_like_a_loss(student)
        for dtype in (np.float32, np.float64):
            got = student.summary_loss(tensor(logits.numpy().astype(dtype)), ids, mask)
            expect.dtype(got, dtype, "Is a tensor made on the way, and of which dtype?", "the loss")

    @pytest.mark.weight(0.25)
    def test_arguments(self, student):
        """Arguments may come by keyword and with any layout in memory, and are not changed."""
        logits, ids, mask = self.looks_like_a_loss(student)
        turned = tensor(np.ascontiguousarray(logits.numpy().transpose(2, 1, 0)).transpose(2, 1, 0))
        plain = self.loss(student, logits, ids, mask)
        hint = "Is memory read in the order of the axes? reshape can do what view cannot."
        by_name = self.loss(student, loss_mask=mask, logits=turned, token_ids=ids)
        expect.close(by_name, plain, hint, "the loss", EXACT)
        given = [logits, ids, mask]
        after = student.summary_loss.inputs_after(*(g.clone() for g in given))
        expect.unchanged(after, given, ["logits", "token_ids", "loss_mask"], "Look for functions that end in _.")


# ---------------------------------------------------------------- next_token


def texts(seed, *lengths, vocab_size=23):
    """Token ids, one list for each length."""
    random = np.random.default_rng(seed)
    return [random.integers(0, vocab_size, size=length).tolist() for length in lengths]


# Kept for as long as the suite is, so that a diagnosis can ask the same model again.
MODEL, OTHER, SOBER = Reader(31), Reader(32), Reader(33, lift=-400.0)
TEXTS = texts(34, 4, 7, 5, 9, 6, 8, 5, 10)


@pytest.mark.exercise("next_token")
class TestNextToken:
    def ids(self, student, model=MODEL, some=TEXTS):
        """The answers to all texts, first asked, then judged: together they say what happens."""
        got = [student.next_token(model, list(text)) for text in some]
        return [number(one) for one in got]

    def compare(self, student, reference, model, some, hint):
        """The student's answers are the reference's."""
        for text, one, right in zip(
            some, self.ids(student, model, some), self.ids(reference, model, some), strict=True
        ):
            if one != right:
                student.next_token(model, list(text))  # once more, so that it is the call that the message speaks of
                expect.fail(f"it is {one}, which is not right.", hint)

    def looks_like_a_prediction(self, student):
        """Other texts and another model get other tokens; the same ones the same. The answers to the first four."""
        some = TEXTS[:4]
        first = self.ids(student, some=some)
        if first != self.ids(student, some=some):
            expect.fail("the same arguments give another token each time.", "Which word is the likeliest?")
        if len(set(first)) == 1 or self.ids(student, OTHER, some) == first:
            expect.fail("the answer does not depend on model and text.", "Is the model asked?")
        return first

    @pytest.mark.weight(0.15)
    def test_form(self, student):
        """One token id from the vocabulary."""
        for got in self.ids(student):
            if not 0 <= got < 23:
                expect.fail(f"gave back {got}; the vocabulary has the ids 0 to 22.", "Which axis is the argmax over?")

    @pytest.mark.weight(1.05)
    def test_likeliest(self, student, reference):
        """The token with the largest logit after the whole text."""
        hint = "The model gives logits at every place. At which place do they speak of the token after the text?"
        self.compare(student, reference, MODEL, TEXTS, hint)

    @pytest.mark.weight(0.1)
    def test_one_word(self, student, reference):
        """A text of one token, too."""
        self.looks_like_a_prediction(student)
        hint = "Is an axis of length one dropped, or a place counted that is not there?"
        self.compare(student, reference, MODEL, [[4], [11], [20], [2]], hint)

    @pytest.mark.weight(0.1)
    def test_long_text(self, student):
        """A text of fifty words is read from its first one."""
        self.looks_like_a_prediction(student)
        long = texts(35, *[50] * 6)
        others = [[*other[:12], *text[12:]] for text, other in zip(long, texts(36, *[50] * 6), strict=True)]
        if self.ids(student, some=long) == self.ids(student, some=others):
            expect.fail("of a long text only the last words have a say.", "What does the model get to read?")

    @pytest.mark.weight(0.15)
    def test_lifted_logits(self, student):
        """Logits may all be far below zero; only their order matters."""
        self.looks_like_a_prediction(student)
        hint = "What becomes of the order of logits that are all around -400?"
        sober, lifted = self.ids(student, SOBER), self.ids(student, Reader(33))
        if sober != lifted:
            expect.fail("the answer changes where all logits are lower by 400.", hint)

    @pytest.mark.weight(0.2)
    def test_plain_int(self, student):
        """The answer is a Python int, ready to be appended to a list of ids."""
        self.looks_like_a_prediction(student)
        got = student.next_token(MODEL, list(TEXTS[0]))
        if isinstance(got, bool) or not isinstance(got, int | np.integer):
            expect.fail(f"gave back {expect.kind_of(got)}, not an int.", "How do you get the number out of a tensor?")

    @pytest.mark.weight(0.1)
    def test_text_unchanged(self, student):
        """The list of ids is as before."""
        self.looks_like_a_prediction(student)
        after = student.next_token.inputs_after(MODEL, list(TEXTS[1]))
        if len(after) > 1 and after[1] != TEXTS[1]:
            expect.fail("token_ids holds other values after the call than before.", "Whose list does append change?")

    @pytest.mark.weight(0.15)
    def test_keywords(self, student):
        """The arguments may come by keyword."""
        plain = self.looks_like_a_prediction(student)
        if number(student.next_token(token_ids=list(TEXTS[2]), model=MODEL)) != plain[2]:
            expect.fail("gave back something else than with the same arguments by position.")


# ---------------------------------------------------------------- greedy_summary

SEPARATOR, END, MOST = 21, 22, 12
ARTICLES = texts(41, 5, 8, 4, 6, 7, vocab_size=21)
# Each tells a summary of another length that hangs on the whole text. The long one says a word three times over.
TELLERS = [Storyteller(*told, SEPARATOR, END) for told in ((50, 4), (51, 6), (52, 3), (84, 9), (54, 2))]
LONG, SHORT, SILENT = (Storyteller(60, length, SEPARATOR, END) for length in (9, 3, 0))
# Of the numbers up to 256 Python keeps one object each, so that `is` looks like `==` there.
LARGE_IDS = (290, 298)  # separator, end
LARGE_TELLER = Storyteller(63, 4, *LARGE_IDS, vocab_size=299)


@pytest.mark.exercise("greedy_summary")
class TestGreedySummary:
    def summary(self, student, model, article, most=MOST, **kwargs):
        """The ids as a list."""
        got = student.greedy_summary(model, list(article), SEPARATOR, END, most, **kwargs)
        return [number(one) for one in sequence(got, "the summary")]

    def looks_like_a_summary(self, student):
        """The same article gets the same summary, another one of another model another; that of the first article.

        Whether both have a say is for the tests of values; but an article handed on is no summary.
        """
        first, again = (self.summary(student, TELLERS[0], ARTICLES[0]) for _ in range(2))
        if first != again:
            expect.fail("the same arguments give another summary each time.", "Which word is the likeliest?")
        handed_on = set(first) <= set(ARTICLES[0]) and first == self.summary(student, TELLERS[1], ARTICLES[0])
        if handed_on or all(first == self.summary(student, TELLERS[i], ARTICLES[i]) for i in range(1, len(TELLERS))):
            expect.fail("the summary does not depend on model and article.", "Is the model asked, word by word?")
        return first

    @pytest.mark.weight(0.2)
    def test_form(self, student):
        """A list with at least one token in it."""
        got = student.greedy_summary(TELLERS[0], list(ARTICLES[0]), SEPARATOR, END, MOST)
        if not sequence(got, "the summary"):
            expect.fail("gave back an empty list, and the model has something to say.", "What does it say first?")

    @pytest.mark.weight(1.35)
    def test_summaries(self, student, reference):
        """Word by word the likeliest, each after all that stands there already, until the model says: end."""
        hint = "What does the model read when it writes the second word?"
        got = [self.summary(student, *pair) for pair in zip(TELLERS, ARTICLES, strict=True)]
        wanted = [self.summary(reference, *pair) for pair in zip(TELLERS, ARTICLES, strict=True)]
        for pair, one, right in zip(zip(TELLERS, ARTICLES, strict=True), got, wanted, strict=True):
            if one != right:
                self.summary(student, *pair)  # once more, so that it is the call that the message speaks of
            if one and len(one) < len(right) and one == right[: len(one)]:
                words = f"{len(one)} words, and these are" if len(one) > 1 else "1 word, and it is"
                hint = "What ends your summary, or takes words out of it, beside the end and max_new_tokens?"
                expect.fail(f"the summary has {words} right, but not the whole.", hint)
            same_list(one, right, hint, "the summary")

    @pytest.mark.weight(0.25)
    def test_first_word(self, student, reference):
        """The first word is the likeliest one after article and separator."""
        hint = "What does the model read when it writes the first word?"
        for pair in zip(TELLERS, ARTICLES, strict=True):
            got, wanted = self.summary(student, *pair), self.summary(reference, *pair)
            same_list(got[:1], wanted[:1], hint, "the summary")

    @pytest.mark.weight(0.35)
    def test_at_most(self, student):
        """Never more than max_new_tokens words, and up to there the same ones."""
        self.looks_like_a_summary(student)
        whole = self.summary(student, LONG, ARTICLES[1])
        for most in (1, 3, 8):
            got = self.summary(student, LONG, ARTICLES[1], most)
            if len(got) > most:
                expect.fail(f"with max_new_tokens={most} the summary has {len(got)} words.", "What ends your loop?")
            same_list(got, whole[:most], "How often does the loop go round?", f"with max_new_tokens={most} the summary")

    @pytest.mark.weight(0.3)
    def test_ends(self, student):
        """Where the model says end, the summary stops there, however many words were allowed."""
        self.looks_like_a_summary(student)
        hint = "What happens in your loop when the likeliest token is end_id?"
        for model in (SHORT, LONG):
            some, more = (self.summary(student, model, ARTICLES[3], most) for most in (20, 40))
            if END in some:
                expect.fail("the summary holds the end token.", "The end says that the summary is over. Is it a word?")
            same_list(more, some, hint, "with max_new_tokens=40 the summary")

    @pytest.mark.weight(0.1)
    def test_long_article(self, student):
        """A long article is read from its first word to its last, for each word of the summary."""
        self.looks_like_a_summary(student)
        long, other = texts(65, 35, 35, vocab_size=21)
        if self.summary(student, LONG, long) == self.summary(student, LONG, [*other[:8], *long[8:]]):
            expect.fail("of a long article only the last words have a say.", "What does the model get to read?")

    @pytest.mark.weight(0.1)
    def test_large_vocabulary(self, student):
        """In a vocabulary of some hundred words the summary stops at the end, too."""
        self.looks_like_a_summary(student)
        article = texts(64, 6, vocab_size=290)[0]
        some, more = (
            sequence(student.greedy_summary(LARGE_TELLER, list(article), *LARGE_IDS, most), "the summary")
            for most in (20, 30)
        )
        hint = "The end is 298 here. Does your code ask whether two numbers are equal, or whether they are one object?"
        if LARGE_IDS[1] in map(number, some) or len(more) != len(some):
            expect.fail(f"with max_new_tokens=30 the summary has {len(more)} words; that is not right.", hint)

    @pytest.mark.weight(0.1)
    def test_nothing_to_say(self, student):
        """A model that ends at once, or max_new_tokens=0: an empty list."""
        self.looks_like_a_summary(student)
        for model, most in ((SILENT, 6), (LONG, 0)):
            got = self.summary(student, model, ARTICLES[0], most)
            if got:
                expect.fail(f"the summary has {len(got)} words, it should have none.", "What comes first in the loop?")

    @pytest.mark.weight(0.1)
    def test_list_of_ints(self, student):
        """A plain list of ints."""
        self.looks_like_a_summary(student)
        got = student.greedy_summary(TELLERS[1], list(ARTICLES[1]), SEPARATOR, END, MOST)
        if not isinstance(got, list) or not all(isinstance(i, int | np.integer) for i in got):
            expect.fail(f"gave back {expect.kind_of(got)}, not a list of ints.")

    @pytest.mark.weight(0.15)
    def test_arguments(self, student):
        """The article is as before; arguments may come by keyword."""
        plain = self.looks_like_a_summary(student)
        after = student.greedy_summary.inputs_after(TELLERS[0], list(ARTICLES[0]), SEPARATOR, END, MOST)
        if len(after) > 1 and after[1] != ARTICLES[0]:
            expect.fail("article_ids holds other values after the call than before.", "Whose list does append change?")
        got = student.greedy_summary(
            max_new_tokens=MOST, end_id=END, separator_id=SEPARATOR, article_ids=list(ARTICLES[0]), model=TELLERS[0]
        )
        if sequence(got, "the summary") != plain:
            expect.fail("gave back something else than with the same arguments by position.")


# ---------------------------------------------------------------- ablate

HEADS, WIDE, D_MODEL, LAYERS = 3, 6, 5, 3  # heads of width two on d_model 5, so that no two sizes are alike but two


def numbers_of_a_model(seed, dtype=np.float64):
    """What `state_dict` gives of a small decoder: its matrices by name."""
    shapes = {"embedding.weight": (7, D_MODEL), "output.weight": (7, D_MODEL), "output.bias": (7,)}
    for layer in range(LAYERS):
        of = f"blocks.{layer}.attention"
        shapes |= {f"{of}.{name}.weight": (WIDE, D_MODEL) for name in ("W_Q", "W_K", "W_V")}
        shapes[f"{of}.W_O.weight"] = (D_MODEL, WIDE)
    return {name: tensor(normal(seed + i, *shape, dtype=dtype)) for i, (name, shape) in enumerate(shapes.items())}


NUMBERS, OTHERS = numbers_of_a_model(60), numbers_of_a_model(90)


@pytest.mark.exercise("ablate")
class TestAblate:
    def numbers(self, student, *args, **kwargs):
        """The answer's arrays by name."""
        got = student.ablate(*args, **kwargs)
        if not isinstance(got, dict):
            expect.fail(f"gave back {expect.kind_of(got)}, not a dict.", "Under which names is a model to find them?")
        return {name: np.asarray(expect.numbers(value)) for name, value in got.items()}

    def W_O(self, student, layer, head, weights=NUMBERS, num_heads=HEADS):
        """The changed matrix of that layer."""
        got, name = self.numbers(student, weights, layer, head, num_heads), f"blocks.{layer}.attention.W_O.weight"
        if name not in got:
            expect.fail(f"there is no {name} in the dict.", "Under which names is a model to find them?")
        return got[name]

    def looks_like_an_ablation(self, student):
        """Something is another than before, and hangs on what came in. Which matrix it is, others judge."""
        first, again, other = (self.numbers(student, given, 1, 2, HEADS) for given in (NUMBERS, NUMBERS, OTHERS))
        if not self.alike(first, again):
            expect.fail("the same arguments give another result each time.")
        if self.alike(first, {name: value.numpy() for name, value in NUMBERS.items()}):
            expect.fail("all numbers are as they were.", "Which numbers make the head heard?")
        if self.alike(first, other):
            expect.fail("the result stays the same with other weights.", "What is it made from?")

    def alike(self, one, other):
        """The same names with the same numbers?"""
        return one.keys() == other.keys() and all(
            one[name].shape == other[name].shape and np.allclose(one[name], other[name]) for name in one
        )

    @pytest.mark.weight(0.2)
    def test_form(self, student):
        """A dict with the names and the shapes that came in."""
        got = self.numbers(student, NUMBERS, 1, 2, HEADS)
        missing = sorted(NUMBERS.keys() - got.keys())
        if missing or got.keys() - NUMBERS.keys():
            expect.fail(f"the dict has {len(got)} names, and {len(NUMBERS)} came in.", "What of all the others?")
        for name, value in got.items():
            expect.shape(value, tuple(NUMBERS[name].shape), what=name)

    @pytest.mark.weight(1.35)
    def test_values(self, student, reference):
        """The head's numbers in that layer's W_O are zero, all others of it as before."""
        hint = "Which columns of W_O.weight meet what this head has found?"
        for layer, head in ((1, 1), (0, 2), (2, 0)):
            got, wanted = self.W_O(student, layer, head), self.W_O(reference, layer, head)
            expect.close(got, wanted, hint, f"the W_O of layer {layer} without head {head}", EXACT)

    @pytest.mark.weight(0.3)
    def test_all_heads_one_by_one(self, student):
        """With each head taken away in turn, each column is zero once."""
        self.looks_like_an_ablation(student)
        zero = sum((self.W_O(student, 0, head) == 0).all(axis=0).astype(int) for head in range(HEADS))
        if not np.array_equal(zero, np.ones(WIDE)):
            expect.fail("some columns belong to no head, or to more than one.", "How wide is a head?")

    @pytest.mark.weight(0.42)
    def test_other_layers(self, student):
        """Whatever is not that layer's W_O is as before."""
        self.looks_like_an_ablation(student)
        for layer in (0, 2):
            for name, value in self.numbers(student, NUMBERS, layer, 1, HEADS).items():
                if name in NUMBERS and name != f"blocks.{layer}.attention.W_O.weight":
                    hint = "Which layer was asked for, and which of its matrices?"
                    expect.close(value, NUMBERS[name], hint, f"without head 1 of layer {layer}, {name}", EXACT)

    @pytest.mark.weight(0.2)
    def test_one_head(self, student):
        """With one head alone, all of it is gone; with six, one column."""
        self.looks_like_an_ablation(student)
        for heads, left in ((1, 0), (6, 5)):
            got = self.W_O(student, 2, 0, num_heads=heads)
            if np.count_nonzero(got.any(axis=0)) != left:
                expect.fail(f"with num_heads={heads}, other columns are zero than head 0's.", "How wide is a head now?")

    @pytest.mark.weight(0.13)
    def test_dtype(self, student):
        """float32 stays float32, float64 stays float64."""
        self.looks_like_an_ablation(student)
        for dtype in (np.float32, np.float64):
            got = student.ablate(numbers_of_a_model(61, dtype), 1, 1, HEADS)["blocks.1.attention.W_O.weight"]
            expect.dtype(got, dtype, "Is a tensor made on the way, and of which dtype?", "W_O")

    @pytest.mark.weight(0.4)
    def test_arguments(self, student):
        """The weights that came in are not changed; arguments may come by keyword."""
        self.looks_like_an_ablation(student)
        after = student.ablate.inputs_after(numbers_of_a_model(62), 0, 1, HEADS)[0]
        before = numbers_of_a_model(62)
        hint = "A dict holds tensors. If a new dict holds the same ones, whose numbers are set to zero?"
        if not isinstance(after, dict) or after.keys() != before.keys():
            expect.fail("the dict that came in has other names after the call.", hint)
        expect.unchanged(list(after.values()), list(before.values()), list(before), hint)
        named = self.numbers(student, num_heads=HEADS, head=1, layer=2, weights=NUMBERS)
        for name, value in self.numbers(student, NUMBERS, 2, 1, HEADS).items():
            expect.close(named.get(name, np.nan), value, "", f"with arguments by keyword, {name}", EXACT)


# ---------------------------------------------------------------- next_word_probabilities


LOGITS = 1.5 * normal(671, 9)  # nine words; the likeliest has a third, and no two are alike


@pytest.mark.exercise("next_word_probabilities")
class TestNextWordProbabilities:
    def probabilities(self, student, logits=LOGITS, *args, **kwargs):
        """The answer as numbers, one a word."""
        got = expect.tensor(student.next_word_probabilities(tensor(logits), *args, **kwargs))
        expect.shape(got, logits.shape, "One probability for each word of the vocabulary.")
        return got

    def looks_like_an_attempt(self, student):
        """Other logits give other probabilities."""
        call = lambda logits: self.probabilities(student, np.asarray(logits), 0.8, 5, 0.9)  # noqa: E731
        responds(call, [LOGITS], [1.5 * normal(672, 9)], ["logits"])

    def compare(self, student, reference, cases, hint):
        """Against the reference, for (temperature, top_k, top_p)."""
        for number, case in enumerate(cases):
            logits = 1.5 * normal(673 + number, 9 + number)
            wanted = self.probabilities(reference, logits, *case)
            got = self.probabilities(student, logits, *case)
            if (got > 0).sum() == (wanted > 0).sum() and ((got > 0) != (wanted > 0)).any():
                hint = "So many words should be left, but not these. In which order do they stand where you cut?"
            expect.close(got, wanted, hint, "the probabilities", ATOL)

    @pytest.mark.weight(0.2)
    def test_shape(self, student):
        """Logits of nine words: nine probabilities."""
        self.probabilities(student)

    @pytest.mark.weight(0.5)
    def test_temperature(self, student, reference):
        """With a temperature alone: a softmax of the logits divided by it."""
        cases = [(1.0, None, None), (0.5, None, None), (2.5, None, None)]
        self.compare(student, reference, cases, "Which temperature makes a model surer: 0.5 or 2? What does it divide?")

    @pytest.mark.weight(0.45)
    def test_top_k(self, student, reference):
        """With top_k: the k likeliest words share everything, all others have 0."""
        cases = [(1.0, 3, None), (0.7, 5, None), (1.0, 1, None)]
        self.compare(
            student, reference, cases, "Which words are the k likeliest, and what do those that are left sum to?"
        )

    @pytest.mark.weight(0.55)
    def test_top_p(self, student, reference):
        """With top_p: as few of the likeliest words as together have that much share everything."""
        cases = [(1.0, None, 0.6), (1.0, None, 0.85), (1.4, None, 0.75), (1.0, None, 0.1)]
        hint = "Go from the likeliest word down and add up. At which word do you stop, and is that one still in?"
        self.compare(student, reference, cases, hint)

    @pytest.mark.weight(0.5)
    def test_together(self, student, reference):
        """First the temperature, then top_k, then top_p, on what the k words have among themselves."""
        cases = [(0.6, 4, 0.9), (2.0, 4, 0.8), (1.5, 6, 0.75), (3.0, 3, 0.6)]
        hint = "After top_k, what do the words that are left sum to? Is top_p a share of that?"
        self.compare(student, reference, cases, hint)

    @pytest.mark.weight(0.2)
    def test_sum(self, student):
        """Probabilities are never negative, and sum to 1."""
        self.looks_like_an_attempt(student)
        for case in ((0.7, None, None), (1.0, 4, None), (1.0, None, 0.7), (1.3, 5, 0.8)):
            got = self.probabilities(student, LOGITS, *case)
            if (got < 0).any():
                expect.fail("a probability is below zero.", "Is it the logarithm of a probability?")
            expect.close(
                got.sum(), 1.0, "What do the words that are left sum to?", "the sum of the probabilities", ATOL
            )

    @pytest.mark.weight(0.2)
    def test_large_logits(self, student):
        """Logits of 10,000, or a temperature of a thousandth, give finite probabilities."""
        self.looks_like_an_attempt(student)
        hint = "exp(1e4) overflows. Which softmax takes care of that?"
        for logits, temperature in ((LOGITS * LARGE, 1.0), (LOGITS, 0.001)):
            expect.finite(self.probabilities(student, logits, temperature), hint)

    @pytest.mark.weight(0.2)
    def test_dtype(self, student):
        """float32 stays float32, float64 stays float64."""
        self.looks_like_an_attempt(student)
        for dtype in (np.float32, np.float64):
            got = self.probabilities(student, LOGITS.astype(dtype), 0.8, 5, 0.9)
            expect.dtype(got, dtype, "Is a tensor made on the way, and of which dtype?")

    @pytest.mark.weight(0.2)
    def test_arguments(self, student):
        """Arguments may come by keyword or not at all, and the logits are not changed."""
        self.looks_like_an_attempt(student)
        for named, case in (({"top_p": 0.8}, (1.0, None, 0.8)), ({"top_k": 4, "temperature": 0.6}, (0.6, 4, None))):
            plain = self.probabilities(student, LOGITS, *case)
            expect.close(
                self.probabilities(student, LOGITS, **named), plain, "What is left out is None, or 1.", atol=ATOL
            )
        after = student.next_word_probabilities.inputs_after(tensor(LOGITS), 0.8, 5, 0.9)
        expect.unchanged(after[:1], [tensor(LOGITS)], ["logits"], "Look for operators like /= and names that end in _.")


# ---------------------------------------------------------------- cross_attention


def cross_input(seed, batch=(2,), length=5, width=12, places=7, memory_width=12, d_k=4, d_v=4):
    """x, memory, W_Q, W_K, W_V, W_O for three heads, with scores of up to about 3."""
    w_1, w_2 = 1.4 / math.sqrt(width), 1.4 / math.sqrt(memory_width)
    return [
        normal(seed, *batch, length, width),
        normal(seed + 1, *batch, places, memory_width),
        w_1 * normal(seed + 2, width, 3 * d_k),
        w_2 * normal(seed + 3, memory_width, 3 * d_k),
        w_2 * normal(seed + 4, memory_width, 3 * d_v),
        normal(seed + 5, 3 * d_v, width) / math.sqrt(3 * d_v),
    ]


# Padding may stand between real words, too, so that no length does for it. Place 0 is real in both texts: then a causal
# mask put in by mistake leaves no row empty, however it is made.
REAL = np.array([[1, 1, 1, 1, 1, 0, 0], [1, 1, 0, 1, 1, 1, 0]], dtype=bool)[:, np.newaxis]  # (2, 1, 7)
NOTHING_REAL = REAL * np.array([True, False])[:, np.newaxis, np.newaxis]


@pytest.mark.exercise("cross_attention")
class TestCrossAttention:
    NAMES = ("x", "memory", "W_Q", "W_K", "W_V", "W_O")
    GIVEN = cross_input(681)  # two texts of L = 5 that ask, S = 7 places that answer, h = 3, all widths 12
    SHAPES = ((2, 5, 12), (2, 3, 5, 7))

    def attend(self, student, given, padding=None):
        """Output and weights, in this order: the weights have one axis more than x."""
        more = [] if padding is None else [tensor(padding)]
        pair = expect.pair(student.cross_attention(*map(tensor, given), 3, *more))
        found = [expect.tensor(part) for part in pair]
        more_axes = [part.ndim - given[0].ndim for part in found]
        return found[::-1] if more_axes == [1, 0] else found

    def in_shape(self, answer):
        for part, shape, what in zip(answer, self.SHAPES, ("output", "weights"), strict=True):
            expect.shape(part, shape, "Whose words ask, and whose words answer?", what)
        return answer

    def looks_like_attention(self, student, padding=None):
        """Another memory gives another output and other weights."""
        call = lambda *given: tuple(self.attend(student, given, padding))  # noqa: E731
        responds(call, self.GIVEN, cross_input(687)[:2], self.NAMES)
        return self.in_shape(self.attend(student, self.GIVEN, padding))

    def compare(self, got, wanted, hint, only=slice(None)):
        for part, right, what in list(zip(got, wanted, ("output", "weights"), strict=True))[only]:
            expect.close(part, right, hint, what, ATOL)

    @pytest.mark.weight(0.1)
    def test_shape(self, student):
        """Texts of five words ask, seven places answer, three heads: output (2, 5, 12), weights (2, 3, 5, 7)."""
        pair = expect.pair(student.cross_attention(*map(tensor, self.GIVEN), 3))
        hint = "Output first, then the weights: for each head a row a word of x, a column a place of memory."
        for part, shape, what in zip(pair, self.SHAPES, ("output", "weights"), strict=True):
            expect.shape(expect.tensor(part, what=what), shape, hint, what)

    @pytest.mark.weight(0.25)
    def test_weights(self, student, reference):
        """Each word of x compares its query with the keys of memory, in each head."""
        hint = "Which text do the queries come from, and which one the keys? What is a score divided by?"
        for seed in (691, 697):
            given = cross_input(seed)
            wanted = self.attend(reference, given)
            self.compare(self.attend(student, given), wanted, hint, slice(1, 2))

    @pytest.mark.weight(0.25)
    def test_output(self, student, reference):
        """The values of memory, blended by the weights, the heads side by side, times W_O."""
        hint = "Which text do the values come from? What happens to the heads before W_O?"
        for seed in (703, 709):
            given = cross_input(seed)
            wanted = self.attend(reference, given)
            self.compare(self.attend(student, given), wanted, hint, slice(0, 1))

    @pytest.mark.weight(0.4)
    def test_padding(self, student, reference):
        """Nobody looks at the padding of memory; what is left shares everything. The words of x all ask."""
        hint = "True means a real word. Which axis of the weights belongs to memory, and who takes part in a row's sum?"
        all_of_one = REAL | np.array([True, False])[:, np.newaxis, np.newaxis]  # one text has no padding
        for seed, length, real in ((715, 5, REAL), (721, 5, all_of_one), (745, 7, REAL)):  # and once L = S
            given = cross_input(seed, length=length)
            wanted = self.attend(reference, given, real)
            self.compare(self.attend(student, given, real), wanted, hint)

    @pytest.mark.weight(0.08)
    def test_widths(self, student, reference):
        """No two widths are alike: x 9, memory 10, d_k 4, d_v 5; and L = S or L = h is a length like any other."""
        hint = "From which shape do you read how wide one head is, and how long a text?"
        for sizes in (
            {"width": 9, "memory_width": 10, "d_v": 5},
            {"length": 7},
            {"length": 3},
            {"length": 8, "d_k": 2},
        ):
            given = cross_input(727, **sizes)
            self.compare(self.attend(student, given), self.attend(reference, given), hint)

    @pytest.mark.weight(0.1)
    def test_no_order(self, student):
        """Each word asks for itself, and the order of memory counts for nothing: the weights only move with it."""
        output, weights = self.looks_like_attention(student)
        x, memory, *matrices = self.GIVEN
        order = [3, 6, 0, 5, 1, 4, 2]
        hint = "Which words of memory may the first word of x look at, and which the last?"
        moved = self.in_shape(self.attend(student, [x, memory[:, order], *matrices]))
        self.compare(moved, [output, weights[..., order]], hint)
        alone = self.attend(student, [x[:, 1:3], memory, *matrices])
        self.compare(alone, [output[:, 1:3], weights[..., 1:3, :]], "Does a word's answer hang on the words beside it?")

    @pytest.mark.weight(0.12)
    def test_no_leak(self, student):
        """What stands at a padded place of memory changes nothing, however loud it is."""
        plain = self.looks_like_attention(student, REAL)
        loud = [*self.GIVEN]
        loud[1] = np.where(REAL.swapaxes(-2, -1), loud[1], 1e3 * LOUD * np.sign(loud[1]))
        hint = "Huge numbers stand at the padded places of memory. In which step do they still take part?"
        self.compare(self.in_shape(self.attend(student, loud, REAL)), plain, hint)

    @pytest.mark.weight(0.1)
    def test_nothing_real(self, student):
        """A memory of nothing but padding: weights and output 0, not NaN, and the other text is as ever."""
        plain = self.looks_like_attention(student, REAL)
        got = self.in_shape(self.attend(student, self.GIVEN, NOTHING_REAL))
        hint = "If all of memory is hidden, what do you divide by, and what should come out?"
        for part, before, what in zip(got, plain, ("output", "weights"), strict=True):
            expect.finite(part, hint, what)
            expect.close(part[1], np.zeros_like(part[1]), hint, f"{what} of the text whose memory is padding", EXACT)
            expect.close(part[0], before[0], "Do two texts get in each other's way?", f"{what} of the other text", ATOL)

    @pytest.mark.weight(0.2)
    def test_batch_axes(self, student):
        """No batch axis, one or two: each text asks its own memory, and has its own padding."""
        call = lambda x, memory, *real: tuple(self.attend(student, [x, memory, *self.GIVEN[2:]], *real))  # noqa: E731
        responds(call, self.GIVEN[:2], cross_input(687)[:2], self.NAMES)
        hint = "Count the axes from the end. Where does padding get an axis for the heads?"
        for batch, real in (((2,), REAL), ((3, 2), np.stack([REAL, REAL[::-1], REAL[..., [0, 6, 5, 4, 3, 2, 1]]]))):
            x, memory = cross_input(733, batch)[:2]
            same_item_by_item(call, [x, memory], len(batch), hint)
            same_item_by_item(call, [x, memory, real], len(batch), hint)

    @pytest.mark.weight(0.1)
    def test_large_scores(self, student):
        """Scores of 10,000 and more give finite numbers, with and without padding."""
        self.looks_like_attention(student)
        large = [LARGE * self.GIVEN[0], *self.GIVEN[1:]]
        hint = "exp(1e4) overflows. Which softmax takes care of that?"
        for padding in (None, REAL):
            for part, what in zip(self.attend(student, large, padding), ("output", "weights"), strict=True):
                expect.finite(part, hint, what)

    @pytest.mark.weight(0.13)
    def test_gradients(self, student):
        """Gradients reach both texts and all four matrices, through the output and through the weights."""
        self.looks_like_attention(student)
        seeds = [tensor(normal(740 + axes, *shape)) for axes, shape in enumerate(self.SHAPES)]
        in_order = self.attend(student, self.GIVEN)[0].shape == tuple(
            expect.pair(student.cross_attention(*map(tensor, self.GIVEN), 3))[0].shape
        )
        hint = "Is there a .detach(), .data, .numpy() or torch.no_grad() on the way?"
        given = [*map(tensor, self.GIVEN), 3]
        gradients_match(student.cross_attention, given, seeds if in_order else seeds[::-1], hint, self.NAMES)

    @pytest.mark.weight(0.07)
    def test_dtype(self, student):
        """float32 stays float32, float64 stays float64, in output and weights, with and without padding."""
        self.looks_like_attention(student)
        for dtype in (np.float32, np.float64):
            for padding in (None, REAL):
                answer = self.attend(student, [array.astype(dtype) for array in self.GIVEN], padding)
                for part, what in zip(answer, ("output", "weights"), strict=True):
                    expect.dtype(part, dtype, "Is a tensor made on the way, and of which dtype?", what)

    @pytest.mark.weight(0.1)
    def test_arguments(self, student):
        """Arguments may come by keyword and with any layout in memory, and are not changed."""
        plain = self.looks_like_attention(student, REAL)
        views = [np.ascontiguousarray(array.swapaxes(-2, -1)).swapaxes(-2, -1) for array in self.GIVEN]
        named = dict(zip(self.NAMES, map(tensor, views), strict=True)) | {
            "num_heads": 3,
            "memory_padding": tensor(REAL),
        }
        got = [expect.tensor(part) for part in expect.pair(student.cross_attention(**named))]
        got = got[::-1] if got[0].ndim > got[1].ndim else got
        self.compare(got, plain, "Is memory read in the order of the axes? reshape can do what view cannot.")
        given = [*map(tensor, self.GIVEN), 3, tensor(REAL)]
        hint = "Look for operators like /= and names that end in _."
        after = student.cross_attention.inputs_after(*given)
        expect.unchanged(after, given, [*self.NAMES, "num_heads", "memory_padding"], hint)
