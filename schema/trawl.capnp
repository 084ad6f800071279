@0xb3c5a0a91f1f7d2e;
# The messages that a frontend and its backends exchange. Each frame (schema/src/frame.rs) holds one
# message; the type of the frame tells which of the structs below it is.
#
# Everything that comes from a repository is Data, never Text: paths and lines are bytes.
# Lines count from 1, everything else from 0. Within a version of the protocol (schema/src/message.rs)
# fields are added, never renumbered.

struct Hello {
  # Backend -> frontend: first on every connection, and on an idle connection again when the backend has
  # a new manifest, or after a second without a change (as the heartbeat).
  protocol @0 :UInt32;
  shards @1 :List(ShardInfo);
  updated @2 :UInt64;        # when the manifest was written, seconds since 1970
  hasRepositories @3 :Bool;  # answers LOOKUP
  semantics @4 :UInt32 = 1;  # how it finds, ranks and orders matches (schema/src/order.rs)
  indexedRepositories @5 :UInt32;
                             # packages that are git repositories
  hasViews @6 :Bool;         # answers from the visible packages of a shard alone (VisibleShard)
  resumes @7 :Bool;          # continues an answer that another backend began (Search.resume)
}

struct ShardInfo {
  id @0 :Data;               # 32 bytes; equal ids mean equal shards, on any backend
  packages @1 :UInt32;
  documents @2 :UInt32;
  blocks @3 :UInt32;
  textBytes @4 :UInt64;
  parts @5 :UInt32;          # packages that LIST names: also those that an earlier shard of the index
                             # has another part of, which `packages` does not count again
}

struct Pattern {
  enum Syntax {
    literal @0;              # every character matches itself
    regexp @1;               # the syntax of the regex crate, with Unicode; ^ and $ match at line
                             # boundaries; with \n or (?s) it may match over several lines
  }
  text @0 :Text;
  syntax @1 :Syntax;
  ignoreCase @2 :Bool;
  word @3 :Bool;             # a match must not touch a word character on either side
  inPath @4 :Bool;           # search the document's path instead of its text
  place @5 :Place;           # where it matches, besides
}

struct Place {
  # What a match of a pattern is in the text (crate `language`). All of it is about one line.
  enum Role {
    any @0;
    definition @1;           # the name of a definition, in which the pattern is searched; `word`: it is all of the name
    use @2;                  # not the name of a definition
  }
  classes @0 :UInt32;        # classes of all bytes of the match: bit 0 code, 1 comment, 2 string, 3 text,
                             # 4 added, 5 removed; 0: any
  role @1 :Role;
  kinds @2 :UInt32;          # of the definition: bit n for the kind of number n; 0: any
  parent @3 :Text;           # a regular expression for the name of the definition around it, in any case; empty: any
}

struct Expr {
  # A condition on a document. A pattern holds when it matches at least once. If the whole expression
  # holds for a document, its matches are the lines matched by the patterns that contribute to that:
  # not those below a `not`, nor those of an alternative that does not hold.
  union {
    pattern @0 :Pattern;
    filter @1 :Filter;
    all @2 :List(Expr);      # two or more, all of which hold
    any @3 :List(Expr);      # two or more, one of which holds
    not @4 :Expr;
    line @5 :Expr;           # holds for a single line; contains only patterns
  }
}

struct Filter {
  # A condition on a document that does not read its text. An expression without a filter of revisions
  # searches the default revision of each repository, with one it searches all that are indexed.
  enum Field {
    package @0;              # the package's name, without version
    path @1;                 # within the package
    language @2;             # the name of a language, or an alias; exact, ignoring case
    extension @3;            # the part of the file name behind the last dot; exact, ignoring case
    name @4;                 # package's directory, "/" and path
    revision @5;             # a revision that has the document: its name, in full or short, the beginning
                             # of its commit id (7 digits or more), or HEAD for the default one
    branch @6;               # the same, but only branches
    kind @7;                 # the name of a DocumentKind; exact, ignoring case
    type @8;                 # commit: messages; diff: changes of files by commits; exact. An expression without this filter
                             # searches neither
    author @9;               # "Name <address>" of the commit
    committer @10;
    message @11;             # of the commit
    before @12;              # committed before this time, in seconds since 1970; exact
    after @13;               # at or after it
  }
  enum Reading {
    regexp @0;               # the syntax of the regex crate, case sensitive, matches anywhere; not of
                             # revisions
    exact @1;                # the whole value; for a package also its directory's name
    glob @2;                 # * ? [] {} and **; without a / it matches the last component
    regexpIgnoringCase @3;   # as regexp, in any case
  }
  field @0 :Field;
  reading @1 :Reading;
  text @2 :Text;
}

struct Search {
  # Frontend -> backend. Answered by BATCH, PROGRESS and SKIP frames and one END or ERROR.
  expr @0 :Expr;             # at most 64 patterns and filters, nested at most 32 deep
  contextLines @1 :UInt32;   # lines sent before and after each match
  shards @2 :List(Data);     # ids, as announced in HELLO; answers name a shard by its index
  want @3 :Want;
  limit @4 :UInt64;          # number of matches to send, the best ones; 0: all
  deadlineMs @5 :UInt32;     # after the arrival of the request; then ERROR; 0: never
  heavy @6 :Bool;            # run whatever it costs; otherwise an expensive search is answered with
                             # ERROR heavy
  names @7 :Bool;            # a document matches by its path alone
  excluded @8 :List(Excluded);
                             # packages that other shards have in a newer build
  visible @9 :List(VisibleShard);
                             # if `restricted`: one for each of `shards`, in their order
  restricted @10 :Bool;      # only what `visible` lists is searched; else all packages are visible
  uncounted @11 :Bool;       # with a limit: matches beyond it need not be found, so ShardEnd.found may be too
                             # small, but not below the limit
  perDocument @12 :UInt32;   # not 0: `limit` counts documents, which are as good as their best match; at most so many
                             # matches of each are sent, one of them with its best score. Only with `uncounted`;
                             # ERROR badQuery if it takes more than little work
  resume @13 :List(ResumePoint);
                             # if not empty: one for each of `shards`, in their order
  trace @14 :TraceContext;   # absent: the search belongs to no trace
  firstRange @15 :Bool;      # of each match only the first range is wanted; all may be sent. The rank is that of all
  text @16 :TextOrder;       # lines are wanted as text: TEXT may be sent in place of BATCH. Ignored with a limit or with
                             # context
  phrase @17 :List(Pattern); # at most 2, the best one first. Lines that match one of them come first; if there is one,
                             # then those with all patterns of the expression, then those with these near each other
}

enum TextOrder {
  # The order of the lines in a TEXT frame.
  none @0;                   # no TEXT is sent
  ranked @1;                 # by rank, then by line
  found @2;                  # by line, in one run. Ranks are not computed
}

struct TraceContext {
  # Names a place in a trace, as the header traceparent of W3C Trace Context does. What the receiver records hangs below it.
  traceHigh @0 :UInt64;      # the id of the trace, of 128 bits; all 0: there is none
  traceLow @1 :UInt64;
  span @2 :UInt64;           # the id of the span from which the search comes; 0: there is none
  sampled @3 :Bool;          # spans of the trace are recorded
}

struct ResumePoint {
  # How far another backend has answered for a shard. What came until there is not sent again. ShardEnd.matches,
  # .found, .matchedDocuments, .skipped and .hash are those of both answers together.
  shard @0 :UInt32;          # the answer names the shard by this number, not by its index in Search.shards
  matches @1 :UInt64;        # that were sent
  documents @2 :UInt64;      # with a match
  hash @3 :UInt32;           # as in ShardEnd
  document @4 :UInt32;       # if there are matches: the place of the last one
  line @5 :UInt32;
  skipped @6 :UInt64;        # SKIP frames that were sent
  skippedDocument @7 :UInt32;
                             # if there are any: the document of the last one
}

struct Excluded {
  # Packages of a shard that are not searched, as if the shard did not have them.
  shard @0 :UInt32;          # index in Search.shards
  packages @1 :List(UInt32); # numbers of packages in the shard, ascending
}

struct VisibleShard {
  # The packages of a shard that the caller may see. The answer is that of a shard without the others.
  shard @0 :Data;            # its id
  packages @1 :Data;         # a bitmap over the numbers of packages: number n is bit n % 8 of byte n / 8; a
                             # number behind its end is not visible
  all @2 :Bool;              # all packages are visible, without a bitmap
}

enum Want {
  matches @0;                # every matching line
  documents @1;              # the first match of every document
  count @2;                  # no BATCH: END has the number of matches
  estimate @3;               # nothing is searched: END has the cost
}

struct Batch {
  # Matches of one document, ascending by line; a document with many matches has several batches. A
  # document that matches by its path has a single line with the number 0, which is the path.
  shard @0 :UInt32;
  document @1 :UInt32;
  package @2 :Data;          # as its directory was named
  path @3 :Data;             # within the package
  language @4 :Text;         # empty when unknown
  hash @5 :Data;             # BLAKE3 of the document's text, 32 bytes
  text @6 :Data;             # the text of all lines, concatenated, without \n (a \r stays)
  lines @7 :List(Line);      # matches and their context, ascending, each line once
  ranges @8 :List(Range);    # the ranges of all lines, in order
  windows @9 :List(Window);  # the lines that are sent in part, ascending by line
  spans @10 :List(Span);     # the matches over several lines, ascending by line
  revisions @11 :List(Text); # short names of the revisions that have the document, the default one first,
                             # the rest ascending; at most 64 and 4 KiB; none for a directory's file
  revisionCount @12 :UInt32; # all of them
  commit @13 :Text;          # the id of the commit at which the first of them was indexed
  kind @14 :DocumentKind;
  change @16 :CommitChange;  # of a document of a history, at the full id in `commit`; else absent
  kinds @15 :List(UInt32);   # in a search for symbols, for each line: bits of the kinds of the matching
                             # definitions (crate `language`); else empty
}

struct CommitChange {
  # Commit, or its change of a file.
  author @0 :Signature;
  committer @1 :Signature;
  formerPath @2 :Data;       # of a moved file; else empty
  subject @4 :Data;          # beginning of the message
  lines @3 :List(UInt32);    # of a change, for each of Batch.lines: twice its number in the file before the commit, or
                             # twice that after it plus one; none for a commit
}

struct TextBatch {
  # The TEXT frame: matches of one document, of which each is a whole line of at most 4 KiB. Other matches of the document
  # may be in BATCH frames before and after it.
  shard @0 :UInt32;
  document @1 :UInt32;
  package @2 :Data;          # as in BATCH
  path @3 :Data;
  hash @4 :Data;
  isRevision @5 :Bool;       # the document is in revisions of a repository
  numbers @6 :List(UInt32);  # of the lines, ascending, while the text is in the order of the runs
  runs @7 :List(TextRun);    # best first
  text @8 :Data;             # for each line package, "/", path, ":", number, ":", the line, \n
}

struct TextRun {
  # Lines that stay together in the total order: no other match, of any document, comes between two of them. If the frame
  # has all matches of its document, a run has the lines of one score, else those of one rank.
  rank @0 :Float32;          # of the first line
  number @1 :UInt32;         # of the first line
  lines @2 :UInt32;          # number of lines
  textBytes @3 :UInt32;      # number of bytes of TextBatch.text that belong to them
}

enum DocumentKind {
  # Which part of its package a document belongs to, best first.
  source @0;
  documentation @1;          # and configuration, and what is none of the others
  tests @2;                  # and examples and benchmarks
  vendored @3;               # written by others or by programs
}

struct Line {
  number @0 :UInt32;
  rank @1 :Float32;          # of a match; 0 for context
  offset @2 :UInt64;         # of the line's first byte in the document's text
  textBytes @3 :UInt32;      # number of bytes of Batch.text that belong to this line
  ranges @4 :UInt32;         # number of Batch.ranges that belong to this line; 0: context
}

struct Range {
  # Half open, in bytes from the first byte of the line's text in Batch.text.
  start @0 :UInt32;
  end @1 :UInt32;
}

struct Window {
  line @0 :UInt32;           # index in Batch.lines
  start @1 :UInt64;          # offset of the sent text in the line
  lineBytes @2 :UInt64;      # the whole line, without its end
}

struct Span {
  line @0 :UInt32;           # index in Batch.lines; the entry has the text of all lines, joined by \n
  lines @1 :UInt32;          # number of lines, at least two
}

struct Progress {
  # At least every 250 ms during a search. A stream in which nothing grows for 3 s is lost, unless it is queued.
  blocksDone @0 :UInt64;     # at most blocksTotal
  blocksTotal @1 :UInt64;    # candidates of the shards that have been planned so far
  documents @2 :UInt64;      # examined
  matches @3 :UInt64;        # sent before this frame
  bound @4 :Float32;         # upper bound of the ranks still to come
  steps @5 :UInt64;          # grows while the search works, also within a plan, a document or a block
  isQueued @6 :Bool;         # waits for admission
}

struct Skip {
  # A document whose search was given up, and why. Some of its matches may be missing.
  shard @0 :UInt32;
  document @1 :UInt32;
  package @2 :Data;
  path @3 :Data;
  reason @4 :Text;
}

struct End {
  shards @0 :List(ShardEnd);
  plan @1 :Text;             # the trigram query, for people
  planUs @2 :UInt64;         # compiling the pattern; all times are in microseconds
  candidatesUs @3 :UInt64;   # evaluating the trigram query on all shards
  verifyUs @4 :UInt64;       # verifying candidates and sending matches
  estimates @5 :List(Estimate);
                             # for an estimate: one for each pattern, in the order of the expression
}

struct Estimate {
  plan @0 :Text;             # its own trigram query, for people
  candidates @1 :UInt64;     # blocks inside the filters that it alone does not rule out
}

struct ShardEnd {
  shard @0 :UInt32;
  matches @1 :UInt64;        # sent
  documents @2 :UInt64;      # examined
  matchedDocuments @3 :UInt64;
  blocks @4 :UInt64;         # of the shard
  candidates @5 :UInt64;     # blocks not ruled out by the index and the filters
  matchedBlocks @6 :UInt64;  # candidates that hold a match
  verifiedBytes @7 :UInt64;
  hash @8 :UInt32;           # CRC-32C over (document, line) of all matches in order, each u32 LE
  failure @9 :Text;          # why the search of the shard did not finish; empty when it did
  found @10 :UInt64;         # matches (or documents, with want = documents), sent or not
  skipped @11 :UInt64;       # SKIP frames sent
}

struct Failure {
  # The ERROR frame: the request has no answer.
  enum Kind {
    badQuery @0;             # the query is invalid; asking again does not help
    staleShards @1;          # a shard of the request is not served here
    unavailable @2;          # the backend has failed
    protocol @3;             # the request could not be decoded
    heavy @4;                # the search is expensive, and the request does not allow that
    deadline @5;             # the deadline of the request has passed
  }
  kind @0 :Kind;
  message @1 :Text;
  offset @2 :UInt32;         # badQuery: offset of the mistake in the atom's text; 0xffffffff: unknown
  atom @3 :UInt32 = 0xffffffff;
                             # badQuery: index of the faulty pattern or filter in the order of the
                             # expression; 0xffffffff: not a single one
  hint @4 :Text;             # badQuery: advice, possibly empty
  cost @5 :UInt64;           # heavy: candidate blocks
}

struct FileRequest {
  # Frontend -> backend: bytes of a document. Answered by one FILE or ERROR.
  package @0 :Data;
  path @1 :Data;
  union {
    lines :group {           # whole lines from `first` on, at most `count`
      first @2 :UInt32;
      count @3 :UInt32;
    }
    bytes :group {
      offset @4 :UInt64;
      count @5 :UInt64;
    }
  }
  revision @6 :Text;         # empty: the default one; else a name, in full or short, or the beginning of
                             # a commit id (7 digits or more)
  visible @7 :List(VisibleShard);
                             # if `restricted`: the only shards that are read
  source @8 :Source;
  restricted @9 :Bool;       # only what `visible` lists is read; else all packages are visible
  definitions @10 :Bool;     # also the definitions of the whole document are wanted
  inside @11 :List(UInt32);  # lines, ascending: only definitions whose bodies have one of them; empty: all
  symbolLine @12 :UInt32;    # also the symbol at this line is wanted, and
  symbolColumn @13 :UInt32;  # this column, in bytes; line 0: none

  enum Source {
    text @0;                 # the text that is indexed; of a revision that is not, the text that would be
    textOrOriginal @1;       # the text that is indexed; of a file that has none, the bytes that the
                             # repository has
    original @2;             # the bytes that the repository has; if it cannot be read, the text that is
                             # indexed. `package` may be a repository that is not indexed
  }
}

struct FileReply {
  # Less than was asked for when the document ends or the limit of a reply is reached.
  found @0 :Bool;
  offset @1 :UInt64;         # of `text` in the document's text
  firstLine @2 :UInt32;      # the number of the line in which `text` begins
  text @3 :Data;             # with its line ends
  totalLines @4 :UInt32;
  totalBytes @5 :UInt64;
  language @6 :Text;
  hash @7 :Data;
  commit @8 :Text;           # of a document of a git repository: the id of the commit that was read
  revisions @9 :List(Text);  # and the short names of the indexed revisions that have this text at this
                             # path, as in BATCH
  newest @10 :Text;          # not found: the newest indexed revision that has the path; empty: none
  fromObjects @11 :Bool;     # read from the repository, since the index does not have the revision
  original @12 :Bool;        # `text` is bytes of the file as the repository has them, not decoded
  decodedFrom @13 :Text;     # the encoding from which `text` was decoded; empty: none
  lfsPointer @14 :Text;      # of a pointer of Git LFS: the id and the size that it names
  reason @15 :Text;          # not found: why the file is not sent; empty: there is none
  definitions @16 :List(FileDefinition);
                             # if they are wanted: the first ones, ascending by name
  definitionsMissing @17 :Text;
                             # why others are missing; empty: none are
  symbol @18 :Data;          # the symbol at the position, as a compiler resolved it; empty: unknown
}

struct FileDefinition {
  # Name that a document defines.
  name @0 :Data;
  kind @1 :UInt32;           # number of the kind (crate `language`)
  declaration @2 :Bool;      # a prototype or forward declaration
  line @3 :UInt32;           # of the name
  column @4 :UInt32;         # of the name, in bytes from the start of the line
  endLine @5 :UInt32;        # in which the body ends; `line` without a body
  parent @6 :Data;           # name of the definition that it belongs to; empty: none
  parentIndex @7 :UInt32 = 0xffffffff;
                             # index of that definition in the list; 0xffffffff: it is not there
}

struct ListRequest {
  # Frontend -> backend: packages or files, in the order of names. Answered by one LIST or ERROR.
  enum Kind {
    packages @0;             # whose directory begins with `prefix`, and whose name is `package` unless
                             # that is empty
    children @1;             # the content of the directory `prefix` (empty or ending with /) of
                             # `package`; directories end with / and have the sums over their content
    skipped @2;              # skipped files of `package`, or of all packages when that is empty, whose
                             # path begins with `prefix` or is a directory above it
    repositories @4;         # packages that are git repositories, whose directory begins with `prefix`
    shard @3;                # the packages of the shard whose id is `package`: name, number, documents,
                             # bytes and time alone
    symbolDefinitions @5;    # places that define the symbol `package`, in the package `prefix` unless
    symbolUses @6;           # that is empty; or places that use it
    resolved @7;             # the hashes of texts, of those in `prefix`, with resolved symbols
  }
  kind @0 :Kind;
  package @1 :Data;          # by its directory, or by its name
  prefix @2 :Data;
  after @3 :Data;            # only names after this one: the directory of a package, the path of a
                             # child, or directory, "/" and path of a skipped file
  count @4 :UInt32;          # at most; the limit of a reply may make it fewer
  visible @5 :List(VisibleShard);
                             # if `restricted`: the only shards that are listed
  restricted @6 :Bool;       # only what `visible` lists is listed; else all packages are visible
  revision @7 :Text;         # whose files `children` lists, named as in FileRequest; empty: the default one
}

struct ListReply {
  entries @0 :List(ListEntry);
  more @1 :Bool;             # more entries follow the last one
}

struct ListEntry {
  package @0 :Data;          # as its directory was named
  path @1 :Data;             # empty for a package
  documents @2 :UInt32;
  textBytes @3 :UInt64;
  lines @4 :UInt64;
  language @5 :Text;
  hash @6 :Data;             # of a document
  indexed @7 :UInt64;        # when its shard was written, seconds since 1970
  reason @8 :Text;           # of a skipped file: the key of the reason, and its detail
  detail @9 :Text;
  number @10 :UInt32;        # of a package in its shard
  repository @11 :IndexedRepository;
                             # of a package that is a git repository
  isRepository @12 :Bool;    # of a package in its shard
  hasOwnName @13 :Bool;      # of a package: no version is split from its name, even if it looks like one
  place @14 :ListedPlace;    # of a symbol
}

struct ListedPlace {
  line @0 :UInt32;           # from 1
  column @1 :UInt32;         # in bytes
  text @2 :Data;             # line without its end, or the beginning of a long one
  commit @3 :Text;           # as in FileReply; empty: none
  documentation @4 :Data;    # of a definition: signature and comment, in Markdown; may be empty
}

struct IndexedRepository {
  # What the index recorded of a repository; ListEntry.indexed says when.
  default @0 :Text;          # the short name of the default revision
  fetched @1 :UInt64;        # seconds since 1970; 0: never
  problem @2 :Text;          # why it could not be brought up to date the last time; empty: it could
  revisions @3 :List(IndexedRevision);
                             # the default one first, then ascending; at most 64
  revisionCount @4 :UInt32;  # all of them
}

struct IndexedRevision {
  name @0 :Text;             # in full, such as refs/heads/main
  commit @1 :Text;           # at which it was indexed
  committed @2 :Int64;       # seconds since 1970
  behind @3 :UInt32 = 0xffffffff;
                             # commits that the name has now and the index has not; 0xffffffff: unknown
}

struct LookupRequest {
  # Frontend -> backend: asks git repositories for commits. Answered by one LOOKUP or ERROR.
  lookups @0 :List(Lookup);  # at most 256
}

struct Lookup {
  repository @0 :Text;       # its path below the directory of repositories, without .git at its end
  union {
    commit :group {          # the commit that a revision names
      revision @1 :Text;     # empty: the default branch
    }
    log :group {             # the commits that a revision reaches, in the order of `git log`
      revision @2 :Text;
      path @3 :Data;         # only commits that changed this file or directory; empty: all
      after @4 :Data;        # CommitLog.next of the previous part; empty: from the first commit
      count @5 :UInt32;      # at most; the limit of a reply may make it fewer
    }
    references :group {      # the names of commits, ascending
      after @6 :Data;        # only names after this one
      count @7 :UInt32;      # at most; the limit of a reply may make it fewer
    }
    blame :group {           # the commits that the lines of a file come from
      revision @8 :Text;
      path @9 :Data;
    }
    changes :group {         # the files that differ between two commits
      revision @10 :Text;
      count @11 :UInt32;     # at most; the limit of a reply may make it fewer
      since @12 :Text;       # the earlier commit; empty: the first parent of the other
      path @13 :Data;        # only this file, or files below this directory; empty: all
    }
  }
}

struct LookupReply {
  answers @0 :List(LookupAnswer);
                             # of the first look-ups, in their order: at least one, and all of them if
                             # time and the limit of a reply allow
}

struct LookupAnswer {
  union {
    commit @0 :Commit;
    log @1 :CommitLog;
    references @2 :ReferenceList;
    problem @3 :LookupProblem;
    blame @4 :Blame;
    changes @5 :ChangeList;
  }
}

struct Blame {
  found @0 :Bool;            # the commit has a file at the path
  commit @1 :Text;           # the one that the revision stands for
  complete @2 :Bool;         # no bound was reached
  hunks @3 :List(BlameHunk); # all lines, ascending
  sources @4 :List(BlameSource);
}

struct BlameHunk {
  # Lines that come from one commit.
  first @0 :UInt32;          # from 1
  lines @1 :UInt32;
  source @2 :UInt32;         # an index in Blame.sources
  sourceLine @3 :UInt32;     # where they begin in the file that the commit has
  orEarlier @4 :Bool;        # a bound was reached: they may be of an earlier commit
}

struct BlameSource {
  commit @0 :Text;
  author @1 :Signature;
  subject @2 :Data;          # the beginning of it; empty if the answer would be too long
  path @3 :Data;             # of the file in the commit; empty: the path that was asked for
  previous @4 :Text;         # the commit before it that had the file; empty: none
  previousPath @5 :Data;     # of the file there; empty: the path that was asked for
}

struct ChangeList {
  commit @0 :Text;
  changes @1 :List(Change);  # by path
  more @2 :Bool;             # there are more
  since @3 :Text;            # the commit compared with; empty: the other has no parent
}

struct Change {
  enum Kind {
    added @0;
    removed @1;
    modified @2;
    renamed @3;
  }
  path @0 :Data;
  kind @1 :Kind;
  was @2 :Data;              # the former path of a renamed file
  before @3 :Text;           # the id of the earlier object; empty: none
  after @4 :Text;
  modeBefore @5 :UInt16;     # of git; 0: none
  modeAfter @6 :UInt16;
}

struct Commit {
  id @0 :Text;               # hexadecimal digits, like all ids of git objects
  tree @1 :Text;
  parents @2 :List(Text);
  author @3 :Signature;
  committer @4 :Signature;
  subject @5 :Data;
  body @6 :Data;
  tags @7 :List(Data);       # the short names of tags that point to it, ascending
  shortened @8 :Bool;        # a name, the message, the parents or the tags were too long, and are cut off
}

struct Signature {
  name @0 :Data;
  email @1 :Data;
  seconds @2 :Int64;         # since 1970
  offsetMinutes @3 :Int32;   # east of UTC
}

struct CommitLog {
  commits @0 :List(Commit);
  next @1 :Data;             # Lookup.log.after of the next part; empty: these are the last commits
  paths @2 :List(Data);      # of the file in each commit; empty: the path that was asked for
}

struct ReferenceList {
  references @0 :List(Reference);
  more @1 :Bool;             # more names follow the last one
}

struct Reference {
  enum Kind {
    branch @0;
    tag @1;
    other @2;
  }
  name @0 :Data;             # in full, such as refs/heads/main
  kind @1 :Kind;
  id @2 :Text;               # of the commit
  indexed @3 :Bool;          # its revision can be searched
}

struct LookupProblem {
  # A look-up has no answer.
  enum Kind {
    unknownRepository @0;    # not here; another backend may have it
    unknownRevision @1;
    ambiguous @2;            # the revision names several commits
    refused @3;              # no backend answers such a revision
    unreadable @4;           # the repository is damaged or cannot be read
    late @5;                 # it took too long
  }
  kind @0 :Kind;
  reason @1 :Text;           # for people; empty if the kind says all
  candidates @2 :List(Text); # similar names, or what an ambiguous revision may mean
}

struct SpoolManifest {
  # A frontend to itself, in the directory of a finished, complete result, in a frame of type MANIFEST:
  # what the result holds besides its matches.
  version @0 :UInt32;
  generation @1 :Text;
  search @2 :Search;         # the query, without shards and deadline
  frameBytes @3 :List(UInt64);
                             # of each backend's file
  pointers @4 :UInt64;       # in the files of the order
  packages @5 :UInt32;       # in the file of packages
  documents @6 :UInt64;      # with a match
  explain @7 :ShardEnd;      # the sums over all shards
  shards @8 :UInt64;
  plan @9 :Text;
  skipped @10 :List(Skip);
  skippedCount @11 :UInt64;
  queueUs @12 :UInt64;
  streamUs @13 :UInt64;
  rankUs @14 :UInt64;
  finished @15 :UInt64;      # seconds since 1970
  planUs @16 :UInt64;        # of the slowest backend, like the two below
  candidatesUs @17 :UInt64;
  verifyUs @18 :UInt64;
  orderBytes @19 :List(UInt64);
                             # of each file of the order; 0: no such file
  packagesBytes @20 :UInt64; # of these files
  facetsBytes @21 :UInt64;
  shardDocuments @22 :UInt64;
                             # in the shards that were searched
  unique @23 :UInt64;        # pointers that are not to matches of a folded copy
  foldedBytes @24 :UInt64;   # of the file that says which pointers are
  copiesBytes @25 :UInt64;   # of the file of documents that have copies
  copyGroupsBytes @26 :UInt64;
                             # of the file of groups of copies
  copyFramesBytes @27 :UInt64;
                             # of the file of their frames
  scope @28 :Data;           # 16 bytes: the hash of what those may see who share it; empty: everything
}

struct SpoolFacets {
  # A frontend to itself, beside the manifest, in a frame of the same type: the number of a result's
  # matches by language, by directory and by kind.
  languages @0 :List(Facet);
  directories @1 :List(Facet);
  otherDirectories @2 :UInt64;
                             # matches in directories that are not listed
  kinds @3 :List(UInt64);    # matches by kind of document, in the order of DocumentKind
  symbols @4 :List(UInt64);  # matches by kind of symbol
}

struct Facet {
  name @0 :Data;
  count @1 :UInt64;
}

struct RecordedPart {
  # An index to itself, beside its shards: where its packages come from. A file of such messages, each in
  # a frame of type RECORD: first the totals, then each repository, followed by its revisions, then the
  # sources.
  union {
    totals :group {
      repositories @0 :UInt32;
      revisions @1 :UInt32;
      sources @2 :UInt32;
    }
    repository @3 :RecordedRepository;
    revision @4 :RecordedRevision;
    source @5 :RecordedSource;
  }
}

struct RecordedRepository {
  package @0 :Data;          # as its directory was named
  location @1 :Data;         # the path or the URL that it was read from
  isUrl @2 :Bool;
  patterns @3 :List(Data);   # which revisions were chosen; none: the default branch
  default @4 :Data;          # the full name of the default revision
  fetched @5 :UInt64;        # seconds since 1970; 0: never
  indexed @6 :UInt64;        # seconds since 1970
  problem @7 :Text;          # why it could not be brought up to date the last time; empty: it could
  revisions @8 :UInt32;      # messages with its revisions that follow
  history @9 :Bool;          # its commits are indexed too,
  since @10 :Int64;          # if committed at or after this time, in seconds since 1970
}

struct RecordedRevision {
  name @0 :Data;             # in full, such as refs/heads/main; or the id of a commit
  commit @1 :Commit;         # at which it was indexed
}

struct RecordedSource {
  # What `trawl index --update` reads again.
  enum Kind {
    directory @0;            # a package
    directories @1;          # a directory of packages
    repository @2;           # a git repository
    repositories @3;         # a directory of git repositories
  }
  kind @0 :Kind;
  location @1 :Data;         # an absolute path, or a URL
  patterns @2 :List(Data);   # of revisions
  noVersions @3 :Bool;       # of a directory of packages: their names have no versions
}
