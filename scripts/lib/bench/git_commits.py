"""`bench git --only commits`: how fast commits are looked up, against a server that runs `git log -1` for each.

Both servers answer the same requests over bare clones of the same repositories, in turn, at 8 connections; their
answers must be equal. The forms of a revision are measured one by one, over one repository and over 200. Then each
of many commits is requested once from a server that has just started: every answer is read from a repository.
At the end one commit of each of 10,000 repositories is requested, and the memory and descriptors of the server are
compared with those before.
"""

import contextlib
import json
import os
import pathlib
import random
import shutil
import statistics
import urllib.parse
from collections.abc import Callable, Sequence

from .. import servers, tools
from ..connection import Connection
from ..table import Goals, Wrong

CONNECTIONS = 8
SECONDS = 2
REPOSITORIES = 200
COLD_REQUESTS = 10_000
MANY_REPOSITORIES = 10_000

# What the server may keep: 64 repositories with 4 MiB of objects each, answers of 16 MiB, and as much again for
# what is fragmented.
MANY_BYTES_MAX = 2 * (64 * (4 << 20) + (16 << 20))

# Descriptors that the server may keep: four for each open repository, and connections.
MANY_DESCRIPTORS_MAX = 64 * 4 + 2 * CONNECTIONS

PERSON = os.environ | {f"GIT_{role}_{part}": "somebody"
                       for role in ("AUTHOR", "COMMITTER") for part in ("NAME", "EMAIL")}

FORMS: dict[str, Callable[[str, list[str]], str]] = {
    "default branch": lambda name, ids: "",
    "full id": lambda name, ids: ids[len(ids) // 2],
    "branch": lambda name, ids: "measured",
    "HEAD~25": lambda name, ids: "HEAD~25",
}


def measure(table: Goals, trawl: str, sources: Sequence[tools.AnyPath], runs: int) -> None:
    programs = tools.testkit("--examples")
    with tools.workspace() as work:
        root, ids = clones(sources, os.path.join(work, "repos"))
        index = empty_index(trawl, work)

        def serve() -> contextlib.AbstractContextManager[servers.Server]:
            return servers.serve(trawl, index, os.path.join(work, "spool"), "--repos", root)

        with serve() as server, servers.started([programs / "examples/git_spawner", root]) as spawner:
            bench = Bench(table, programs, work, {"trawl": server, "spawning": spawner}, runs)
            for count in (1, len(ids)):
                names = list(ids)[:count]
                for form, revision in FORMS.items():
                    what = f"{form}, {count} {'repository' if count == 1 else 'repositories'}"
                    with table.rows(what):
                        bench.compare(what, [address(name, revision(name, ids[name])) for name in names])
        with serve() as server:
            bench = Bench(table, programs, work, {"trawl": server}, runs)
            bench.cold(ids)
        root, names = copies(os.path.join(work, "many"))
        with servers.serve(trawl, index, os.path.join(work, "spool"), "--repos", root) as server:
            bench = Bench(table, programs, work, {"trawl": server}, runs)
            bench.many(names)


def clones(sources: Sequence[tools.AnyPath], root: str) -> tuple[str, dict[str, list[str]]]:
    """Makes bare clones of the repositories, 200 in all. Returns their directory, and their commits by name."""
    os.mkdir(root)
    ids = {}
    for number in range(REPOSITORIES):
        source, name = sources[number % len(sources)], f"r{number:03}"
        clone = os.path.join(root, f"{name}.git")
        tools.run(["git", "clone", "-q", "--bare", "--local", source, clone])
        tools.run(["git", "-C", clone, "branch", "-f", "measured", "HEAD"])
        listed = tools.run(["git", "-C", clone, "rev-list", "HEAD"], text=True).stdout.split()
        if len(listed) < 26:
            raise tools.Failure(f"{source} has {len(listed)} commits; HEAD~25 needs 26")
        ids[name] = listed
    return root, ids


def copies(root: str) -> tuple[str, list[str]]:
    """Makes repositories of one commit each, whose objects are links to the same files."""
    first = os.path.join(root, "r00000.git")
    tools.run(["git", "init", "-q", "--bare", "--template=", "-b", "main", first])

    def git(*words: str) -> str:
        return tools.run(["git", "--git-dir", first, *words], text=True, env=PERSON).stdout.strip()

    git("update-ref", "refs/heads/main", git("commit-tree", git("mktree"), "-m", "the only commit"))
    names = [f"r{number:05}" for number in range(MANY_REPOSITORIES)]
    for name in names[1:]:
        shutil.copytree(first, os.path.join(root, f"{name}.git"), copy_function=os.link)
    return root, names


def empty_index(trawl: str, work: str) -> str:
    """Builds an index of one small file, since a server needs one."""
    source, index = os.path.join(work, "source"), os.path.join(work, "index")
    os.mkdir(source)
    with open(os.path.join(source, "a.c"), "w") as file:
        file.write("int a;\n")
    return tools.build_index(trawl, index, [source])


def address(name: str, revision: str) -> str:
    query = {"repo": name, "rev": revision} if revision else {"repo": name}
    return "/api/v2/commit?" + urllib.parse.urlencode(query)


class Bench:
    """Servers, by name, that answer the same requests."""

    def __init__(self, table: Goals, programs: pathlib.Path, work: str, started: dict[str, servers.Server],
                 runs: int) -> None:
        self.table, self.load, self.runs = table, programs / "http_load", runs
        self.started, self.file = started, os.path.join(work, "paths")

    def compare(self, what: str, paths: list[str]) -> None:
        self.check(paths)
        rates, times = self.measure(paths)
        rate = {name: statistics.median(each) for name, each in rates.items()}
        self.table.row(f"{what}: trawl", rate["trawl"], "{:,.0f}/s")
        self.table.row(f"{what}: git log -1", rate["spawning"], "{:,.0f}/s")
        self.table.row(f"{what}: times as many", rate["trawl"] / rate["spawning"], "{:.1f}", at_least=20)
        self.table.row(f"{what}: p99 of trawl", statistics.median(times["trawl"]), "{:,.2f} ms")

    def cold(self, ids: dict[str, list[str]]) -> None:
        """Requests commits once each, in any order."""
        chosen = random.Random(1)
        pairs = [(name, commit) for name, commits in ids.items() for commit in commits]
        pairs = chosen.sample(pairs, min(COLD_REQUESTS, len(pairs)))
        what = f"{len(pairs):,} commits of {len(ids)} repositories, each once"
        with self.table.rows(what):
            rate, p99 = self.request("trawl", [address(*pair) for pair in pairs], 0)
            self.table.row(f"{what}: trawl", rate, "{:,.0f}/s")
            self.table.row(f"{what}: p99", p99, "{:,.2f} ms")

    def many(self, names: list[str]) -> None:
        """Requests the commit of each repository, and looks at the server before and after."""
        server, what = self.started["trawl"], f"{len(names):,} repositories, each once"
        with self.table.rows(what):
            # The first walk through the directory is not a look-up.
            self.request("trawl", [address(names[0], "")], 0)
            before = server.status("RssAnon"), server.descriptors()
            rate, p99 = self.request("trawl", [address(name, "") for name in names], 0)
            self.table.row(f"{what}: trawl", rate, "{:,.0f}/s")
            self.table.row(f"{what}: p99", p99, "{:,.2f} ms")
            grown = server.status("RssAnon") - before[0], server.descriptors() - before[1]
            self.table.row(f"{what}: growth of anonymous memory", grown[0] / 1e6, "{:,.1f} MB",
                           at_most=MANY_BYTES_MAX / 1e6)
            self.table.row(f"{what}: growth of descriptors", grown[1], "{}", at_most=MANY_DESCRIPTORS_MAX)

    def measure(self, paths: list[str]) -> tuple[dict[str, list[float]], dict[str, list[float]]]:
        """Returns requests a second and p99 in milliseconds of each server, run by run."""
        rates: dict[str, list[float]] = {name: [] for name in self.started}
        times: dict[str, list[float]] = {name: [] for name in self.started}
        for turn in range(self.runs):
            order = list(self.started)
            for name in order if turn % 2 == 0 else reversed(order):
                rate, p99 = self.request(name, paths, SECONDS)
                rates[name].append(rate)
                times[name].append(p99)
        return rates, times

    def request(self, name: str, paths: list[str], seconds: float) -> tuple[float, float]:
        with open(self.file, "w") as file:
            file.writelines(f"{path}\n" for path in paths)
        command = [self.load, self.started[name], CONNECTIONS, seconds, self.file]
        words = tools.run(command, text=True).stdout.split()
        requests, elapsed, _, p99, failed = (float(word) for word in words)
        if failed:
            raise Wrong(f"{failed:.0f} of {requests:.0f} requests failed")
        return requests / elapsed, p99 / 1e3

    def check(self, paths: list[str]) -> None:
        """Compares the answers of all servers."""
        for path in paths:
            answers = []
            for server in self.started.values():
                with Connection(server.address) as connection:
                    answers.append(json.loads(connection.get(path)))
            if any(answer != answers[0] for answer in answers):
                raise Wrong(f"{path}: {answers[0]} is not {answers[1]}")
