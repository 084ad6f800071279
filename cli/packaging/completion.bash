source <(trawl completions bash)
