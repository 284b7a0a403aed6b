package gitstatusd

// Help is the text of --help.
const Help = `usage: gitstatusd [OPTION]...

Answers git status queries. Reads requests from stdin, writes responses to stdout.

OPTIONS
  -l, --lock-fd=NUM [default=-1]
    If non-negative, exit when idle for one second and no process holds a POSIX
    lock on this file descriptor.
  -p, --parent-pid=NUM [default=-1]
    If non-negative, exit when idle for one second and this process is gone.
  -t, --num-threads=NUM [default=1]
    Scan the working tree with this many threads.
  -v, --log-level=STR [default=INFO]
    DEBUG, INFO, WARN, ERROR or FATAL. Messages go to stderr.
  -r, --repo-ttl-seconds=NUM [default=3600]
    Free a repository that was not asked for that long; negative: never.
  -z, --max-commit-summary-length=NUM [default=256]
    Truncate the commit summary to that many bytes.
  -s, --max-num-staged=NUM [default=1]
  -u, --max-num-unstaged=NUM [default=1]
  -c, --max-num-conflicted=NUM [default=1]
  -d, --max-num-untracked=NUM [default=1]
    Report at most that many; negative: no limit.
  -m, --dirty-max-index-size=NUM [default=-1]
    Do not look for unstaged and untracked files where the index has more
    entries than this; negative: always look.
  -e, --recurse-untracked-dirs
    Count the files in untracked directories, as git status --untracked-files=all.
  -U, --ignore-status-show-untracked-files
    Count untracked files even if status.showUntrackedFiles is false.
  -W, --ignore-bash-show-untracked-files
    Count untracked files even if bash.showUntrackedFiles is false.
  -D, --ignore-bash-show-dirty-state
    Count changes even if bash.showDirtyState is false.
      --gust
    Accept environment variables behind the fields of a request.
      --watch
    Without a server, watch repositories from their first query on.
      --no-server
    Compute every answer in this process.
  -V, --version
    Print the version and exit.
  -G, --version-glob=STR [default=*]
    Exit with code 11 if the version does not match this pattern.
  -h, --help
    Print this help and exit.

REQUEST   id US directory [US flag] RS
  US is byte 31, RS is byte 30. A directory that begins with a colon is a
  GIT_DIR. Flag 1 asks for nothing that needs the index.

RESPONSE  id US 0 RS                      not a repository
          id US 1 US 27 more fields RS    see the protocol's documentation

EXIT CODES
  0   the end of stdin, --help, --version, or nobody left to answer
  10  a bad command line
  11  --version-glob does not match
`
