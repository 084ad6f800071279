"""A table of attacks: what each should do, and what it does to one binary or to two."""

import contextlib
import functools
import json
import typing
from collections.abc import Generator

from .. import tools
from ..table import load


class Measure(typing.NamedTuple):
    """One line of the table. `met` is None if there is no goal."""

    what: str
    value: object
    form: str = "{}"
    goal: str = ""
    met: bool | None = None

    def shown(self) -> str:
        return self.form.format(self.value)


class Attack(typing.Protocol):
    """A row: yields measures of a binary."""

    __name__: str

    def __call__(self, binary: str, /) -> Generator[Measure, None, None]: ...


def at_most(what: str, value: float, limit: float, form: str = "{}") -> Measure:
    return Measure(what, value, form, f"<= {form.format(limit)}", value <= limit)


def at_least(what: str, value: float, limit: float, form: str = "{}") -> Measure:
    return Measure(what, value, form, f">= {form.format(limit)}", value >= limit)


def equal(what: str, value: object, expected: object) -> Measure:
    return Measure(what, value, goal=str(expected), met=value == expected)


def yes(what: str, value: object) -> Measure:
    return equal(what, "yes" if value else "no", "yes")


@functools.cache
def has_flag(binary: str, command: str, flag: str) -> bool:
    """Returns whether a binary knows a flag: an old baseline may not."""
    return f" {flag}" in tools.run([binary, command, "--help"], text=True).stdout


class Table:
    """Runs rows with every binary and prints them side by side."""

    def __init__(self, trawl: str, baseline: str | None) -> None:
        self.binaries = ([baseline] if baseline else []) + [trawl]
        self.unmet: list[str] = []
        columns = f"{'before':>16}{'after':>16}" if baseline else f"{'measured':>16}"
        print(f"{'':4}{'':70}{'goal':>14}{columns}   {load()}", flush=True)

    def run(self, number: int, attack: Attack, only_new: bool = False) -> None:
        """Runs a row: `attack(binary)` yields measures."""
        columns = [{} if only_new and binary != self.binaries[-1] else self.measured(attack, binary)
                   for binary in self.binaries]
        for what, after in columns[-1].items():
            cells = "".join(f"{column[what].shown() if what in column else '-':>16}" for column in columns)
            note = "  NOT MET" if after.met is False else ""
            self.unmet += [what] if note else []
            print(f"{number:>2}  {what:70}{after.goal:>14}{cells}{note}", flush=True)
        for what in columns[0].keys() - columns[-1].keys():
            print(f"{'':4}{what}: {columns[0][what].shown()} (before)", flush=True)

    def measured(self, attack: Attack, binary: str) -> dict[str, Measure]:
        """Returns measures by name. A row that cannot go on has failed."""
        measures: dict[str, Measure] = {}
        try:
            with contextlib.closing(attack(binary)) as rows:
                for measure in rows:
                    measures[measure.what] = measure
        except (tools.Failure, OSError, ValueError, LookupError, json.JSONDecodeError) as error:
            what = f"{attack.__name__.replace('_', ' ')}: carried out"
            print(f"{'':4}{what}: {type(error).__name__}: {error}")
            measures[what] = Measure(what, "failed", goal="yes", met=False)
        return measures

    def finish(self) -> int:
        print(f"{len(self.unmet)} goals not met; {load()}")
        return 1 if self.unmet else 0
