"""What a walk through a notebook writes into a cell beside a slip, and what the first thing shown says then."""

NOT_STARTED, NOT_RUN = "not started yet. Replace raise NotImplementedError()", "Run the cell that defines"
STUB, NO_CELL = "the stub as it was released, run", "the check before the cell above it was run"
RIGHT, BROUGHT = "the model answer", "the model answer of an earlier assignment, copied into its cell"
EMPTY = "the cell of what is to be brought, run as it was released"
