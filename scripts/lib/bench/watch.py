"""`bench watch`: seconds from a push, or a saved file, until `trawl serve --watch` finds it.

The repository is made by the script: 50,000 files of about 1 kB. A push changes one file of a bare repository that
is served with `--git`; a save changes one file of a directory of the same files.
"""

import os
import statistics
import time
from collections.abc import Callable

from .. import servers, tools
from ..table import Goals, Wrong

FILES = 50_000
CHANGES = 50
FOUND_MAX_S = 120
ENVIRONMENT = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1"}


def main(changes: str | int | None = None) -> int:
    tools.need("git")
    trawl, table, changes = tools.trawl(), Goals(), int(changes or CHANGES)
    with tools.workspace() as work:
        repository, directory = f"{work}/pushed.git", f"{work}/saved"
        make(repository, directory)
        for what, source, change in (("push", ["--git", repository], lambda word: push(repository, word)),
                                     ("saved file", [directory], lambda word: save(directory, word))):
            with table.rows(what):
                with servers.serve(trawl, f"{work}/index-{len(source)}", f"{work}/spool-{len(source)}",
                                   "--watch", *source) as server:
                    times = sorted(found_after(server, change, f"{what[:4]}ed_{number}") for number in range(changes))
                table.row(f"{what}, {FILES:,} files: found after, median", statistics.median(times), "{:.2f} s")
                table.row(f"{what}, {FILES:,} files: found after, worst of {changes}", times[-1], "{:.2f} s", at_most=2)
    return table.finish()


def make(repository: str, directory: str) -> None:
    """Makes the bare repository, and a directory with its files."""
    tools.run(["git", "init", "-q", "--bare", "-b", "main", repository], env=ENVIRONMENT)
    stream = ["commit refs/heads/main\ncommitter a <a@b> 1700000000 +0000\ndata 5\nfirst\n"]
    for number in range(FILES):
        text = "".join(f"int function_{number}_{line}(void);\n" for line in range(30))
        stream.append(f"M 644 inline {path(number)}\ndata {len(text)}\n{text}\n")
    data = "".join(stream).encode()
    tools.run(["git", "-C", repository, "fast-import", "--quiet"], input=data, env=ENVIRONMENT)
    os.mkdir(directory)
    tools.run(["git", f"--git-dir={repository}", f"--work-tree={directory}", "checkout", "-q", "-f", "main"],
              env=ENVIRONMENT)


def path(number: int) -> str:
    return f"d{number // 500:03}/f{number:05}.c"


def push(repository: str, word: str) -> None:
    text = f"int {word};\n"
    stream = (f"commit refs/heads/main\ncommitter a <a@b> 1700000001 +0000\ndata 4\npush\n"
              f"from refs/heads/main^0\nM 644 inline {path(7)}\ndata {len(text)}\n{text}\n")
    tools.run(["git", "-C", repository, "fast-import", "--quiet"], input=stream.encode(), env=ENVIRONMENT)


def save(directory: str, word: str) -> None:
    with open(os.path.join(directory, path(7)), "w") as file:
        file.write(f"int {word};\n")


def found_after(server: servers.Server, change: Callable[[str], object], word: str) -> float:
    """Returns the seconds from the end of a change until a search finds it."""
    change(word)
    began = time.perf_counter()
    while (elapsed := time.perf_counter() - began) < FOUND_MAX_S:
        answer = server.search(q=f'"{word}"')
        if answer["total"] == 1 and answer["complete"]:
            return elapsed
        time.sleep(0.01)
    raise Wrong(f"{word} was not found within {FOUND_MAX_S} s")
