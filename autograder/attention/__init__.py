"""The course's content: multi-head attention, from dot products to a decoder. One folder an assignment.

`hidden/` is shared by suites, `workshop/` is what a notebook trains and looks with. The engine (all rooms but this one)
finds what is here by path, see `autograder.content`, and knows none of its names.
"""
