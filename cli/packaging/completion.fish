trawl completions fish | source
