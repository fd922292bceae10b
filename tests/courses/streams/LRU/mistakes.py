"""Known mistakes of LRU."""

from autograder.testing import Catalogue

mistake = Catalogue()


@mistake.mutants(
    {
        "first-in-first-out": mistake.known({"renews": ()}, hint="What does using a key change?"),
        "get-is-no-use": mistake.known({"renews": ("put",)}, hint="Does reading count as a use?"),
        "put-again-is-no-use": mistake.known({"renews": ("get",)}, hint="Does a second `put` count as a use?"),
        "one-too-many": mistake.known({"more": 1}, hint="How many are there after `put`?"),
        "drops-the-newest": mistake.known({"newest": True}, hint="Which end of the order is dropped?"),
    }
)
def LRU(renews=("get", "put"), more=0, newest=False):
    class LRU:
        def __init__(self, size):
            self.size, self.values = size + more, {}

        def get(self, key):
            if key in self.values and "get" in renews:
                self.values[key] = self.values.pop(key)
            return self.values.get(key)

        def put(self, key, value):
            if "put" in renews:
                self.values.pop(key, None)
            if key not in self.values and len(self.values) >= self.size:
                del self.values[list(self.values)[-1 if newest else 0]]
            self.values[key] = value

        def __len__(self):
            return len(self.values)

    return LRU
