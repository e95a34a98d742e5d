"""Outcomes of solves."""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import numpy as np

from ._weft import InputError


@dataclasses.dataclass(frozen=True, repr=False)
class Report:
    """Outcome of a solve; the same on every rank but for the times.

    status: "converged", "not-converged", "breakdown", "stopped", "diverged" or "out-of-time".
    decisions: what method="auto" chose and why, what stalled, and what it turned to.
    null_space: what is projected out of a singular system; empty: nothing.
    relative_residual: ‖b − A·x‖/‖b‖, computed from x.
    scaled_residual: the same with each row divided by its scale, where rows differ much in scale.
    set_up, earlier_solutions: with recycle="auto" what became of the preconditioner, "made", "new
        values" or "kept", and how many solutions before are in the first guess.
    history: ‖r‖/‖b‖ after each iteration, with history=True.
    product_seconds: of each form of storage that was tried; matrix_format is the one that is kept.
    """

    status: str
    explanation: str
    method: str
    preconditioner: str
    mode: str
    method_choice: str
    mode_choice: str
    decisions: list[str]
    null_space: str
    iterations: int
    restarts: int
    relative_residual: float
    scaled_residual: float | None
    recurrence_residual: float
    set_up: str
    earlier_solutions: int
    setup_seconds: float
    solve_seconds: float
    history: list[float]
    phase_seconds: dict[str, float]
    matrix_format: str
    product_seconds: dict[str, float]
    json: str = dataclasses.field(repr=False)

    @property
    def converged(self) -> bool:
        return self.status == "converged"

    def __repr__(self) -> str:
        text = (f"{self.status} after {self.iterations} iterations of {self.method}"
                f" (preconditioner {self.preconditioner}, {self.mode} mode): residual "
                f"{self.relative_residual:.3e} in {self.solve_seconds:.3f} s")
        return f"<weft.Report: {text}{'; ' + self.explanation if self.explanation else ''}>"

    def plot(self, axes: Any = None) -> Any:
        """Draws the history with matplotlib and returns the axes; needs history=True."""
        if not self.history:
            raise InputError("plot: found no history; expected a solve with history=True")
        if axes is None:
            import matplotlib.pyplot

            axes = matplotlib.pyplot.figure().add_subplot()
        axes.semilogy(range(1, len(self.history) + 1), self.history, label=self.method)
        axes.set_xlabel("iteration")
        axes.set_ylabel("‖r‖ / ‖b‖")
        axes.legend()
        return axes


_FIELDS = [field.name for field in dataclasses.fields(Report) if field.name != "json"]


def report_of(report: Any) -> Report:
    """Of the extension module's report."""
    values = {name: getattr(report, name) for name in _FIELDS}
    values["phase_seconds"] = dict(values["phase_seconds"])
    values["product_seconds"] = dict(values["product_seconds"])
    return Report(**values, json=report.json())


class Result(NamedTuple):
    """x and the report of a solve: `x, report = weft.solve(A, b)`."""

    x: np.ndarray
    report: Report


class BlockResult(NamedTuple):
    """X and the reports of a solve for several right-hand sides, one for each."""

    x: np.ndarray
    reports: list[Report]
