"""Prints tables, and compares measurements with goals, with peers and with a baseline binary."""

import contextlib
import os
import statistics
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from .connection import Refused

Name = typing.TypeVar("Name")
Result = typing.TypeVar("Result")


class Wrong(Exception):
    """An answer is wrong, so its times say nothing."""


def row(what: str, cells: Iterable[object], note: str = "") -> None:
    """Prints one row of a table whose columns are 14 wide."""
    print(f"{what:32}" + "".join(f"{cell:>14}" for cell in cells) + note, flush=True)


def load() -> str:
    return f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors"


def interleaved(contenders: Mapping[Name, Callable[[], Result]], runs: int) -> dict[Name, list[Result]]:
    """Calls every contender in turn, and returns their results by name.

    The first round, with cold caches, is not counted. Every second round is in reverse order.
    """
    results: dict[Name, list[Result]] = {name: [] for name in contenders}
    for turn in range(runs + 1):
        order = list(contenders.items())
        for name, measure in order if turn % 2 == 0 else reversed(order):
            result = measure()
            if turn > 0:
                results[name].append(result)
    return results


def medians(results: Iterable[Sequence[float]]) -> tuple[float, ...]:
    """Returns the median of every column of a list of tuples."""
    return tuple(statistics.median(column) for column in zip(*results))


def quantiles(times: Sequence[float]) -> tuple[float, float]:
    """Returns p50 and p99."""
    cuts = statistics.quantiles(times, n=100, method="inclusive")
    return cuts[49], cuts[98]


class Ratios:
    """The ratios of this binary to the baseline, row by row: 1.03 means 3 % worse."""

    def __init__(self) -> None:
        self.ratios: list[tuple[float, str]] = []

    def add(self, what: str, this: float, baseline: float, more_is_better: bool = False) -> str:
        """Returns a ratio, as text, of two measurements."""
        ratio = baseline / this if more_is_better else this / baseline
        self.ratios.append((ratio, what))
        return f"{ratio:.3f}"

    def finish(self) -> None:
        if self.ratios:
            mean = statistics.geometric_mean(ratio for ratio, _ in self.ratios)
            worst, what = max(self.ratios)
            print(f"ratio to the baseline (above 1 is worse): geometric mean {mean:.3f}, "
                  f"worst {worst:.3f} ({what})")


class Goals:
    """A table of measurements with goals. A wrong answer replaces its rows by a message."""

    def __init__(self, has_baseline: bool = False) -> None:
        self.unmet: list[str] = []
        self.wrong: list[str] = []
        self.ratios = Ratios()
        compared = f"{'baseline':>16}{'ratio':>8}" if has_baseline else ""
        print(load())
        print(f"{'what':64}{'goal':>16}{'measured':>16}{compared}", flush=True)

    def row(self, what: str, values: float | Mapping[str, float], form: str = "{}", at_most: float | None = None,
            at_least: float | None = None, note: str = "") -> None:
        """Prints the value of trawl, and the one of the baseline if `values` is a dictionary with both.

        More is better if `form` ends with `/s`.
        """
        named = values if isinstance(values, Mapping) else {"trawl": values}
        this, compared, goal, is_met = named["trawl"], "", "", True
        if "baseline" in named:
            ratio = self.ratios.add(what, this, named["baseline"], form.endswith("/s"))
            compared = f"{form.format(named['baseline']):>16}{ratio:>8}"
        if at_least is not None:
            goal, is_met = f">= {form.format(at_least)}", this >= at_least
        elif at_most is not None:
            goal, is_met = f"<= {form.format(at_most)}", this <= at_most
        if not is_met:
            note += "  NOT MET"
            self.unmet.append(what)
        print(f"{what:64}{goal:>16}{form.format(this):>16}{compared}  {note}".rstrip(), flush=True)

    @contextlib.contextmanager
    def rows(self, what: str) -> Iterator[None]:
        try:
            yield
        except (Wrong, Refused, OSError) as error:
            self.wrong.append(what)
            print(f"{what:64}  WRONG: {error}", flush=True)

    def finish(self) -> int:
        """Prints a summary, and returns the exit status: 1 after a wrong answer."""
        self.ratios.finish()
        print(f"{len(self.unmet)} goals not met, {len(self.wrong)} answers wrong; {load()}")
        return 1 if self.wrong else 0
