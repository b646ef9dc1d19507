"""The exceptions of the package: one line each that says what was got, what was wanted and what to do."""

from __future__ import annotations

from typing import Any, Self


class UatJaxError(Exception):
    """Base of every error raised on purpose. The command line prints its message and exits with 2."""

    def alone(self) -> Self:
        """This error without what led to it: the lines of this package, and what JAX says of its own."""
        self.__notes__ = []
        return self.with_traceback(None)


class ShapeError(UatJaxError):
    """Two matrices whose shapes do not fit, or an array whose shape is not the one its letter has.

    ``of``: the operation and its operands, where it is one of the matrix language on two matrices: "+", "@" or "had".
    """

    def __init__(self, message: str, of: tuple[Any, ...] = ()) -> None:
        super().__init__(message)
        self.of = of


class InputError(UatJaxError):
    """Unusable input: an unknown name, a number out of range, an unreadable file, NaN or infinity."""


class ConcreteValueError(InputError):
    """A function that needs the value of a floating-point input while it is traced, where there are only variables."""


class StaticArgumentError(InputError):
    """A function with a static argument that is given an array, which cannot be one."""


class DomainError(InputError):
    """A domain of inputs that no number satisfies, that is outside the dtype, or that is about no real input."""


class ToleranceError(InputError):
    """A tolerance for rounding that is no finite number above 0, or of no known unit."""


class OutputsError(InputError):
    """Two functions that return different trees, shapes or dtypes, so that they cannot be compared."""


class UnsupportedError(UatJaxError):
    """Something this package cannot express: an unknown symbolic head or an unsupported primitive."""


class InexactLimbsError(UatJaxError):
    """A matrix product modulo a prime that a device would not compute exactly: it is refused, never approximated."""


class BudgetError(UatJaxError):
    """The time that was allowed is used up; what had been reached by then is no verdict."""


class FloatRangeError(UatJaxError):
    """A kernel left the range of its dtype (overflow) although its inputs were finite."""


class HostsError(UatJaxError):
    """Processes that do not fit together (other settings, other versions), or one of which was lost."""


class MemoryLimitError(UatJaxError):
    """Work that needs more memory than there is, found out before it is tried."""


class MismatchError(UatJaxError):
    """A certificate that says something else than what is found when its claim is decided again."""


class NotEquivalentError(UatJaxError, AssertionError):
    """Two functions that a test takes for equal are not known to be.

    certificate: of what was decided of them, if it is at hand.
    """

    def __init__(self, message: str, certificate: Any = None):  # Any: errors import nothing of the package
        super().__init__(message)
        self.certificate = certificate


class DisagreementError(UatJaxError):
    """Two methods contradict each other on one claim: a defect of this package, never of the claim."""


class HazardWarning(UserWarning):
    """Two functions are equal over the real numbers, and one of them fails in floats at the input that is named."""
