"""Frontends and backends that keep their ports when they are started again, and haproxy as in docs/cluster.md."""

import os
import pathlib
import re
import signal
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable

from . import tools
from .redis_server import free_port
from .under_load import SEEN_MAX_S

# How long a server may need to end after SIGTERM.
END_MAX_S = 30


def get(address: str, path: str) -> tuple[int, bytes]:
    """Returns status and body."""
    try:
        with urllib.request.urlopen(f"http://{address}{path}", timeout=60) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


def happens(what: str, condition: Callable[[], object]) -> None:
    """Waits for something without which the script cannot go on."""
    deadline = time.monotonic() + SEEN_MAX_S
    while time.monotonic() < deadline:
        try:
            if condition():
                return
        except OSError:
            pass
        time.sleep(0.05)
    raise tools.Failure(f"did not happen within {SEEN_MAX_S} s: {what}")


class Process:
    """A trawl that listens on one port, however often it is started."""

    def __init__(self, work: str, name: str, *words: object) -> None:
        self.port, self.log = free_port(), os.path.join(work, f"{name}.log")
        self.address = f"127.0.0.1:{self.port}"
        self.words = [str(word) for word in (*words, "--listen", self.address)]
        self.start()

    def start(self) -> None:
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(self.words, stdout=subprocess.PIPE, stderr=log)
        assert self.process.stdout
        if self.address.encode() not in self.process.stdout.readline():
            raise tools.Failure(f"it did not start: {pathlib.Path(self.log).read_text()[-500:]}")

    def end(self, number: int) -> int | None:
        self.process.send_signal(number)
        try:
            return self.process.wait(END_MAX_S)
        except subprocess.TimeoutExpired:
            return None

    def kill(self) -> None:
        if self.process.poll() is None:
            self.end(signal.SIGKILL)


def configuration(frontends: Iterable[Process]) -> str:
    """Returns the configuration in the documentation, with these frontends."""
    page = (tools.ROOT / "docs/cluster.md").read_text()
    found = re.search(r"^    defaults\n(?:    .*\n|\n)+?(?=    trawl frontend)", page, re.M)
    assert found, "docs/cluster.md has no configuration"
    text = found[0]
    for number, frontend in enumerate(frontends, 1):
        text, count = re.subn(rf"(server f{number}) \S+", rf"\1 {frontend.address}", text)
        assert count == 1, text
    return text
