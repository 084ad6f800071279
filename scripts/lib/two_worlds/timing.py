"""Compares how long two servers take for light queries, asked in turn."""

import random
import statistics
import time
from collections.abc import Sequence

from . import corpora
from .requests import target
from .worlds import World

# Medians may differ by this share, or by so many seconds.
SHARE_MAX = 0.03
SECONDS_MAX = 50e-6
WARM = 200


def pairs(worlds: Sequence[World], count: int, seed: int) -> list[list[float]]:
    """Asks both worlds `count` queries, the first one first in every other pair. Returns seconds by world."""
    rng = random.Random(seed)
    words = corpora.PUBLIC_WORDS
    taken: list[list[float]] = [[], []]
    for number in range(WARM + count):
        # Words that few files have, and numbers so that no answer is kept.
        path = target("/api/v2/search", q=f"{rng.choice(words)} {rng.choice(words)} -nothing{number}", want="count")
        for world in (0, 1) if number % 2 else (1, 0):
            started = time.perf_counter()
            reply = worlds[world].member.ask(path)
            seconds = time.perf_counter() - started
            if reply.status != 200:
                raise AssertionError(f"status {reply.status} for {path}")
            if number >= WARM:
                taken[world].append(seconds)
    return taken


def report(taken: Sequence[Sequence[float]]) -> bool:
    """Prints medians, and returns whether they are as near as they must be."""
    private, public = (statistics.median(times) for times in taken)
    near = abs(private - public) <= max(SHARE_MAX * public, SECONDS_MAX)
    print(f"{'world':>10} {'median, ms':>11} {'p99, ms':>8}")
    for name, times in zip(("private", "public"), taken):
        p99 = sorted(times)[len(times) * 99 // 100]
        print(f"{name:>10} {statistics.median(times) * 1e3:>11.3f} {p99 * 1e3:>8.2f}")
    print(f"medians of {len(taken[0]):,} pairs differ by {(private - public) * 1e6:+.0f} us "
          f"({(private / public - 1) * 100:+.1f} %): {'as they may' if near else 'MORE than they may'}")
    return near
