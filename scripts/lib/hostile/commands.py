"""Rows about the command line."""

import contextlib
import os
import pathlib
import subprocess
import time
import typing
from collections.abc import Iterator, Sequence

from .. import tools
from . import corpus
from .table import Measure, at_most, equal, yes

LONG_LINE_MIB = 64


def broken_pipe(binary: str, _: str) -> Iterator[Measure]:
    reading, writing = os.pipe()
    # Nobody reads, from the beginning.
    os.close(reading)
    try:
        done = subprocess.run([binary, "config", "show"], stdout=writing, stderr=subprocess.PIPE, text=True)
    finally:
        os.close(writing)
    yield yes("config show | head -1: ends quietly", not done.stderr)


def unwritable_home(binary: str, work: str) -> Iterator[Measure]:
    source = corpus.write(f"{work}/a_1", {"x.c": "needle\n"})
    tools.run([binary, "index", "--out", f"{work}/I", source])
    env = {name: value for name, value in os.environ.items() if not name.startswith("XDG_")}
    done = tools.run([binary, "search", "--index", f"{work}/I", "needle"], statuses=(0, 1, 2, 3),
                     env=env | {"HOME": "/proc/nowhere"})
    yield equal("search --index without a home: exit status", done.returncode, 0)


def one_long_line(binary: str, work: str) -> Iterator[Measure]:
    text = b"needle " + b"a long line " * (LONG_LINE_MIB * (1 << 20) // 12) + b"\n"
    source = corpus.write(f"{work}/long_1", {"x.txt": text})
    tools.run([binary, "index", "--out", f"{work}/I", source])
    out = pathlib.Path(work, "out")
    with out.open("wb") as file:
        peak = anonymous_peak([binary, "search", "--index", f"{work}/I", "-I", "-N", "needle"], file)
    if out.stat().st_size != len(text):
        raise tools.Failure(f"the line was printed with {out.stat().st_size:,} of {len(text):,} bytes")
    yield at_most(f"printing a line of {LONG_LINE_MIB} MiB: peak anonymous memory", peak >> 20,
                  LONG_LINE_MIB, "{} MiB")


def anonymous_peak(command: Sequence[str], stdout: typing.IO[bytes]) -> int:
    """Runs a command, and returns the most anonymous memory that it was seen with."""
    process, peak = subprocess.Popen(command, stdout=stdout), 0
    while process.poll() is None:
        with contextlib.suppress(OSError, StopIteration):
            lines = pathlib.Path(f"/proc/{process.pid}/status").read_text().splitlines()
            line = next(line for line in lines if line.startswith("RssAnon:"))
            peak = max(peak, int(line.split()[1]) * 1024)
        time.sleep(0.002)
    return peak
