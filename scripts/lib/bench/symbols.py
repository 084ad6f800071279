"""`bench symbols`: lexing, definitions, uses and classes, beside universal-ctags and ripgrep.

Files of a language are lexed by `examples/symbols` and by ctags, one core each; a built index is measured; then a
running server answers searches and looks up words that were taken at random from C and Python files, with a seed.
readtags finds the same definitions in a file of tags, `rg -w` the same uses. Answers are checked: ctags' definitions
of `main` must be found, places must have their word, and the lines of a word in comments, strings and code must be all.
"""

import contextlib
import functools
import os
import random
import re
import statistics
import time
import typing
from collections.abc import Callable, Iterable

from .. import ctags, servers, tools
from ..table import Goals, Wrong, interleaved, medians, quantiles
from . import binaries
from .build import built, size

LANGUAGES = {"C": r"\.[ch]", "C++": r"\.(cc|cpp|hpp)", "Python": r"\.py", "Go": r"\.go", "Java": r"\.java",
             "Rust": r"\.rs", "Perl": r"\.p[lm]", "JavaScript": r"\.js", "Shell": r"\.sh"}
LEXED_MB_S, INDEX_SHARE, FOUND_SHARE = 150, 0.025, 0.97
FIRST_PAGE_MS, DEFINITIONS_MS = 20, 10
FILES, WORDS_OF_FILE, WORDS = 60, 3, 147
BUILDS = 2
CALL = re.compile(r"\b[a-z]\w{3,}(?=\()")
WORD_QUERIES = ("sym:=main", "uses:errno", "in:comment return", "kind:function")


def main(corpus: str, runs: int, baseline: str | None = None) -> int:
    tools.need("rg", "readtags")
    table, trawls = Goals(bool(baseline)), binaries(baseline)
    files = [os.path.join(corpus, path) for path in ctags.text_files(corpus)]
    with tools.workspace() as work, contextlib.ExitStack() as stack:
        lex(table, files, work)
        index = build(table, corpus, trawls, work)
        server = stack.enter_context(servers.serve(trawls["trawl"], index, os.path.join(work, "spool")))
        with table.rows("searches"):
            search(table, server, corpus, work, runs)
        with table.rows("words"):
            look_up(table, server, corpus, files)
    return table.finish()


def lex(table: Goals, files: Iterable[str], work: str) -> None:
    """Compares MB a second of one core with ctags, by language."""
    tools.run(["cargo", "build", "--quiet", "--release", "--locked", "--package", "language", "--example", "symbols"],
              cwd=tools.ROOT)
    program, listed = tools.RELEASE / "examples/symbols", os.path.join(work, "files")
    for language, ends in LANGUAGES.items():
        of = [path for path in files if re.search(f"{ends}$", path)]
        megabytes = sum(map(os.path.getsize, of)) / 1e6
        with open(listed, "w", errors="surrogateescape") as out:
            out.writelines(f"{path}\n" for path in of)
        ours = tools.run(["sh", "-c", f"tr '\\n' '\\0' < {listed} | {program} - 2>&1 >{os.devnull}"], text=True)
        found = re.search(r"(\d+) MB/s", ours.stdout)
        if not found:
            raise tools.Failure(f"{program} printed no rate: {ours.stdout}")
        _, _, cpu_s = tools.measured(["ctags", "--options=NONE", "-f", "-", "--sort=no", "-L", listed])
        theirs = megabytes / cpu_s
        table.row(f"{language}: lexed", float(found[1]), "{:.0f} MB/s", at_least=LEXED_MB_S,
                  note=f"{float(found[1]) / theirs:.1f} times ctags with {theirs:.0f}, of {megabytes:.0f} MB")


def build(table: Goals, corpus: str, trawls: dict[str, str], work: str) -> str:
    """Compares builds with those of the baseline, and the size of symbols with that of the text. Returns the index."""
    places = {name: os.path.join(work, f"index-{name}") for name in trawls}
    contenders = {name: functools.partial(built, [trawl, "index", "--each", "--index", places[name], corpus],
                                          places[name]) for name, trawl in trawls.items()}
    cpu_s = {name: medians(of)[2] for name, of in interleaved(contenders, BUILDS).items()}
    index = places["trawl"]
    table.row("build: processor time", cpu_s, "{:.1f} s", note=f"{size(index) / 1e6:.0f} MB")
    sections = tools.run([trawls["trawl"], "inspect", "--index", index], text=True).stdout
    shares = [float(share) for share in re.findall(r"^  symbols .* ([\d.]+) x text", sections, re.M)]
    table.row("index: symbols, of the text", max(shares), "{:.4f}", at_most=INDEX_SHARE)
    return index


def search(table: Goals, server: servers.Server, corpus: str, work: str, runs: int) -> None:
    tags = os.path.join(work, "tags")
    tools.run(["ctags", "--options=NONE", "-R", "--kinds-C=f", "--languages=C", "-f", tags, corpus])
    peers = {"sym:=main": ["readtags", "-t", tags, "main"], "uses:errno": ["rg", "-cw", "errno", corpus],
             "in:comment return": ["rg", "-cw", "return", corpus]}
    for query in WORD_QUERIES:
        # Other context lines: no answer is one that was kept.
        first = median_ms(lambda turn: server.search(q=query, limit=10, total="estimate", context=turn % 9), runs)
        whole = median_ms(lambda turn: server.search(q=f"{query} -path:no.such.{turn}", want="count"), runs)
        peer = peers.get(query)
        note = f"{peer[0]} {median_ms(lambda _: tools.run(peer, (0, 1)), runs):.0f} ms" if peer else ""
        table.row(f"{query}: ten best", first, "{:.1f} ms", at_most=FIRST_PAGE_MS)
        table.row(f"{query}: counted", whole, "{:.1f} ms", note=note)
    mains = tools.run(peers["sym:=main"], text=True).stdout.splitlines()
    found = server.search(q="sym:=main lang:c kind:function", want="count")["found"]
    if found < FOUND_SHARE * len(mains):
        raise Wrong(f"sym:=main: {found} in C, ctags has {len(mains)}")
    counts = {place: server.search(q=f"{place} return".strip(), want="count")["found"]
              for place in ("", "in:code", "in:comment", "in:string", "in:text")}
    if max(counts.values()) > counts[""] or sum(counts.values()) < 2 * counts[""]:
        raise Wrong(f"return: {counts}")


def median_ms(ask: Callable[[int], object], runs: int) -> float:
    times = []
    for turn in range(runs):
        started = time.perf_counter()
        ask(turn)
        times.append(1e3 * (time.perf_counter() - started))
    return statistics.median(times)


def look_up(table: Goals, server: servers.Server, corpus: str, files: Iterable[str]) -> None:
    """Looks up words at random positions."""
    positions = list(positions_in([path for path in files if path.endswith((".c", ".py"))]))[:WORDS]
    for kind, at_most in (("definitions", DEFINITIONS_MS), ("references", None)):
        times = []
        for path, line, column, word in positions:
            package, rest = os.path.relpath(path, corpus).split("/", 1)
            started = time.perf_counter()
            answer = server.connection.json(f"/api/v2/{kind}", package=package, path=rest, line=line, column=column)
            times.append(1e3 * (time.perf_counter() - started))
            check(word, answer)
        p50, p99 = quantiles(times)
        note = f"p99 {p99:.1f}, of {len(times)} words"
        if kind == "references":
            word = positions[0][3]
            note += f"; rg -w {median_ms(lambda _: tools.run(['rg', '-cw', word, corpus], (0, 1)), 3):.0f} ms"
        table.row(f"{kind} of a word: p50", p50, "{:.1f} ms", at_most=at_most, note=note)


def check(word: str, answer: typing.Any) -> None:
    if answer["name"] != word or any(word not in place["text"] for place in answer["places"]):
        raise Wrong(f"{word}: {answer['name']}, {answer['places']}")


def positions_in(files: list[str]) -> Iterable[tuple[str, int, int, str]]:
    """Yields path, line, column and name of calls."""
    chance = random.Random(4)
    for path in chance.sample(files, min(FILES, len(files))):
        with open(path, encoding="latin-1", newline="\n") as text:
            calls = [(number, found) for number, line in enumerate(text, 1) for found in CALL.finditer(line)]
        for number, found in chance.sample(calls, min(WORDS_OF_FILE, len(calls))):
            yield path, number, found.start(), found[0]
