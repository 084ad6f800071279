"""The figures for the whole way: an index of a corpus, `trawl serve`, and HTTP."""


def measure(table, corpus, work, runs):
    pass
