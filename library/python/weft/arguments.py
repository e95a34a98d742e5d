"""Arguments of callers as what weft takes, and what is wrong with them, the same on all ranks."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np
import scipy.sparse

from ._weft import InputError
from .jobs import Job

Array = np.ndarray


def text_of(value: Any) -> str:
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    return repr(float(value)) if isinstance(value, (float, np.floating)) else str(value)


def options_of(options: dict[str, Any]) -> dict[str, str]:
    return {name: text_of(value) for name, value in options.items() if value is not None}


def agree(of_job: Job, fault: str) -> None:
    """Raises InputError on every rank with the fault of the first rank that has one."""
    if of_job.size > 1:
        fault = of_job._job.first_fault(fault)
    if fault:
        raise InputError(fault)


def agree_at(of_job: Job, count: int, fault_of: Callable[[int], str]) -> None:
    """As `agree`, of fault_of(first): `first` counts the numbers of the ranks before this one, which
    has `count`."""
    fault = fault_of(0)
    if of_job.size > 1 and of_job._job.first_fault(fault):
        fault = fault_of(of_job._job.exclusive_sum(count))
    agree(of_job, fault)


def attempt(work: Callable[[], Any], what: str, expected: str) -> tuple[str, Any]:
    """What is wrong with an argument that cannot be converted, on this rank, or what it becomes."""
    try:
        return "", work()
    except Exception as error:  # of NumPy or SciPy; an error of one rank would leave others waiting
        reason = " ".join(str(error).split())
        return f"{what}: found what is none ({type(error).__name__}: {reason}); expected {expected}", None


def real(of_job: Job, values: Any, what: str) -> Array:
    """As doubles; what is complex is kept, for `fault_of_type`. Collective."""

    def convert() -> Array:
        array = np.asarray(values.toarray() if scipy.sparse.issparse(values) else values)
        return np.ascontiguousarray(array, dtype=None if array.dtype.kind == "c" else np.float64)

    fault, array = attempt(convert, what, "an array of numbers")
    agree(of_job, fault)
    return array


def fault_of_type(array: Any, what: str) -> str:
    return "" if array.dtype.kind != "c" else f"{what}: found complex numbers; expected real ones"


def fault_of_numbers(array: Array, what: str, first: int = 0) -> str:
    """Names the first entry that is no finite number; those of other ranks before it are `first`."""
    if array.dtype.kind != "f":
        return fault_of_type(array, what)
    if np.isfinite(array).all():
        return ""
    place = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
    shown = first + place[0] if len(place) == 1 else [first + place[0], *place[1:]]
    return f"{what}: found {array[place]} at index {shown}; expected finite numbers"


def fault_of_vector(array: Array, count: int, what: str) -> str:
    if array.size != count or array.ndim > 2 or (array.ndim == 2 and 1 not in array.shape):
        return f"{what}: found the shape {array.shape}; expected ({count},)"
    return fault_of_type(array, what)


def is_block(of_job: Job, values: Any, count: int) -> bool:
    """True for vectors side by side on some rank, one of them too; a single row is a vector."""
    # What has no shape is no block, and its fault is found where it is converted.
    shape = attempt(lambda: np.shape(values), "", "")[1] or ()
    is_block = len(shape) == 2 and (shape[0] == count or shape[0] != 1)
    return of_job._job.extremes(is_block)[1] == 1
