# shellcheck shell=bash
#
# Asks gitstatusd about Git repositories: gitstatus's functions for bash, by gust.
#
#   gitstatus_start [-t SECONDS] [-s|-u|-c|-d|-m|-r INT]... [-eUWD]
#       Starts the daemon; succeeds at once if it runs. -t: wait at most this
#       long for its first sign of life (5). -s -u -c -d: report at most this many
#       staged, unstaged, conflicted, untracked files (1; negative: no limit).
#       -m: do not look at the files of repositories with more index entries than
#       this. -r: forget a repository not asked about for this many seconds.
#       -e: count files in untracked directories. -U -W -D: ignore
#       status.showUntrackedFiles, bash.showUntrackedFiles, bash.showDirtyState.
#   gitstatus_query [-d DIR] [-t SECONDS] [-p]
#       Asks about DIR, or $PWD, or $GIT_DIR where it is set, and sets
#       VCS_STATUS_*; VCS_STATUS_RESULT is ok-sync or norepo-sync. -t: wait at
#       most this long. -p: leave out what needs the index. Returns 1 when there
#       is no daemon or no answer in time.
#   gitstatus_check
#       Whether gitstatus_start has succeeded in this very process.
#   gitstatus_stop
#
# Environment: GITSTATUS_DAEMON, GITSTATUS_NUM_THREADS, GITSTATUS_LOG_LEVEL,
# GITSTATUS_ENABLE_LOGGING, GITSTATUS_CACHE_DIR, TMPDIR.
#
# How it talks: through the pipes of a coprocess, because these are the only ones
# that bash closes in its children; the coprocess itself leaves at once, so that
# the user's `coproc` stays free and `jobs` empty, and the daemon stays. `exec
# bash`, exit and kill -9 close the pipe, which ends the daemon; where a
# background subshell still holds it, the daemon looks at the shell's pid (-p).

if [[ -z ${BASH_VERSION-} ]] || ((BASH_VERSINFO[0] < 4)); then
  printf '%s\n' "gitstatus.plugin.sh: bash 4.0 or newer is needed, this is ${BASH_VERSION-not bash}" >&2
  # shellcheck disable=SC2317 # reached when the file is run instead of sourced
  return 1 2>/dev/null || exit 1
fi

_gitstatus_dir=$(\builtin cd -P -- "${BASH_SOURCE[0]%/*}" 2>/dev/null && \builtin pwd -P) || _gitstatus_dir=.

# Where gitstatusd is: REPLY, or failure. gust becomes 1 where it is known to be
# gust's.
_gitstatus_find() {
  if [[ -n ${GITSTATUS_DAEMON-} ]]; then
    REPLY=$GITSTATUS_DAEMON
    [[ $REPLY == /* ]] || REPLY=$PWD/$REPLY
    [[ -f $REPLY && -x $REPLY ]]
    \builtin return
  fi
  \builtin local dir exe
  exe=$(\builtin type -P gust) && exe=$(\command readlink -f -- "$exe" || \builtin printf '%s' "$exe") || exe=
  gust=1
  for dir in "$_gitstatus_dir"{,/..,/../..}/libexec/gust ${exe:+"${exe%/*}/../libexec/gust" "${exe%/*}"}; do
    REPLY=$dir/gitstatusd
    [[ -f $REPLY && -x $REPLY ]] && \builtin return 0
  done
  REPLY=
  \builtin return 1
}

# >>> shared with gust init

# Forgets the daemon and closes what leads to it; the options it was started
# with stay, so that a query can start it again.
_gitstatus_close() {
  [[ -z ${_gitstatus_req-} ]] || \builtin eval "\\exec $_gitstatus_req>&- $_gitstatus_resp<&-"
  \builtin unset _gitstatus_req _gitstatus_resp _gitstatus_pid
  _gitstatus_buf='' _gitstatus_hello=0 _gitstatus_owed=0
}

_gitstatus_died() {
  _gitstatus_close
  _gitstatus_dead=1
  _gitstatus_deaths=$((${_gitstatus_deaths-0} + 1))
}

# Runs in the coprocess: starts the daemon and leaves. Arguments: its path,
# whether it is known to take --gust, its log file, and its options.
_gitstatus_become() {
  \builtin local daemon="$1" gust="$2" log="$3" go fd cpus
  \builtin shift 3
  \builtin set +eu
  # The terminal's signals are not for the daemon, wherever it stands.
  \builtin trap '' HUP INT QUIT TSTP TTIN TTOU
  \builtin trap - TERM PIPE
  # Not before the shell has its own copies of the pipes: bash closes those of a
  # coprocess that has ended.
  IFS= \builtin read -r -t 5 go && [[ $go == go ]] || \builtin exit
  for fd in /proc/self/fd/*; do
    case ${fd##*/} in
    [012] | *[!0123456789]*) ;;
    *) \builtin eval "\\exec ${fd##*/}>&-" ;;
    esac
  done
  \exec 5<&0
  [[ $gust == 1 ]] || ! "$daemon" --gust --version </dev/null &>/dev/null || gust=1
  if [[ $gust == 1 ]]; then
    # They come with each request; what this process inherited may be outdated.
    for fd in "${!GIT_@}"; do
      \builtin unset "$fd"
    done
    \builtin set -- "$@" --gust
  fi
  case ${GITSTATUS_NUM_THREADS-} in
  '' | 0* | *[!0123456789]*)
    cpus=$(\command getconf _NPROCESSORS_ONLN 2>/dev/null)
    case $cpus in
    '' | 0* | *[!0123456789]*) cpus=1 ;;
    esac
    ((cpus <= 32)) || cpus=32
    ;;
  *) cpus=$GITSTATUS_NUM_THREADS ;;
  esac
  \builtin cd / || \builtin exit
  # A process group of its own, also where the shell has no job control yet.
  \builtin set -m
  "$daemon" -t "$cpus" "$@" <&5 5<&- 2>>"$log" &
  \builtin printf '}gust\037%s\037%s\036' "$gust" "$!"
  \builtin exit 0
}

# A free descriptor: REPLY. ({fd}>&1 is younger than bash 4.0.)
_gitstatus_free() {
  REPLY=20
  while { \builtin : >&"$REPLY"; } 2>/dev/null; do
    REPLY=$((REPLY + 1))
  done
}

# Starts the daemon with the options in _gitstatus_args; does not wait for it.
_gitstatus_launch() {
  \builtin local REPLY gust=0 level=FATAL log=/dev/null
  _gitstatus_find || \builtin return
  if [[ ${GITSTATUS_ENABLE_LOGGING-} == 1 ]]; then
    level=INFO
    log=${GITSTATUS_CACHE_DIR:-${TMPDIR:-/tmp}}/gitstatus.$EUID.$BASHPID.log
  fi
  \builtin set -- "$REPLY" "$gust" "$log" -v "${GITSTATUS_LOG_LEVEL:-$level}" -p "$BASHPID" "${_gitstatus_args[@]-}"
  # bash warns on standard error when the user has a coprocess too.
  # In a string, because older shells would not even read past it.
  { \builtin eval 'coproc _gitstatus_co { _gitstatus_become "$@"; }'; } 2>/dev/null || \builtin return
  [[ -n ${_gitstatus_co[1]-} ]] || \builtin return
  # Copies of close-on-exec descriptors are close-on-exec in bash.
  _gitstatus_free
  _gitstatus_req=$REPLY
  \builtin eval "\\exec $REPLY>&${_gitstatus_co[1]}"
  _gitstatus_free
  _gitstatus_resp=$REPLY
  \builtin eval "\\exec $REPLY<&${_gitstatus_co[0]}"
  \builtin disown "${_gitstatus_co_PID-}" 2>/dev/null || \builtin :
  _gitstatus_owner=$BASHPID _gitstatus_gust=$gust _gitstatus_home=${HOME-}:${XDG_CONFIG_HOME-}
  _gitstatus_buf='' _gitstatus_hello=0 _gitstatus_owed=1 _gitstatus_dead=0
  _gitstatus_write $'go\n}hello\037\036'
}

# Sends $1. A write into a pipe without a reader kills bash; where the system
# lets a process reopen its own pipe, there is a reader meanwhile.
_gitstatus_write() {
  if [[ -e /proc/self/fd/$_gitstatus_req ]]; then
    { \builtin printf '%s' "$1" >&"$_gitstatus_req"; } 3</proc/self/fd/"$_gitstatus_req"
  else
    \builtin printf '%s' "$1" >&"$_gitstatus_req"
  fi 2>/dev/null
}

# Sends one request about DIR ($1) with FLAG ($2); its id goes to REPLY.
_gitstatus_ask() {
  \builtin local dir="$1" req var
  if [[ -n ${GIT_DIR-} ]]; then
    dir=$GIT_DIR
    [[ $dir == /* ]] || dir=$PWD/$dir
    dir=:$dir
  else
    [[ $dir == /* ]] || dir=$PWD/$dir
  fi
  # The two separators cannot be written inside a directory's name.
  [[ $dir != *[$'\036\037']* ]] || \builtin return
  # A daemon that owes this many answers is stuck; more requests would fill the
  # pipe and block the shell.
  ((_gitstatus_owed < 16)) || \builtin return
  REPLY=$((${_gitstatus_seq-0} + 1))
  req=$REPLY$'\037'$dir$'\037'$2
  if [[ $_gitstatus_gust == 1 ]]; then
    for var in "${!GIT_@}"; do
      _gitstatus_variable "$var"
    done
    if [[ $_gitstatus_home != "${HOME-}:${XDG_CONFIG_HOME-}" ]]; then
      for var in HOME XDG_CONFIG_HOME; do
        [[ -z ${!var+1} ]] || _gitstatus_variable "$var"
      done
    fi
  fi
  ((${#req} < 32000)) || \builtin return
  _gitstatus_seq=$REPLY
  _gitstatus_owed=$((_gitstatus_owed + 1))
  _gitstatus_write "$req"$'\036'
}

# Appends the variable $1 to req, if it is one by which Git finds or reads a
# repository and Git would see it.
_gitstatus_variable() {
  \builtin local value="${!1}"
  if ((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] >= 404)); then
    [[ ${!1@a} == *x* ]] || \builtin return 0
  fi
  case $1 in
  HOME | XDG_CONFIG_HOME | GIT_INDEX_FILE | GIT_COMMON_DIR | GIT_OBJECT_DIRECTORY) ;;
  GIT_ALTERNATE_OBJECT_DIRECTORIES | GIT_NAMESPACE | GIT_CEILING_DIRECTORIES) ;;
  GIT_DISCOVERY_ACROSS_FILESYSTEM | GIT_CONFIG | GIT_CONFIG_* | GIT_ATTR_*) ;;
  GIT_NO_REPLACE_OBJECTS | GIT_REPLACE_REF_BASE | GIT_SHALLOW_FILE | GIT_GRAFT_FILE) ;;
  GIT_WORK_TREE) [[ -z $value || $value == /* ]] || value=$PWD/$value ;;
  *) \builtin return 0 ;;
  esac
  value=${value//%/%25}
  value=${value//$'\036'/%1E}
  req+=$'\037'$1=${value//$'\037'/%1F}
}

# A number of seconds ($1) in microseconds: REPLY.
_gitstatus_micros() {
  \builtin local whole="${1%%.*}" part=
  [[ $1 != *.* ]] || part=${1#*.}
  part=${part}000000
  REPLY=$((10#${whole:-0} * 1000000 + 10#${part:0:6}))
}

# Reads one record, or what there is of it, to the end of _gitstatus_buf. Waits
# at most $1 microseconds. Returns 1 when the time is up, 2 when the daemon is gone.
_gitstatus_read() {
  \builtin local record='' wait status
  if (($1 <= 0)); then
    \builtin read -r -t 0 -u "$_gitstatus_resp" || \builtin return 1
    # What is there may be half a record.
    wait=0.01
  else
    \builtin printf -v wait '%d.%06d' $(($1 / 1000000)) $(($1 % 1000000))
  fi
  IFS= \builtin read -r -d $'\036' -n 8192 -t "$wait" -u "$_gitstatus_resp" record && status=0 || status=$?
  _gitstatus_buf+=$record
  if ((status == 0 && ${#record} < 8192)); then
    _gitstatus_buf+=$'\036'
    \builtin return 0
  fi
  ((status != 0 || ${#_gitstatus_buf} >= 100000)) || \builtin return 0
  # No answer is this long: what talks there is not gitstatusd.
  ((status > 128 && ${#_gitstatus_buf} < 100000)) && \builtin return 1
  _gitstatus_died
  \builtin return 2
}

# Takes the next whole record out of _gitstatus_buf: its fields go to the array
# reply. Fails if there is none.
_gitstatus_next() {
  \builtin local record
  [[ $_gitstatus_buf == *$'\036'* ]] || \builtin return
  record=${_gitstatus_buf%%$'\036'*}$'\037'
  _gitstatus_buf=${_gitstatus_buf#*$'\036'}
  reply=()
  while [[ -n $record ]]; do
    reply+=("${record%%$'\037'*}")
    record=${record#*$'\037'}
  done
}

# Takes answers for at most $1 microseconds (negative: for ever) until the one to
# $2 is in reply; others came too late. Returns 1 when the time is up, 2 when the
# daemon is gone.
_gitstatus_await() {
  \builtin local left="$1" end='' status
  ((left >= 0)) || left=3600000000
  # Before bash 5 each record may take the whole time.
  [[ -z ${EPOCHREALTIME-} ]] || end=$((${EPOCHREALTIME//[!0123456789]/} + left))
  while \builtin :; do
    while _gitstatus_next; do
      if [[ ${reply[0]-} == '}gust' ]]; then
        [[ ${reply[1]-} == 1 ]] && _gitstatus_gust=1 || _gitstatus_gust=0
        _gitstatus_pid=${reply[2]-}
        # shellcheck disable=SC2034 # for people and tests
        GITSTATUS_DAEMON_PID=$_gitstatus_pid
        \builtin continue
      fi
      _gitstatus_owed=$((_gitstatus_owed - 1)) _gitstatus_hello=1
      [[ ${reply[0]-} == '}hello' ]] || _gitstatus_deaths=0
      [[ ${reply[0]-} != "$2" ]] || \builtin return 0
    done
    _gitstatus_read "$left" && status=0 || status=$?
    case $status in
    1) (($1 < 0)) || \builtin return 1 ;;
    2) \builtin return 2 ;;
    esac
    if [[ -n $end ]] && (($1 >= 0)); then
      left=$((end - ${EPOCHREALTIME//[!0123456789]/}))
    fi
  done
}

# Reads what is there, and succeeds if the daemon has not ended.
_gitstatus_running() {
  \builtin local status=0
  [[ -n ${_gitstatus_resp-} ]] || \builtin return
  while ((status == 0)); do
    _gitstatus_read 0 || status=$?
  done
  ((status != 2))
}

_gitstatus_owned() {
  [[ ${_gitstatus_owner-} == "$BASHPID" ]]
}

# Makes sure that the daemon can be asked: it runs, or it died once and runs
# again. Fails when it is not ours, or when it has just been seen to die.
_gitstatus_alive() {
  _gitstatus_owned || \builtin return
  if [[ $_gitstatus_dead == 1 ]]; then
    # A daemon that dies again and again without answering is left alone.
    ((_gitstatus_deaths <= 3)) && _gitstatus_launch
    \builtin return
  fi
  _gitstatus_running
}

_gitstatus_unset() {
  \builtin unset VCS_STATUS_{RESULT,WORKDIR,COMMIT,COMMIT_ENCODING,COMMIT_SUMMARY,LOCAL_BRANCH} \
    VCS_STATUS_{REMOTE_NAME,REMOTE_BRANCH,REMOTE_URL,ACTION,INDEX_SIZE,STASHES,TAG} \
    VCS_STATUS_NUM_{STAGED,UNSTAGED,CONFLICTED,UNTRACKED,STAGED_NEW,STAGED_DELETED,UNSTAGED_DELETED} \
    VCS_STATUS_NUM_{SKIP_WORKTREE,ASSUME_UNCHANGED} VCS_STATUS_HAS_{STAGED,UNSTAGED,CONFLICTED,UNTRACKED} \
    VCS_STATUS_{COMMITS_AHEAD,COMMITS_BEHIND,PUSH_COMMITS_AHEAD,PUSH_COMMITS_BEHIND} \
    VCS_STATUS_PUSH_REMOTE_{NAME,URL}
}

# Sets VCS_STATUS_* from the fields in reply; $1 is sync. Fails, with all of them
# unset, if those are not the fields of an answer.
# shellcheck disable=SC2034 # they are for whoever asked
_gitstatus_set() {
  \builtin local i
  _gitstatus_unset
  if ((${#reply[@]} == 2)) && [[ ${reply[1]} == 0 ]]; then
    VCS_STATUS_RESULT=norepo-$1
    \builtin return 0
  fi
  ((${#reply[@]} == 29)) && [[ ${reply[1]} == 1 ]] || \builtin return
  # A number that is none would be evaluated, as text, by whoever counts with it.
  for i in {9..16} {18..20} {23..26}; do
    case ${reply[i]} in
    '' | 0?* | *[!0123456789]*) \builtin return 1 ;;
    esac
  done
  VCS_STATUS_RESULT=ok-$1
  VCS_STATUS_WORKDIR=${reply[2]}
  VCS_STATUS_COMMIT=${reply[3]}
  VCS_STATUS_LOCAL_BRANCH=${reply[4]}
  VCS_STATUS_REMOTE_BRANCH=${reply[5]}
  VCS_STATUS_REMOTE_NAME=${reply[6]}
  VCS_STATUS_REMOTE_URL=${reply[7]}
  VCS_STATUS_ACTION=${reply[8]}
  VCS_STATUS_INDEX_SIZE=${reply[9]}
  VCS_STATUS_NUM_STAGED=${reply[10]}
  VCS_STATUS_NUM_UNSTAGED=${reply[11]}
  VCS_STATUS_NUM_CONFLICTED=${reply[12]}
  VCS_STATUS_NUM_UNTRACKED=${reply[13]}
  VCS_STATUS_COMMITS_AHEAD=${reply[14]}
  VCS_STATUS_COMMITS_BEHIND=${reply[15]}
  VCS_STATUS_STASHES=${reply[16]}
  VCS_STATUS_TAG=${reply[17]}
  VCS_STATUS_NUM_UNSTAGED_DELETED=${reply[18]}
  VCS_STATUS_NUM_STAGED_NEW=${reply[19]}
  VCS_STATUS_NUM_STAGED_DELETED=${reply[20]}
  VCS_STATUS_PUSH_REMOTE_NAME=${reply[21]}
  VCS_STATUS_PUSH_REMOTE_URL=${reply[22]}
  VCS_STATUS_PUSH_COMMITS_AHEAD=${reply[23]}
  VCS_STATUS_PUSH_COMMITS_BEHIND=${reply[24]}
  VCS_STATUS_NUM_SKIP_WORKTREE=${reply[25]}
  VCS_STATUS_NUM_ASSUME_UNCHANGED=${reply[26]}
  VCS_STATUS_COMMIT_ENCODING=${reply[27]}
  VCS_STATUS_COMMIT_SUMMARY=${reply[28]}
  VCS_STATUS_HAS_STAGED=$((VCS_STATUS_NUM_STAGED > 0))
  if ((_gitstatus_max >= 0 && VCS_STATUS_INDEX_SIZE > _gitstatus_max)); then
    VCS_STATUS_HAS_UNSTAGED=-1 VCS_STATUS_HAS_CONFLICTED=-1 VCS_STATUS_HAS_UNTRACKED=-1
  else
    VCS_STATUS_HAS_UNSTAGED=$((VCS_STATUS_NUM_UNSTAGED > 0))
    VCS_STATUS_HAS_CONFLICTED=$((VCS_STATUS_NUM_CONFLICTED > 0))
    VCS_STATUS_HAS_UNTRACKED=$((VCS_STATUS_NUM_UNTRACKED > 0))
  fi
}

gitstatus_start() {
  \builtin local IFS=$' \t\n' opt OPTARG OPTIND=1 REPLY timeout=5 reply
  \builtin local -a args
  args=()
  \builtin local max=-1 staged=1 unstaged=1 conflicted=1 untracked=1
  while \builtin getopts ':t:s:u:c:d:m:r:eUWD' opt; do
    case $opt in
    t) [[ $OPTARG =~ ^[0-9]+(\.[0-9]*)?$|^\.[0-9]+$ ]] && timeout=$OPTARG || opt= ;;
    [sucdmr])
      if [[ ! $OPTARG =~ ^[-+]?[0-9]{1,9}$ ]]; then
        opt=
      else
        case $opt in
        s) staged=$OPTARG ;;
        u) unstaged=$OPTARG ;;
        c) conflicted=$OPTARG ;;
        d) untracked=$OPTARG ;;
        m) max=$((${OPTARG%%[0-9]*}10#${OPTARG#[-+]})) ;;
        r) args+=(-r "$OPTARG") ;;
        esac
      fi
      ;;
    [eUWD]) args+=("-$opt") ;;
    *) opt= ;;
    esac
    if [[ -z $opt ]]; then
      \builtin printf '%s\n' "gitstatus_start: bad option or value '${OPTARG-}'" >&2
      \builtin return 1
    fi
  done
  if ((OPTIND <= $#)); then
    \builtin printf '%s\n' "gitstatus_start: unexpected argument '${!OPTIND}'" >&2
    \builtin return 1
  fi
  _gitstatus_micros "$timeout"
  timeout=$REPLY
  # What a parent process left here is the parent's: only close it.
  _gitstatus_owned || _gitstatus_close
  if _gitstatus_running; then
    [[ $_gitstatus_hello == 0 || $_gitstatus_owed == 0 ]] || \builtin return 0
    # One that was killed a moment ago may not have ended yet, and one that hangs
    # never will: a second greeting tells.
    if [[ $_gitstatus_hello == 1 ]]; then
      _gitstatus_owed=1
      _gitstatus_write $'}hello\037\036' || \builtin :
      _gitstatus_await "$timeout" '}hello' && \builtin return 0
      gitstatus_stop
    fi
  fi
  if ! _gitstatus_running; then
    _gitstatus_args=(-s "$staged" -u "$unstaged" -c "$conflicted" -d "$untracked" -m "$max" ${args[@]+"${args[@]}"})
    _gitstatus_max=$max _gitstatus_deaths=0
    if ! _gitstatus_launch; then
      _gitstatus_close
      \builtin unset _gitstatus_owner
      \builtin printf '%s\n' "gitstatus_start: cannot run gitstatusd${GITSTATUS_DAEMON:+ "$GITSTATUS_DAEMON"}" >&2
      \builtin return 1
    fi
  fi
  _gitstatus_await "$timeout" '}hello' && \builtin return 0
  gitstatus_stop
  \builtin printf '%s\n' "gitstatus_start: gitstatusd${GITSTATUS_DAEMON:+ "$GITSTATUS_DAEMON"} does not answer" >&2
  \builtin return 1
}

gitstatus_check() {
  _gitstatus_owned
}

gitstatus_stop() {
  \builtin local IFS=$' \t\n' REPLY
  if _gitstatus_owned; then
    # A daemon that hangs does not see the end of its input. Read first: the pid
    # of one that is gone may belong to somebody else.
    if _gitstatus_running && { _gitstatus_await 0 '' || [[ -n ${_gitstatus_pid-} ]]; }; then
      \builtin kill -- "$_gitstatus_pid" 2>/dev/null || \builtin :
    fi
  fi
  _gitstatus_close
  \builtin unset _gitstatus_owner _gitstatus_dead GITSTATUS_DAEMON_PID
}

gitstatus_query() {
  \builtin local IFS=$' \t\n' opt OPTARG OPTIND=1 REPLY dir="$PWD" flag=0 timeout=-1 reply
  _gitstatus_unset
  while \builtin getopts ':d:t:p' opt; do
    case $opt in
    d) dir=${OPTARG:-$PWD} ;;
    t)
      if [[ $OPTARG =~ ^-[0-9.]+$ ]]; then
        timeout=-1
      elif [[ $OPTARG =~ ^[0-9]+(\.[0-9]*)?$|^\.[0-9]+$ ]]; then
        _gitstatus_micros "$OPTARG"
        timeout=$REPLY
      else
        opt=
      fi
      ;;
    p) flag=1 ;;
    *) opt= ;;
    esac
    if [[ -z $opt ]]; then
      \builtin printf '%s\n' "gitstatus_query: bad option or value '${OPTARG-}'" >&2
      \builtin return 1
    fi
  done
  if ((OPTIND <= $#)); then
    \builtin printf '%s\n' "gitstatus_query: unexpected argument '${!OPTIND}'" >&2
    \builtin return 1
  fi
  if _gitstatus_alive && _gitstatus_ask "$dir" "$flag" && _gitstatus_await "$timeout" "$REPLY"; then
    _gitstatus_set sync
    \builtin return
  fi
  \builtin return 1
}

# <<< shared with gust init
