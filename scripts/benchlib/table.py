"""A table of what was to be reached and what was measured, printed row by row."""

import contextlib
import os
import statistics


class Wrong(Exception):
    """An answer that is not what it must be."""


class Table:
    def __init__(self):
        self.unmet = []
        self.wrong = []
        print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
        print(f"{'what':58}{'figure':>16}{'measured':>34}", flush=True)

    def row(self, what, figure, measured, met=None):
        """`met` is None where there is no figure, or none that one row could meet."""
        verdict = {True: "  met", False: "  NOT MET", None: ""}[met]
        if met is False:
            self.unmet.append(what)
        print(f"{what:58}{figure:>16}{measured:>34}{verdict}", flush=True)

    @contextlib.contextmanager
    def rows(self, what):
        """Rows that are nothing worth when an answer is wrong: then that is said in their place."""
        try:
            yield
        except Wrong as error:
            self.wrong.append(what)
            print(f"{what:58}  WRONG: {error}", flush=True)

    def finish(self):
        """Says how many figures were not met, and returns the exit status: 1 for wrong answers."""
        print(f"{len(self.unmet)} not met, {len(self.wrong)} wrong; load {os.getloadavg()[0]:.1f}")
        return 1 if self.wrong else 0


def quantiles(times):
    """p50 and p99."""
    cuts = statistics.quantiles(times, n=100, method="inclusive")
    return cuts[49], cuts[98]
