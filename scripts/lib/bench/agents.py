"""`bench agents`: what an agent reads until the file that it looks for is named with a line, beside ripgrep.

The questions are names of scripts/compare/ranking.txt and of the half "report" of ranking_sample.txt. With ripgrep
the agent lists the files (`-l`), then asks for the lines of ten of them at a time (`-n`), in the order of the list;
with Trawl it calls `search` of `trawl mcp`, and then asks for the next part. A token is 4 bytes. Reading the file
afterwards costs both the same.
"""

import json
import os
import re
import statistics
import subprocess
import typing

from .. import tools
from ..table import Goals

QUESTIONS = 40
TOKEN_BYTES = 4
COLUMNS_MAX = 500
FILES_AT_ONCE = 10
CALLS_MAX = 50
TOKENS_SHARE, CALLS_SHARE = 0.2, 0.5
COMPARE = tools.ROOT / "scripts/compare"
VERSION = re.compile(r"^([^/]*)_[^/_]*/", re.M)
PAGE = re.compile(r"more: page=([\w.-]+)")
# Bytes of all answers, and their number.
Cost = tuple[int, int]


def main(corpus: str) -> int:
    trawl = tools.trawl()
    with tools.workspace() as work:
        tools.run([trawl, "index", "--each", "--index", f"{work}/index", corpus])
        return measure(trawl, corpus, f"{work}/index")


def measure(trawl: str, corpus: str, index: str) -> int:
    (rg,) = tools.need("rg")
    costs: dict[str, list[Cost]] = {"ripgrep": [], "trawl": []}
    missed = []
    with Client([trawl, "mcp", "--index", index]) as client:
        for name, wanted in questions():
            found = {"ripgrep": ask_ripgrep(rg, corpus, name, wanted), "trawl": client.find(name, wanted)}
            missed += [f"{program}: {name}" for program, cost in found.items() if cost is None]
            if None not in found.values():
                for program, cost in found.items():
                    costs[program].append(typing.cast(Cost, cost))
    table = Goals()
    tokens = {program: sum(size for size, _ in each) / TOKEN_BYTES for program, each in costs.items()}
    calls = {program: sum(count for _, count in each) for program, each in costs.items()}
    middle = {program: statistics.median(size for size, _ in each) / TOKEN_BYTES for program, each in costs.items()}
    print(f"{len(costs['trawl'])} questions; tokens in the median: ripgrep {middle['ripgrep']:,.0f}, trawl "
          f"{middle['trawl']:,.0f}")
    for what, sums, share in (("tokens", tokens, TOKENS_SHARE), ("calls", calls, CALLS_SHARE)):
        print(f"{what}: ripgrep {sums['ripgrep']:,.0f}, trawl {sums['trawl']:,.0f}")
        table.row(f"{what}, as a share of those with ripgrep", sums["trawl"] / sums["ripgrep"], "{:.3f}", at_most=share)
    print("\n".join(f"not found: {each}" for each in missed), end="\n" * bool(missed))
    return int(bool(missed))


def questions() -> list[tuple[str, list[str]]]:
    """Returns names, each with the files that define it, without versions."""
    rows = [line.split("\t") for line in (COMPARE / "ranking.txt").read_text().splitlines() if line[:1] != "#"]
    both = [(row[0], [row[1]]) for row in rows if re.fullmatch(r"[\w:]+", row[0])]
    sample = [line.split("\t") for line in (COMPARE / "ranking_sample.txt").read_text().splitlines()]
    both += [(row[1], row[2:]) for row in sample if row[0] == "report"]
    return both[:QUESTIONS]


def names(text: str, wanted: list[str]) -> bool:
    """Tests if an answer names one of the files, whose packages have versions in it."""
    return any(path in VERSION.sub(r"\1/", text) for path in wanted)


def ask_ripgrep(rg: str, corpus: str, name: str, wanted: list[str]) -> Cost | None:
    def call(*arguments: str) -> str:
        done = tools.run([rg, "--sort", "path", *arguments], (0, 1), cwd=corpus)
        return done.stdout.decode(errors="replace")

    listed = call("-lw", name)
    size, count = len(listed.encode()), 1
    files = listed.splitlines()
    for at in range(0, len(files), FILES_AT_ONCE):
        lines = call("-nHw", "--max-columns", str(COLUMNS_MAX), name, "--", *files[at:at + FILES_AT_ONCE])
        size, count = size + len(lines.encode()), count + 1
        if names(lines, wanted):
            return size, count
    return None


class Client:
    """A client of `trawl mcp` over standard input and output."""

    def __init__(self, command: list[str]) -> None:
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        env=dict(os.environ, TRAWL_LOG="error"))
        self.number = 0

    def __enter__(self) -> typing.Self:
        self.request("initialize", {"protocolVersion": "2025-06-18", "capabilities": {},
                                    "clientInfo": {"name": "bench", "version": "1"}})
        self.send({"method": "notifications/initialized"})
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()

    def send(self, message: dict[str, object]) -> None:
        assert self.process.stdin
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self.process.stdin.flush()

    def request(self, method: str, params: dict[str, object]) -> typing.Any:
        self.number += 1
        self.send({"id": self.number, "method": method, "params": params})
        assert self.process.stdout
        for line in self.process.stdout:
            message = json.loads(line)
            if message.get("id") == self.number:
                return message["result"]
        raise tools.Failure("trawl mcp ended")

    def find(self, name: str, wanted: list[str]) -> Cost | None:
        size, arguments = 0, {"query": name}
        for count in range(1, CALLS_MAX + 1):
            result = self.request("tools/call", {"name": "search", "arguments": arguments})
            text = "".join(part["text"] for part in result["content"])
            size += len(text.encode())
            if names(text, wanted):
                return size, count
            page = PAGE.search(text)
            if not page:
                return None
            arguments = {"query": name, "page": page[1]}
        return None
