"""Known mistakes of Running."""

from autograder.testing import Catalogue

mistake = Catalogue()


@mistake.mutants(
    {
        "divided-by-one-less": mistake.known({"less": 1}, hint="By how many is the sum of squares divided?"),
        "half-of-the-last": mistake.known({"half": True}, hint="How much does the last of ten numbers weigh?"),
        "root": mistake.known({"power": 0.5}, hint="Is that the variance, or the standard deviation?"),
    }
)
def Running(less=0, half=False, power=1):
    class Running:
        def __init__(self):
            self.numbers = []

        def add(self, x):
            self.numbers.append(x)

        def mean(self):
            if half and self.numbers:
                mean = self.numbers[0]
                for x in self.numbers[1:]:
                    mean = (mean + x) / 2
                return mean
            return sum(self.numbers) / len(self.numbers) if self.numbers else None

        def variance(self):
            if not self.numbers:
                return None
            mean, n = sum(self.numbers) / len(self.numbers), len(self.numbers)
            return (sum((x - mean) ** 2 for x in self.numbers) / max(n - less, 1)) ** power

    return Running


@mistake("squares-less-square", hint="Which digits are left if two huge numbers are nearly equal?")
class Running:
    def __init__(self):
        self.n, self.total, self.squares = 0, 0.0, 0.0

    def add(self, x):
        self.n, self.total, self.squares = self.n + 1, self.total + x, self.squares + x * x

    def mean(self):
        return self.total / self.n if self.n else None

    def variance(self):
        return self.squares / self.n - (self.total / self.n) ** 2 if self.n else None


@mistake("shared-by-all", hint="Which objects see `numbers`, if it stands outside of `__init__`?")
class Running:
    numbers = []

    def add(self, x):
        self.numbers.append(x)

    def mean(self):
        return sum(self.numbers) / len(self.numbers) if self.numbers else None

    def variance(self):
        mean = self.mean()
        return sum((x - mean) ** 2 for x in self.numbers) / len(self.numbers) if self.numbers else None
