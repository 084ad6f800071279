"""`bench local`: `trawl grep` beside ripgrep in a work tree that is edited in between.

The tree is a copy. With a number of files it has as many: copies of the small ones. Before each question one file is
edited, created, renamed or deleted; the lines of every answer must be ripgrep's.
"""

import collections
import concurrent.futures
import contextlib
import os
import pathlib
import random
import re
import shutil
import statistics
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence

from .. import tools
from ..table import Goals, Wrong, quantiles

# Of each kind; ripgrep takes seconds in a large tree.
QUERIES, QUERIES_OF_LARGE, LARGE_FILES = 150, 15, 100_000
CALLERS, CHANGED_FILES = 8, 5_000
SMALL_BYTES = 30_000
SAMPLED_FILES = 3_000
INDEXED_MAX_S = 1_800
WORD = re.compile(rb"[A-Za-z_]{12,30}")
COMMON = ["return", "static", "include", "struct", "if", "name"]
IDLE_S = 10
# Searches of a sandbox without sockets start no process.
SANDBOX = {"CODEX_SANDBOX_NETWORK_DISABLED": "1"}


class Tree:
    def __init__(self, place: pathlib.Path, seed: int) -> None:
        self.place = place
        self.rng = random.Random(seed)
        self.files = sorted(path for path in place.rglob("*") if path.is_file() and not path.is_symlink())

        self.words = self.rare_words()
        self.queries = QUERIES_OF_LARGE if len(self.files) >= LARGE_FILES else QUERIES

    def rare_words(self) -> list[str]:
        """Returns words that one of some thousand files has."""
        counts: collections.Counter[bytes] = collections.Counter()
        for path in self.rng.sample(self.files, min(len(self.files), SAMPLED_FILES)):
            counts.update(set(WORD.findall(path.read_bytes()[:100_000])))
        return sorted(word.decode() for word, count in counts.items() if count == 1)

    def word(self) -> str:
        return self.rng.choice(self.words)

    def edit(self) -> None:
        at = self.rng.randrange(len(self.files))
        path = self.files[at]
        match self.rng.randrange(4):
            case 0:
                path = path.with_name(f"created_{at}.c")
                path.write_text(f"int {self.word()};\n")
                self.files.append(path)
            case 1:
                self.files[at] = path.with_name(f"renamed_{at}_{path.name[-40:]}")
                path.rename(self.files[at])
            case 2:
                path.unlink()
                self.files[at] = self.files[-1]
                self.files.pop()
            case _:
                with open(path, "ab") as file:
                    file.write(f"\nint {self.word()};\n".encode())


def main(directory: str, files: int | None = None) -> int:
    trawl, (rg,) = tools.trawl(), tools.need("rg")
    table = Goals()
    with tools.workspace() as work:
        place = pathlib.Path(work, "tree")
        copy(directory, place, files)
        os.environ.pop("XDG_RUNTIME_DIR", None)
        os.environ["XDG_CACHE_HOME"] = f"{work}/cache"
        tree = Tree(place, 1)
        contenders = {"trawl": [trawl, "grep"], "rg": [rg]}
        print(f"{len(tree.files):,} files")
        with table.rows("cold"):
            cold(table, contenders, tree)
        try:
            with table.rows("index"):
                build(table, trawl, tree, work)
            with table.rows("warm"):
                warm(table, contenders, tree)
            with table.rows("callers"):
                callers(table, contenders, tree)
            with table.rows("idle"):
                idle(table, trawl)
            with table.rows("checkout"):
                checkout(table, contenders, tree)
            with table.rows("restart"):
                restart(table, contenders, tree)
        finally:
            tools.run([trawl, "local", "stop"], statuses=(0, 1))
    return table.finish()


def copy(directory: str, place: pathlib.Path, files: int | None) -> None:
    if files is None:
        shutil.copytree(directory, place, symlinks=True)
        return
    small = [path for path in sorted(pathlib.Path(directory).rglob("*"))
             if path.is_file() and not path.is_symlink() and path.stat().st_size <= SMALL_BYTES]
    for number in range(files):
        turn, path = divmod(number, len(small))
        to = place / str(turn) / small[path].relative_to(directory)
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_bytes(small[path].read_bytes())


def ask(command: Sequence[str], tree: Tree, **environment: str) -> tuple[float, list[bytes]]:
    """Returns milliseconds and the sorted lines."""
    began = time.perf_counter()
    done = subprocess.run(command, cwd=tree.place, stdin=subprocess.DEVNULL, capture_output=True,
                          env=os.environ | environment)
    elapsed = 1000 * (time.perf_counter() - began)
    if done.returncode > 1:
        raise Wrong(f"exit status {done.returncode} of {' '.join(command)}: {done.stderr[:300]!r}")
    return elapsed, sorted(done.stdout.splitlines())


def compare(contenders: dict[str, list[str]], tree: Tree, arguments: Sequence[str],
            **environment: str) -> dict[str, float]:
    """Returns the milliseconds of each contender. The first two must agree."""
    asked = list(contenders.items())
    answers = {name: ask([*command, *arguments], tree, **environment)
               for name, command in (asked if tree.rng.random() < 0.5 else asked[::-1])}
    trawl, rg = (text_lines(answers[name][1]) for name in ("trawl", "rg"))
    if trawl != rg:
        raise Wrong(f"{' '.join(arguments)}: {len(trawl)} lines, ripgrep {len(rg)}")
    return {name: elapsed for name, (elapsed, _) in answers.items()}


def text_lines(lines: list[bytes]) -> list[bytes]:
    """Leaves out files with a NUL after their begin: ripgrep prints what its buffer had before, and its size depends
    on the files that the thread read earlier."""
    binary = {line.split(b": ", 1)[0] for line in lines if b"binary file" in line}
    return [line for line in lines if line.split(b":", 1)[0] not in binary]


def cold(table: Goals, contenders: dict[str, list[str]], tree: Tree) -> None:
    scans = contenders | {"trawl": [*contenders["trawl"], "--no-index"]}
    if tools.have("ugrep"):
        scans["ugrep"] = ["ugrep", "-r", "-I", "--ignore-files"]
    times = [compare(scans, tree, ["-n", tree.word()]) for _ in range(7)][1:]
    of = {name: statistics.median(each[name] for each in times) for name in scans}
    trawl, rg = of.pop("trawl"), of["rg"]
    note = ", ".join(f"{name} {elapsed:,.0f}" for name, elapsed in of.items())
    table.row("without an index, a rare word", trawl, "{:,.0f} ms", note=note)
    table.row("without an index, times ripgrep", trawl / rg, "{:.2f}", at_most=1.1)


def build(table: Goals, trawl: str, tree: Tree, work: str) -> None:
    began = time.perf_counter()
    ask([trawl, "grep", tree.word()], tree)
    while "  watched" not in (status := tools.run([trawl, "local", "status"], (0, 1), text=True).stdout):
        if time.perf_counter() - began > INDEXED_MAX_S:
            raise Wrong(f"not indexed: {status}")
        time.sleep(0.2)
    took = time.perf_counter() - began
    table.row("index behind the first search", took, "{:,.0f} s", at_most=20 if len(tree.files) < LARGE_FILES else 360)
    text = sum(path.stat().st_size for path in tree.files)
    found = [path.stat() for path in pathlib.Path(work, "cache").rglob("*") if path.is_file()]
    kept = sum({file.st_ino: file.st_size for file in found}.values())
    table.row("index, share of the text", kept / text, "{:.2f}")
    tools.run([trawl, "local", "update"])


def kinds(tree: Tree) -> dict[str, tuple[Callable[[], list[str]], bool]]:
    """Returns arguments by kind, and if all lines of a common word are asked for."""
    return {
        "a rare word, -n": (lambda: ["-n", tree.word()], False),
        "a rare word, -l": (lambda: ["-l", tree.word()], False),
        "a rare word, -i": (lambda: ["-i", "-n", tree.word()], False),
        "a regular expression": (lambda: ["-n", rf"{tree.word()[:9]}\w*\("], False),
        "a rare word in files of C": (lambda: ["-n", "-t", "c", tree.word()], False),
        "first match of each file": (lambda: ["-m", "1", tree.word()], False),
        "--files -g": (lambda: ["--files", "-g", f"*{tree.word()[:4].lower()}*"], False),
        "all lines of a common word": (lambda: ["-n", tree.rng.choice(COMMON)], True),
        "-c of a common word": (lambda: ["-c", tree.rng.choice(COMMON)], True),
    }


def warm(table: Goals, contenders: dict[str, list[str]], tree: Tree) -> None:
    for what, (arguments, is_common) in kinds(tree).items():
        times = []
        for _ in range(max(3, tree.queries // 10) if is_common else tree.queries):
            tree.edit()
            times.append(compare(contenders, tree, arguments()))
        of = {name: quantiles([each[name] for each in times]) for name in contenders}
        note = "; ".join(f"{name} {p50:,.0f}, {p99:,.0f}" for name, (p50, p99) in of.items() if name != "trawl")
        p50, p99 = of["trawl"]
        if is_common:
            table.row(f"{what}: times ripgrep", p50 / of["rg"][0], "{:.2f}", at_most=0.2,
                      note=f"p50 {p50:,.0f} ms; {note}")
        else:
            table.row(f"{what}: p50, whole process", p50, "{:.1f} ms", at_most=8, note=note)
            table.row(f"{what}: p99, whole process", p99, "{:.1f} ms", at_most=20)


def callers(table: Goals, contenders: dict[str, list[str]], tree: Tree) -> None:
    words = tree.rng.sample(tree.words, min(len(tree.words), 2 * QUERIES))
    with concurrent.futures.ThreadPoolExecutor(CALLERS) as pool:
        asked = list(pool.map(lambda word: ask([*contenders["trawl"], "-n", word], tree), words))
    p50, p99 = quantiles([elapsed for elapsed, _ in asked])
    table.row(f"{CALLERS} callers at once, a rare word: p99", p99, "{:.1f} ms", at_most=60, note=f"p50 {p50:,.0f}")
    for word, (_, lines) in list(zip(words, asked, strict=True))[:tree.queries]:
        if text_lines(lines) != text_lines(ask([*contenders["rg"], "-n", word], tree)[1]):
            raise Wrong(f"{CALLERS} callers: {word}")


def idle(table: Goals, trawl: str) -> None:
    status = tools.run([trawl, "local", "status"], text=True).stdout
    tools.run([trawl, "local", "update"])
    process = int(status.split()[1].rstrip(","))
    before = processor_s(process)
    time.sleep(IDLE_S)
    table.row("processor of the idle process", 100 * (processor_s(process) - before) / IDLE_S, "{:.1f} %", at_most=1)
    memory = int(re.findall(r"VmRSS:\s+(\d+)", pathlib.Path(f"/proc/{process}/status").read_text())[0]) / 1000
    table.row("memory of the process", memory, "{:.0f} MB", at_most=150)


def processor_s(process: int) -> float:
    fields = pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextlib.contextmanager
def repository(tree: Tree) -> Iterator[Callable[..., object]]:
    def git(*words: str) -> object:
        return tools.run(["git", "-C", tree.place, "-c", "user.name=a", "-c", "user.email=a@b", "-c", "gc.auto=0",
                          "-c", "core.excludesFile=/dev/null", *words])

    changed = [path for path in tree.files if path.is_file()][:CHANGED_FILES]
    git("init", "-q", "-b", "one")
    git("add", "-f", *(os.path.relpath(path, tree.place) for path in changed))
    git("commit", "-q", "-m", "one")
    git("checkout", "-q", "-b", "two")
    for number, path in enumerate(changed):
        with open(path, "ab") as file:
            file.write(f"\nint only_in_two_{number % 7};\n".encode())
    git("commit", "-q", "-a", "-m", "two")
    yield git


def checkout(table: Goals, contenders: dict[str, list[str]], tree: Tree) -> None:
    pair = {name: contenders[name] for name in ("trawl", "rg")}
    with repository(tree) as git:
        times = []
        for turn in range(6):
            tools.run([contenders["trawl"][0], "local", "update"])
            git("checkout", "-q", ["one", "two"][turn % 2])
            times.append(compare(pair, tree, ["-n", f"only_in_two_{turn}"]))
    trawl, rg = (statistics.median(each[name] for each in times) for name in ("trawl", "rg"))
    table.row(f"after a checkout of {CHANGED_FILES:,} files", trawl, "{:,.0f} ms", at_most=1000, note=f"rg {rg:,.0f}")


def restart(table: Goals, contenders: dict[str, list[str]], tree: Tree) -> None:
    """The index is on the disk, and no process runs."""
    tools.run([contenders["trawl"][0], "local", "stop"])
    pair = {name: contenders[name] for name in ("trawl", "rg")}
    times, listings = [], []
    for _ in range(9):
        tree.edit()
        times.append(compare(pair, tree, ["-n", tree.word()], **SANDBOX))
        listings.append(ask([contenders["rg"][0], "--files"], tree)[0])
    trawl, rg = (statistics.median(each[name] for each in times) for name in ("trawl", "rg"))
    files = statistics.median(listings)
    table.row("without the process: a rare word", trawl, "{:,.0f} ms", note=f"rg {rg:,.0f}, rg --files {files:,.0f}")
    table.row("without the process: times rg --files", trawl / files, "{:.2f}", at_most=1)
