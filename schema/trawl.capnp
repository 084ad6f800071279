@0xb3c5a0a91f1f7d2e;
# The messages that a frontend and its source backends exchange. Each one travels alone in a frame
# (schema/src/frame.rs), whose type says which of the structs below it holds.
#
# Everything that comes from a repository is Data, never Text: paths and lines are bytes.
# Numbers of lines count from 1, everything else from 0. Within a version of the protocol
# (schema/src/message.rs) fields are added, never renumbered.

struct Hello {
  # Backend -> frontend, first on every connection, and again on an idle one when the backend has
  # taken up a new manifest, or after a second without a change (the heartbeat of an idle one).
  protocol @0 :UInt32;
  shards @1 :List(ShardInfo);
  updated @2 :UInt64;        # when the manifest was written, seconds since 1970
}

struct ShardInfo {
  id @0 :Data;               # 32 bytes; equal ids, equal shards, wherever they are served
  packages @1 :UInt32;
  documents @2 :UInt32;
  blocks @3 :UInt32;
  textBytes @4 :UInt64;
}

struct Pattern {
  enum Syntax {
    literal @0;              # the whole string is searched for, byte by byte
    regexp @1;               # the syntax of the regex crate, Unicode on, ^ and $ match at lines; one
                             # with \n or (?s) in it may match over several lines
  }
  text @0 :Text;
  syntax @1 :Syntax;
  ignoreCase @2 :Bool;
  word @3 :Bool;             # no word character stands right before it or behind it
  inPath @4 :Bool;           # the document's path is searched, not its text
}

struct Expr {
  # What is said of a document. A pattern holds where it matches at least once; what is found of a
  # document of which the whole holds are the lines that patterns match which contribute to that: not
  # those below a `not`, nor those of an alternative that does not hold.
  union {
    pattern @0 :Pattern;
    filter @1 :Filter;
    all @2 :List(Expr);      # two or more, which all hold
    any @3 :List(Expr);      # two or more, of which one holds
    not @4 :Expr;
    line @5 :Expr;           # of patterns alone: holds where it does of one single line
  }
}

struct Filter {
  # What is said of a document without a look at its text.
  enum Field {
    package @0;              # its package's name, before the version
    path @1;                 # within the package
    language @2;             # a name that BATCH could have, or another one for it; exact, in any case
    extension @3;            # what is behind the last dot of its file's name; exact, in any case
    name @4;                 # package's directory, "/" and path
  }
  enum Reading {
    regexp @0;               # the syntax of the regex crate, case sensitive, found anywhere
    exact @1;                # the whole of it; of a package, its directory's name too
    glob @2;                 # * ? [] {} and **; without a / it is about a path's last part
  }
  field @0 :Field;
  reading @1 :Reading;
  text @2 :Text;
}

struct Search {
  # Frontend -> backend. Answered by BATCH, PROGRESS and SKIP frames and one END or ERROR.
  expr @0 :Expr;             # at most 64 patterns and filters, nested at most 32 deep
  contextLines @1 :UInt32;   # lines sent before and after each match
  shards @2 :List(Data);     # ids, as announced on HELLO; BATCH and END name a shard by its index here
  want @3 :Want;
  limit @4 :UInt64;          # only the best so many in the total order need be sent; 0: all
  deadlineMs @5 :UInt32;     # from when the request came; then it ends with ERROR; 0: never
  heavy @6 :Bool;            # it may cost what it costs; else one that costs much is not begun, and
                             # answered with ERROR heavy
  names @7 :Bool;            # what is found of a document is its name, never a line
}

enum Want {
  matches @0;                # every matching line
  documents @1;              # of every document with a match the first one
  count @2;                  # no BATCH: END says how many there are
  estimate @3;               # nothing is searched: END says what would be
}

struct Batch {
  # Matches of one document, ascending by line; a document with many has several batches. One that is
  # found by its name has a single line with the number 0, which is its path.
  shard @0 :UInt32;
  document @1 :UInt32;
  package @2 :Data;          # as its directory was named
  path @3 :Data;             # within the package
  language @4 :Text;         # empty when unknown
  hash @5 :Data;             # BLAKE3 of the document's text, 32 bytes
  text @6 :Data;             # the bytes of all lines, one after the other, without \n (a \r stays)
  lines @7 :List(Line);      # matches and their context, ascending, each line once
  ranges @8 :List(Range);    # the ranges of all lines, in order
  windows @9 :List(Window);  # the lines of which only a part is sent, ascending by line
  spans @10 :List(Span);     # the matches over several lines, ascending by line
}

struct Line {
  number @0 :UInt32;
  rank @1 :Float32;          # of a match; 0 for context
  offset @2 :UInt64;         # of the line's first byte in the document's text
  textBytes @3 :UInt32;      # how many bytes of Batch.text are this line's
  ranges @4 :UInt32;         # how many of Batch.ranges are this line's; none: it is context
}

struct Range {
  # Half open, in bytes from the first byte of the line's text in Batch.text.
  start @0 :UInt32;
  end @1 :UInt32;
}

struct Window {
  line @0 :UInt32;           # index in Batch.lines
  start @1 :UInt64;          # where in the line the sent text begins
  lineBytes @2 :UInt64;      # the whole line, without its end
}

struct Span {
  line @0 :UInt32;           # index in Batch.lines, which has all its lines, joined by \n
  lines @1 :UInt32;          # how many there are, two at least
}

struct Progress {
  # At least every 250 ms while a search runs: also the heartbeat.
  blocksDone @0 :UInt64;
  blocksTotal @1 :UInt64;    # candidates of the shards that have been planned so far
  documents @2 :UInt64;      # examined
  matches @3 :UInt64;
  bound @4 :Float32;         # no match still to come has a higher rank
}

struct Skip {
  # A document that was given up, and why. Its other matches may be missing.
  shard @0 :UInt32;
  document @1 :UInt32;
  package @2 :Data;
  path @3 :Data;
  reason @4 :Text;
}

struct End {
  shards @0 :List(ShardEnd);
  plan @1 :Text;             # the trigram query, for people
  planUs @2 :UInt64;         # compiling the pattern, microseconds as all below
  candidatesUs @3 :UInt64;   # evaluating the trigram query on all shards
  verifyUs @4 :UInt64;       # reading candidates, and sending what matches
  estimates @5 :List(Estimate);
                             # of an estimate: of each pattern, in the order of the expression
}

struct Estimate {
  plan @0 :Text;             # its own trigram query, for people
  candidates @1 :UInt64;     # blocks that it alone does not rule out, inside the filters
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
  failure @9 :Text;          # not empty: the shard could not be searched to its end, and why
  found @10 :UInt64;         # matches, or documents when those are wanted, sent or not
  skipped @11 :UInt64;       # SKIP frames sent
}

struct Failure {
  # The ERROR frame: this search, or this request, has no answer.
  enum Kind {
    badQuery @0;             # the query's fault; asking again changes nothing
    staleShards @1;          # a shard of the request is not served here (any more)
    unavailable @2;          # the backend's fault
    protocol @3;             # the request could not be understood
    heavy @4;                # the search costs much, and was not asked for as one that may
    deadline @5;             # the time of the request is over
  }
  kind @0 :Kind;
  message @1 :Text;
  offset @2 :UInt32;         # badQuery: where in the text at fault, in bytes; 0xffffffff when unknown
  atom @3 :UInt32 = 0xffffffff;
                             # badQuery: which pattern or filter is at fault, counted in the order of
                             # the expression; 0xffffffff when it is none alone
  hint @4 :Text;             # badQuery: what to do about it; empty when there is nothing to say
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
}

struct FileReply {
  # Less than what was asked for when the document or the bound of a reply ends it.
  found @0 :Bool;
  offset @1 :UInt64;         # of `text` in the document's text
  firstLine @2 :UInt32;      # the number of the line in which `text` begins
  text @3 :Data;             # with its line ends
  totalLines @4 :UInt32;
  totalBytes @5 :UInt64;
  language @6 :Text;
  hash @7 :Data;
}

struct ListRequest {
  # Frontend -> backend: what there is, in the order of names. Answered by one LIST or ERROR.
  enum Kind {
    packages @0;             # whose directory begins with `prefix`, and that go by the name `package`
                             # when there is one
    children @1;             # of `package`: what is in the directory `prefix`, empty or with a / at its
                             # end; directories with a / at their end, and the sums over what is in them
    skipped @2;              # of `package`, or of all when that is empty: what is not searchable and has
                             # a path that begins with `prefix`, or lies on the way to it
  }
  kind @0 :Kind;
  package @1 :Data;          # by its directory, or by its name
  prefix @2 :Data;
  after @3 :Data;            # only names behind this one: of packages directories, of children paths,
                             # of what is skipped directory, "/" and path
  count @4 :UInt32;          # at most; the bound of a reply may make it fewer
}

struct ListReply {
  entries @0 :List(ListEntry);
  more @1 :Bool;             # there are others behind the last
}

struct ListEntry {
  package @0 :Data;          # as its directory was named
  path @1 :Data;             # empty: it is a package
  documents @2 :UInt32;
  textBytes @3 :UInt64;
  lines @4 :UInt64;
  language @5 :Text;
  hash @6 :Data;             # of a document
  indexed @7 :UInt64;        # when its shard was written, seconds since 1970
  reason @8 :Text;           # of what is not searchable: the key of why, and what the key does not say
  detail @9 :Text;
}

struct SpoolManifest {
  # A frontend to itself, in the directory of a finished, complete run, in a frame of type MANIFEST:
  # that the run is whole, and what it says beside its matches.
  version @0 :UInt32;
  generation @1 :Text;
  search @2 :Search;         # the query: no shards, no deadline
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
  planUs @16 :UInt64;        # of the slowest backend, as all below
  candidatesUs @17 :UInt64;
  verifyUs @18 :UInt64;
  orderBytes @19 :List(UInt64);
                             # of each file of the order; 0: there is none
  packagesBytes @20 :UInt64; # of these files
  facetsBytes @21 :UInt64;
  shardDocuments @22 :UInt64;
                             # in the shards that were searched
}

struct SpoolFacets {
  # A frontend to itself, beside the manifest, in a frame of the same type: how many of a run's
  # matches have which language and which directory.
  languages @0 :List(Facet);
  directories @1 :List(Facet);
  otherDirectories @2 :UInt64;
                             # matches in directories that are not listed
}

struct Facet {
  name @0 :Data;
  count @1 :UInt64;
}
