"""`bench query`: whole processes, with their output written to a file."""

import functools
import os

from .. import ripgrep, tools
from ..table import Ratios, interleaved, load, medians, row
from . import QUERIES, binaries, indexes, search


def main(corpus: str, runs: int, baseline: str | None) -> list[str]:
    with tools.workspace() as work:
        reference = ripgrep.Reference(corpus)
        trawls = binaries(baseline)
        built = indexes(trawls, corpus, work)
        env, peers = dict(os.environ, CSEARCHINDEX=os.path.join(work, "csearchindex")), ["rg"]
        if tools.have("cindex", "csearch"):
            tools.run(["cindex", corpus], env=env)
            peers.append("csearch")
        print(f"whole processes, milliseconds; {load()}")
        compared = ["ratio"] if baseline else []
        row("query", ["lines", *trawls, *compared, *peers, *(f"{peer}/trawl" for peer in peers)])
        ratios = Ratios()
        wrong: list[str] = []
        for mode, text in QUERIES:
            commands = {name: search(trawl, built[name], mode, text) for name, trawl in trawls.items()}
            commands["rg"] = [*ripgrep.command(mode, text), corpus]
            pattern = text if mode == "regexp" else ripgrep.escape(text)
            commands["csearch"] = ["csearch", "-n", pattern]
            out = {name: os.path.join(work, f"out-{name}") for name in commands}
            results = interleaved(
                {name: functools.partial(tools.measured, commands[name], out[name], (0, 1), env)
                 for name in [*trawls, *peers]}, runs)
            seconds = {name: medians(each)[0] for name, each in results.items()}
            with open(out["trawl"], "rb") as file:
                found = file.read()
            if not reference.agrees(mode, text, found):
                wrong.append(text)
            name = f"{mode[0]} {text}"
            compared = []
            if baseline:
                compared = [ratios.add(name, seconds["trawl"], seconds["baseline"])]
            lines = found.count(b"\n")
            row(name, [f"{lines:,}", *(f"{1e3 * seconds[each]:.2f}" for each in trawls),
                       *compared, *(f"{1e3 * seconds[peer]:.2f}" for peer in peers),
                       *(f"{seconds[peer] / seconds['trawl']:.1f}" for peer in peers)],
                "  WRONG" if text in wrong else "")
        ratios.finish()
        return wrong
