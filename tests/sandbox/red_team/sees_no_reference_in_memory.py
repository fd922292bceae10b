# Tries to find the reference, the hidden tests or another notebook in Python's memory.
# Must find nothing.
# expect: {"answers": [], "at_most": {"softmax": 0, "attention_scores": 0, "scaled_dot_product_attention": 0, "torch_scaled_dot_product_attention": 0}, "printed": "[]\n"}
# %%
import gc, sys, types, warnings

words = ("BEGIN SOLUTION", "pytest.mark.exercise", "looks_like_weights", "subtract_max")
found = []
warnings.simplefilter("ignore")  # of names that are deprecated
gc.unfreeze()  # what is frozen is not listed
for thing in gc.get_objects():
    if isinstance(thing, types.ModuleType) and thing.__name__.startswith(("attention_course.hidden", "autograder.worker", "solutions")):
        found.append(thing.__name__)
    if isinstance(thing, types.FunctionType) and thing.__name__ in ("softmax", "attention_scores") and thing.__module__ not in (
            "torch", "torch.nn.functional") and not thing.__module__.startswith(("torch", "numpy", "sympy")):
        found.append(thing.__module__)
    if isinstance(thing, dict):
        found += [w for w in words for v in list(thing.values()) if isinstance(v, str) and w in v and thing is not globals()
                  and "words = (" not in v and v not in words]
print(found)
