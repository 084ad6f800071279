"""Random corpora of directories and git repositories, searched by servers and compared with a naive scan.

Everything follows from the seed of a corpus, whatever process makes it.
"""

import concurrent.futures
import contextlib
import os
import random
import time
import typing
from collections.abc import Iterator, Mapping

from . import scoped, servers, tools
from .histories import Directory, Document, History, Texts
from .naive import Queries
from .scan import difference
from .two_worlds import service

Package = Directory | History
# Sends searches: for everything, or as a caller who sees a part.
Searched = servers.Server | scoped.Caller
# The number of queries and of lines that were found, and differences.
Checked = tuple[int, int, list[str]]

DIRECTORIES = ["lib_1.0", "lib_1.1", "tool_2", "alpha_1"]
REPOSITORIES = ["mirror", "beta-2.0", "main"]
PROCESSES = 2
QUERIES = 6
PER_PAGE = 1000
PROGRESS_S = 5


def compare(count: int, seed: int, has_scopes: bool = False) -> bool:
    """Compares the answers for `count` corpora, and returns whether one differs. With scopes each query has a caller
    who sees a random part of the packages."""
    tools.need("git")
    trawl, started, shown = tools.trawl(), time.monotonic(), time.monotonic()
    queries, lines, differences = 0, 0, 0
    with tools.workspace() as work, concurrent.futures.ProcessPoolExecutor(PROCESSES) as pool, \
            contextlib.ExitStack() as ending:
        # After Ctrl-C the corpora that remain are not made.
        ending.callback(pool.shutdown, cancel_futures=True)
        results = pool.map(checked, [trawl] * count, [work] * count, range(seed, seed + count), [has_scopes] * count)
        for done, (asked, found, differing) in enumerate(results, 1):
            queries, lines, differences = queries + asked, lines + found, differences + len(differing)
            for difference in differing:
                print(difference, flush=True)
            if time.monotonic() - shown > PROGRESS_S:
                shown = time.monotonic()
                print(f"{done} corpora, {queries:,} queries, {lines:,} lines, {differences} differences, "
                      f"{done / (shown - started):.1f} corpora a second", flush=True)
    print(f"seeds {seed} to {seed + count - 1}, {lines:,} lines, {time.monotonic() - started:.0f} s")
    print(f"{count} corpora, {queries:,} queries, {differences} differences")
    return differences > 0


def checked(trawl: str, work: str, seed: int, has_scopes: bool) -> Checked:
    directory = os.path.join(work, str(seed))
    os.mkdir(directory)
    result: Checked
    starting: contextlib.AbstractContextManager[service.Service | None]
    starting = scoped.running() if has_scopes else contextlib.nullcontext()
    try:
        with starting as authorization:
            result = Corpus(trawl, directory, random.Random(seed), authorization).check(seed)
    except (tools.Failure, OSError, ValueError, KeyError) as error:
        result = 0, 0, [f"FAILED: seed {seed}: {type(error).__name__}: {error}"]
    tools.run(["rm", "-rf", directory])
    return result


class Part:
    """An index of some packages, for a backend."""

    def __init__(self, corpus: "Corpus", number: int, packages: list[Package]) -> None:
        self.index, self.packages, chance = f"{corpus.directory}/index{number}", packages, corpus.chance
        self.histories = [package for package in packages if isinstance(package, History)]
        self.patterns = chance.choice(([], ["all"], ["all"], ["all"], ["main", "*a*"], ["HEAD", "[mv]*"], ["[mv]*"]))
        if len(self.histories) == 1 and chance.random() < 0.1:
            self.patterns = [self.histories[0].git("rev-parse", "HEAD").decode().strip(), "main"]

    def build(self, trawl: str, update: bool) -> None:
        if update:
            tools.run([trawl, "index", "--index", self.index, "--update"])
            return
        command = [trawl, "index", "--index", self.index, "--no-ignore"]
        for history in self.histories:
            command += ["--git", history.path]
        for pattern in self.patterns if self.histories else []:
            command += ["--ref", pattern]
        tools.run(command + [package.path for package in self.packages if package not in self.histories])

    def documents(self) -> list[Document]:
        return [document for package in self.packages for document in package.documents(self.patterns)]


class Corpus:
    """Packages with shared texts, in one index or in several, at a few points in time."""

    def __init__(self, trawl: str, directory: str, chance: random.Random,
                 authorization: service.Service | None = None) -> None:
        self.trawl, self.directory, self.chance = trawl, directory, chance
        self.authorization = authorization
        self.public: set[str] = set()
        texts = Texts(chance)
        names = chance.sample(DIRECTORIES, chance.randint(0, 3))
        packages: list[Package] = [Directory(f"{directory}/{name}", texts) for name in names]
        names = chance.sample(REPOSITORIES, chance.randint(1, 2))
        packages += [History(f"{directory}/{name}.git", texts) for name in names]
        chance.shuffle(packages)
        count = min(chance.choice((1, 1, 2, 3)), len(packages))
        self.packages, self.parts = packages, [Part(self, at, packages[at::count]) for at in range(count)]
        self.steps = chance.choice((1, 1, 2, 3))

    def check(self, seed: int) -> Checked:
        """Returns the number of queries and of lines that were found, and differences."""
        queries, lines = 0, 0
        differences: list[str] = []
        for step in range(self.steps):
            if step:
                for package in self.packages:
                    if self.chance.random() < 0.7:
                        package.grow()
            for part in self.parts:
                part.build(self.trawl, step > 0 and self.chance.random() < 0.5)
            documents = [document for part in self.parts for document in part.documents()]
            maker = Queries([package.package for package in self.packages], documents, self.chance)
            names = sorted({package.package for package in self.packages})
            self.public = set(self.chance.sample(names, self.chance.choice((0, 0, 1)) if self.authorization else 0))
            with self.server() as server:
                for _ in range(QUERIES if step == self.steps - 1 else QUERIES // 2):
                    query = maker.query()
                    with self.caller(server, names) as (caller, seen):
                        answer = answered(caller, query.parameters)
                    visible = [document for document in documents if document.package in seen]
                    matches = list(query.matches(visible))
                    queries, lines = queries + 1, lines + sum(len(numbers) for _, numbers in matches)
                    if wrong := difference(answer, matches):
                        differences.append(f"DIFFERS: seed {seed}, step {step}, {len(self.parts)} indexes, "
                                           f"{query.parameters}, sees {sorted(seen)}: {wrong}")
        return queries, lines, differences

    @contextlib.contextmanager
    def caller(self, server: servers.Server, names: list[str]) -> Iterator[tuple[Searched, set[str]]]:
        """Somebody who sees some of these names, or all if there is no authorization; and those names."""
        if not self.authorization:
            yield server, set(names)
            return
        seen = set(self.chance.sample(names, self.chance.randint(0, len(names))))
        with scoped.Caller(server.address, seen) as caller:
            yield caller, seen | self.public

    @contextlib.contextmanager
    def server(self) -> Iterator[servers.Server]:
        spool, flags = f"{self.directory}/spool", ["--spool-bytes", "16M"]
        if self.authorization:
            flags += ["--auth-url", self.authorization.url, "--auth-batch"]
            flags += [word for name in sorted(self.public) for word in ("--public", name)]
        with contextlib.ExitStack() as stack:
            if len(self.parts) == 1:
                starting = servers.serve(self.trawl, self.parts[0].index, spool, *flags)
            else:
                backends = [stack.enter_context(servers.backend(self.trawl, part.index)) for part in self.parts]
                starting = servers.frontend(self.trawl, backends, spool, *flags)
            server = stack.enter_context(starting)
            with server.connection:
                yield server


def answered(server: Searched, parameters: Mapping[str, str]) -> typing.Any:
    """Returns the first page of an answer, with the matches of all pages."""
    answer = server.search(per_page=PER_PAGE, **parameters)
    for page in range(1, answer["pages"]):
        answer["matches"] += server.page(answer["id"], page=page, per_page=PER_PAGE)["matches"]
    return answer
