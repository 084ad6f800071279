"""Programs that are watched while others are broken: a load of searches, and checks that are counted."""

import contextlib
import json
import os
import pathlib
import re
import signal
import subprocess
import threading
import time
import urllib.error
import urllib.parse
from collections.abc import Callable, Iterable, Mapping

from lib import browser_headers, tools
from lib.table import quantiles

# The time in which a change must have arrived, on a machine that is busy.
SEEN_MAX_S = 30

# How much later the slowest of 100 searches may be answered while an engine is broken, than searches without it.
LATER_MAX_MS = 5

# Of fewer times the slowest one of 100 says little.
TIMES_MIN = 1000

failed: list[str] = []


def check(what: str, holds: object) -> None:
    print(f"{'ok' if holds else 'FAILED'}: {what}", flush=True)
    if not holds:
        failed.append(what)


def until(what: str, condition: Callable[[], object], within_s: float = SEEN_MAX_S) -> None:
    """Waits for something, which must happen."""
    deadline = time.monotonic() + within_s
    while time.monotonic() < deadline:
        with contextlib.suppress(OSError):
            if condition():
                check(what, True)
                return
        time.sleep(0.1)
    check(what, False)


class Load(threading.Thread):
    """Searches all the time, each time for another text, with the same matches. `control` is a load of which no part is
    broken: other programs disturb both."""

    def __init__(self, server: object, total: int, control: "Load | None" = None) -> None:
        super().__init__(daemon=True)
        self.url, self.total, self.control = f"http://{server}", total, control
        self.count, self.ends = 0, False
        self.wrong: list[str] = []
        self.took: list[float] = []
        self.start()

    def run(self) -> None:
        while not self.ends:
            self.count += 1
            began = time.monotonic()
            problem = self.next()
            if problem:
                self.wrong.append(problem)
            self.took.append(1000 * (time.monotonic() - began))
            time.sleep(0.02)

    def next(self) -> str | None:
        """Searches for the next text."""
        return self.search(f"needle or absent{self.count}")

    def search(self, text: str, total: int | None = None) -> str | None:
        """Searches once. Returns what is wrong with the answer, if something is."""
        try:
            body = browser_headers.get(f"{self.url}/api/v2/search?q={urllib.parse.quote(text)}", 60).decode()
        except (OSError, urllib.error.URLError) as error:
            return f"{type(error).__name__}: {error}"
        answer = json.loads(body)
        if answer["complete"] and answer["total"] == (self.total if total is None else total):
            return None
        return f"{text}: {answer['total']} matches, complete: {answer['complete']}, missing: {answer['missing']}"

    def phase(self, name: str, checked: bool = True) -> None:
        """Checks what was answered since the last phase, or forgets it."""
        wrong, took = self.forget()
        control_wrong, control = self.control.forget() if self.control else ([], [])
        if not checked:
            return
        p50, p99 = quantiles(took) if len(took) > 1 else (0, 0)
        for problem in wrong[:3]:
            print(f"   {problem}")
        times = f"p50 {p50:.1f} ms, p99 {p99:.1f} ms"
        if len(control) > 1:
            beside = quantiles(control)[1]
            times += f", {p99 - beside:+.1f} ms beside undisturbed ones"
            if min(len(took), len(control)) >= TIMES_MIN:
                is_met = p99 - beside <= LATER_MAX_MS
                times += f", at most {LATER_MAX_MS} wanted{'' if is_met else ': NOT MET'}"
            if control_wrong:
                # Then the machine is too busy for either.
                times += f"; {len(control_wrong)} of {len(control)} undisturbed ones failed too"
        check(f"{name}: {len(took)} searches, {len(wrong)} failed; {times}", took and not wrong)

    def forget(self) -> tuple[list[str], list[float]]:
        """Returns what was wrong since the last time, and the times."""
        wrong, took = self.wrong, self.took
        self.wrong, self.took = [], []
        return wrong, took

    def stop(self) -> None:
        self.ends = True
        self.join()
        if self.control:
            self.control.stop()


class Process:
    """A trawl that listens, with the lines of its log in a file."""

    def __init__(self, work: str, name: str, *words: object,
                 environment: Mapping[str, str] | Iterable[tuple[str, str]] = ()) -> None:
        self.log = os.path.join(work, f"{name}.log")
        self.begin = os.path.getsize(self.log) if os.path.exists(self.log) else 0
        whole = os.environ | {"TRAWL_LOG": "info"} | dict(environment)
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen([str(word) for word in words], stdout=subprocess.PIPE, stderr=log,
                                            env=whole)
        assert self.process.stdout
        line = self.process.stdout.readline().decode()
        found = re.search(r"((\d+\.){3}\d+|\[::1\]):\d+", line)
        if not found:
            raise tools.Failure(f"{name} did not start: {pathlib.Path(self.log).read_text()[-500:]}")
        self.address = found[0]

    def __str__(self) -> str:
        return self.address

    def logged(self, text: str) -> bool:
        return text in pathlib.Path(self.log).read_text()

    def logged_sum(self, message: str, field: str) -> int:
        """Adds up a field of the lines with a message that this process has logged."""
        text = pathlib.Path(self.log).read_bytes()[self.begin :].decode()
        text = re.sub("\x1b\\[[0-9;]*m", "", text)
        return sum(int(number) for number in re.findall(rf"{message}.*? {field}=(\d+)", text))

    def metric(self, name: str) -> float:
        metrics = browser_headers.get(f"http://{self.address}/metrics", 10).decode()
        found = re.search(rf"^{re.escape(name)} (\S+)$", metrics, re.M)
        return float(found[1]) if found else 0.0

    def nodes(self, state: str = "listed") -> float:
        return self.metric(f'trawl_cluster_nodes{{state="{state}"}}')

    def frozen(self) -> bool:
        return self.metric("trawl_cluster_frozen") > 0

    def stop(self, number: int = signal.SIGTERM) -> None:
        if self.process.poll() is None:
            self.process.send_signal(number)
        self.process.wait()
