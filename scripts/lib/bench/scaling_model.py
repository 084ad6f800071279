"""The model of docs/scaling.md: from coefficients that were measured to machines, memory, cost and latency.

A search for a first page costs the backends `base + slope * text`, a search of everything time in proportion to the
text. A frontend pays for each backend that it asks, and for each match that it receives.
"""

import functools
import math
import statistics
from collections.abc import Callable
from dataclasses import dataclass

GB, TB = 1e9, 1e12

# What an index of `--content zstd` takes of one with raw texts, and of the time its heavy searches, its light searches
# and its build (docs/benchmarks.md).
ZSTD_SIZE, ZSTD_HEAVY, ZSTD_LIGHT, ZSTD_BUILD = 0.44, 1.9, 1.2, 1.6
# Text in a shard.
SHARD_BYTES = 4 * 2**30
# A processor is planned to be busy for this share of the time, so that peaks have room.
BUSY_MAX = 0.5
# The share of the index that the page cache should hold; with less, p99 of light searches grows (`bench cold`).
CACHED = 0.1
# Network: a round trip, and how many of them a frontend waits for the slowest backend.
ROUND_TRIP_MS, SLOWEST = 0.5, 3


@dataclass
class Machine:
    name: str
    cores: int
    memory: float
    disk: float
    monthly_eur: float


# Rented machines as several providers had them in 2026, without tax; only the ratio of disk, memory and cores matters.
LAPTOP = Machine("laptop", 8, 16 * GB, 0.5 * TB, 0)
SMALL = Machine("8 cores, 64 GB, 1 TB", 8, 64 * GB, 1 * TB, 65)
LARGE = Machine("32 cores, 256 GB, 7.6 TB", 32, 256 * GB, 7.6 * TB, 260)

# Shares of the searches that need only what is on the first page.
FIRST_PAGE = {"rare identifier": 0.7, "text that is nowhere": 0.1, "ten best of a common word": 0.2}
# Searches of everything. `common word, exact total` is what a page asks for that shows how many matches there are.
WHOLE = ("common word, exact total", "export", "scan")
# What the figures of an export of everything are called in the measurements.
MEASURED_AS = {"export": "common", "scan": "scan"}


@dataclass
class Scale:
    name: str
    text: float
    # Searches a second that need the first page, and of each class of `WHOLE` a day.
    searches: float
    a_day: tuple[int, ...]
    replicas: int
    machine: Machine
    content: str = "raw"

    def a_second(self) -> dict[str, float]:
        """Searches a second, by class."""
        rates = {what: share * self.searches for what, share in FIRST_PAGE.items()}
        return rates | {what: count / 86_400 for what, count in zip(WHOLE, self.a_day)}


SCALES = [
    Scale("laptop", 5 * GB, 0.1, (500, 20, 5), 1, LAPTOP),
    Scale("company", 200 * GB, 20, (5_000, 100, 20), 2, SMALL),
    Scale("Debian, all suites", 1.2 * TB, 50, (5_000, 200, 20), 2, LARGE),
    Scale("28 TB of unique code", 28 * TB, 200, (100, 20, 2), 2, LARGE, "zstd"),
]


@dataclass
class Coefficients:
    """Measurements of the largest corpus."""
    figures: dict[str, float]
    text_bytes: float
    # Seconds of a search for the first page, by bytes of text.
    first_page_s: dict[str, statistics.LinearRegression]
    # Microseconds of a frontend for each backend, and for each match.
    stream_us: float = 0.0
    stream_match_us: float = 0.0


class Model:
    """What the coefficients say about a search of some bytes of text."""

    def __init__(self, coefficients: Coefficients) -> None:
        self.of, self.figures = coefficients, coefficients.figures
        self.text = coefficients.text_bytes

    def lines(self, what: str, text: float) -> float:
        """How many lines match."""
        named = MEASURED_AS[what]
        return 1e6 * self.figures[f"{named}, million lines"] * text / self.text

    def backend_s(self, what: str, scale: Scale) -> float:
        """Processor seconds of all backends together."""
        if what in FIRST_PAGE:
            slope, base = self.of.first_page_s[what]
            return (max(0.0, base) + slope * scale.text) * (ZSTD_LIGHT if scale.content == "zstd" else 1.0)
        times = ZSTD_HEAVY if scale.content == "zstd" else 1.0
        if what == "common word, exact total":
            return times * self.figures[f"{what}, ms"] / 1e3 * scale.text / self.text
        named = MEASURED_AS[what]
        whole = self.figures[f"{named}, s"] * scale.text / self.text
        # The frontend's part is counted there.
        return times * max(0.0, whole - self.lines(what, scale.text) * self.of.stream_match_us / 1e6)

    def frontend_s(self, what: str, scale: Scale, backends: int) -> float:
        """Processor seconds of the frontend."""
        seconds = backends * self.of.stream_us / 1e6
        if what in MEASURED_AS:
            named = MEASURED_AS[what]
            a_line = self.of.stream_match_us + self.figures[f"{named}, read back, us a line"]
            seconds += self.lines(what, scale.text) * a_line / 1e6
        return seconds

    def build_s(self, scale: Scale) -> float:
        return self.figures["build, s/GB"] * scale.text / GB * (ZSTD_BUILD if scale.content == "zstd" else 1.0)

    def index_bytes(self, scale: Scale) -> float:
        ratio = self.figures["index, bytes a byte"]
        return scale.text * ratio * (ZSTD_SIZE if scale.content == "zstd" else 1.0)

    def machines(self, scale: Scale) -> tuple[int, str, float]:
        """How many machines hold and search it, and what decides that."""
        index = scale.replicas * self.index_bytes(scale)
        core_s = sum(rate * self.backend_s(what, scale) for what, rate in scale.a_second().items())
        needs = {
            "disk": index / (0.8 * scale.machine.disk),
            "memory": CACHED * index / (0.8 * scale.machine.memory),
            "processors": core_s / (BUSY_MAX * scale.machine.cores),
            "replicas": scale.replicas,
        }
        decides = max(needs, key=needs.__getitem__)
        return max(1, math.ceil(needs[decides])), decides, core_s

    def latency_s(self, what: str, scale: Scale, machines: int) -> float:
        """Seconds of an unloaded cluster: all processors that have a replica of something search at once."""
        one = self.backend_s(what, scale) / (machines * scale.machine.cores)
        network = 0.0 if machines == 1 else SLOWEST * ROUND_TRIP_MS / 1e3
        if what in FIRST_PAGE:
            # More than one processor cannot help a search of one shard.
            one = max(one, self.of.first_page_s[what].intercept)
        return one + network + self.frontend_s(what, scale, machines)


def main(coefficients: Coefficients) -> None:
    model = Model(coefficients)
    print("\n| | " + " | ".join(scale.name for scale in SCALES) + " |")
    print("|---" * (len(SCALES) + 1) + "|")
    machines = {scale.name: model.machines(scale) for scale in SCALES}

    def of(scale: Scale) -> int:
        return machines[scale.name][0]

    def line(what: str, figure: Callable[[Scale], str]) -> None:
        print(f"| {what} | " + " | ".join(figure(scale) for scale in SCALES) + " |")

    def a_day(at: int, scale: Scale) -> str:
        return f"{scale.a_day[at]:,}"

    def latency(what: str, scale: Scale) -> str:
        return duration(model.latency_s(what, scale, of(scale)))

    def backends(what: str, scale: Scale) -> str:
        return duration(model.backend_s(what, scale))

    def spooled(what: str, scale: Scale) -> float:
        return model.lines(what, scale.text) * model.figures[f"{MEASURED_AS[what]}, spooled bytes a line"]

    line("text", lambda scale: amount(scale.text))
    line("texts are stored", lambda scale: scale.content)
    line("searches a second", lambda scale: f"{scale.searches:g}")
    for at, what in enumerate(WHOLE):
        line(f"{what}, a day", functools.partial(a_day, at))
    line("replicas", lambda scale: str(scale.replicas))
    line("index, one copy", lambda scale: amount(model.index_bytes(scale)))
    line("shards", lambda scale: f"{math.ceil(scale.text / SHARD_BYTES):,}")
    line("machine", lambda scale: scale.machine.name)
    line("machines for backends", lambda scale: f"{of(scale)} ({machines[scale.name][1]})")
    line("processors that are busy",
         lambda scale: f"{machines[scale.name][2]:.2g} of {of(scale) * scale.machine.cores}")
    line("page cache to be fast", lambda scale: amount(CACHED * scale.replicas * model.index_bytes(scale)))
    line("EUR a month", lambda scale: f"{of(scale) * scale.machine.monthly_eur:,.0f}")
    line("first index, core hours", lambda scale: f"{model.build_s(scale) / 3600:,.2g}")
    for what in (*FIRST_PAGE, *WHOLE):
        line(f"{what}: latency", functools.partial(latency, what))
    for what in ("rare identifier", "common word, exact total", "export", "scan"):
        line(f"{what}: processor time of the backends", functools.partial(backends, what))
    line("export: lines", lambda scale: f"{model.lines('export', scale.text):,.2g}")
    line("export: spool", lambda scale: amount(spooled("export", scale)))
    line("export: the frontend's part", lambda scale: duration(model.frontend_s("export", scale, of(scale))))
    line("scan: spool", lambda scale: amount(spooled("scan", scale)))


def amount(value: float) -> str:
    for unit, size in (("TB", TB), ("GB", GB), ("MB", 1e6)):
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value:.0f} B"


def duration(seconds: float) -> str:
    if seconds < 1:
        return f"{1e3 * seconds:.2g} ms"
    if seconds < 600:
        return f"{seconds:.3g} s"
    return f"{seconds / 60:,.0f} min" if seconds < 36_000 else f"{seconds / 3600:,.0f} h"
