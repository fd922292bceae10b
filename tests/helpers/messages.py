"""Random data, as untrusted code might send it."""

from hypothesis import strategies as st

anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.binary(max_size=16)
    | st.sampled_from(["array", "tensor", "tuple", "list", "dict", "other", "scalar", "float64"]),
    lambda inner: st.lists(inner, max_size=6) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=20,
)  # fmt: skip
