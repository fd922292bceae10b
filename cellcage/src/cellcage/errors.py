"""The error that says that this machine could not run something."""


class MachineError(Exception):
    """The machine could not run the code. Another attempt, or another machine, may help.

    found: what is wrong
    remedy: what helps, if that is known
    """

    def __init__(self, found: str = "", remedy: str = "") -> None:
        super().__init__(f"{found}; {remedy}" if remedy else found)
        self.found, self.remedy = found, remedy


class NoSandbox(MachineError):
    """No sandbox works here, and nobody asked to run code without one."""
