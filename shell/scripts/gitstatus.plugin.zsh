# Asks gitstatusd about Git repositories: gitstatus's functions for zsh, by gust.
#
#   source gitstatus.plugin.zsh [SUFFIX]
#
# defines these functions, each with SUFFIX at the end of its name, so that a
# theme can carry a copy of its own:
#
#   gitstatus_start [-t SECONDS] [-s|-u|-c|-d|-m INT]... [-eaUWD] NAME
#       Starts a daemon called NAME; succeeds at once if it runs. -t: wait at
#       most this long for its first sign of life (5). -s -u -c -d: report at
#       most this many staged, unstaged, conflicted, untracked files (1; negative:
#       no limit). -m: do not look at the files of repositories with more index
#       entries than this. -e: count files in untracked directories. -U -W -D:
#       ignore status.showUntrackedFiles, bash.showUntrackedFiles,
#       bash.showDirtyState. -a: do not wait; the first query will.
#   gitstatus_query [-d DIR] [-c CALLBACK] [-t SECONDS] [-p] NAME
#       Asks about DIR, or $PWD, or $GIT_DIR where it is set. -t: wait at most
#       this long. -c: if that was too short, return 0 with VCS_STATUS_RESULT=tout
#       and run CALLBACK from the line editor when the answer comes. -p: leave
#       out what needs the index. VCS_STATUS_RESULT becomes ok-sync, norepo-sync
#       or tout; in CALLBACK it is ok-async or norepo-async. Returns 1 when there
#       is no daemon, or no answer in time and no CALLBACK.
#   gitstatus_process_results [-t SECONDS] NAME
#       Waits for the answer that CALLBACK waits for, and runs it.
#   gitstatus_check NAME
#       Whether gitstatus_start NAME has succeeded in this very process.
#   gitstatus_stop NAME
#
# Environment: GITSTATUS_DAEMON, GITSTATUS_NUM_THREADS, GITSTATUS_LOG_LEVEL,
# GITSTATUS_ENABLE_LOGGING, GITSTATUS_CACHE_DIR, TMPDIR.
#
# How it talks: requests go through an anonymous pipe whose ends the shell holds
# close-on-exec, and on which it holds a POSIX lock. `exec zsh`, exit and kill -9
# close the pipe, which ends the daemon; a background subshell that still has the
# pipe open does not have the lock, and the daemon (-l, -p) looks at that.
#
# Below, _SFX stands for SUFFIX; the last lines of the file replace it.

# Where gitstatusd is: REPLY, or failure. gust becomes 1 where it is known to be
# gust's.
function _gitstatus_find_SFX() {
  if [[ -n ${GITSTATUS_DAEMON-} ]]; then
    REPLY=$GITSTATUS_DAEMON
    [[ $REPLY == /* ]] || REPLY=$PWD/$REPLY
    [[ -f $REPLY && -x $REPLY ]]
    \builtin return
  fi
  \builtin local exe=${commands[gust]-}
  gust=1
  for REPLY in $_gitstatus_dir_SFX{,/..,/../..}/libexec/gust/gitstatusd \
    ${exe:+${exe:A:h}/../libexec/gust/gitstatusd} ${exe:+${exe:A:h}/gitstatusd}; do
    [[ -f $REPLY && -x $REPLY ]] && \builtin return 0
  done
  REPLY=
  \builtin return 1
}

# >>> shared with gust init

# State, keyed NAME.FIELD. Fields: owner (pid of the process that started it),
# req and resp (descriptors), fds (req and what belongs to it), pid, args (of the
# daemon, quoted), max (-m), hello (it has answered the handshake), gust (it takes
# environment variables), home (HOME and XDG_CONFIG_HOME at its start), seq (last
# id), owed (requests without an answer), buf (bytes read, not yet a record), cb.ID
# (callback for the answer to ID), ids (those IDs), armed (the line editor watches
# resp), dead (it was seen to die), deaths (in a row, without an answer between).
\builtin typeset -gA _gitstatus_SFX

# Options that every function here relies on.
function _gitstatus_loaded_SFX() {
  \builtin zmodload -F zsh/system b:sysread b:syswrite b:sysopen b:zsystem p:sysparams 2>/dev/null &&
    \builtin zmodload -F zsh/datetime p:EPOCHREALTIME 2>/dev/null &&
    \builtin zmodload zsh/parameter 2>/dev/null
}

# Succeeds if the daemon NAME was started by this process and not by a parent.
function _gitstatus_owned_SFX() {
  (( $+_gitstatus_SFX[$1.owner] )) && [[ $_gitstatus_SFX[$1.owner] == $sysparams[pid] ]]
}

# Forgets the daemon NAME and closes what leads to it. With a second argument
# the options it was started with stay, so that a query can start it again.
function _gitstatus_close_SFX() {
  \builtin local key
  if (( ${_gitstatus_SFX[$1.armed]-0} )); then
    \builtin zle -F $_gitstatus_SFX[$1.resp] 2>/dev/null
  fi
  _gitstatus_shut_SFX ${=_gitstatus_SFX[$1.fds]-} ${_gitstatus_SFX[$1.resp]-}
  for key in ${(k)_gitstatus_SFX[(I)$1.*]}; do
    [[ -n ${2-} && $key == *.(args|max|owner|seq|dead|deaths) ]] || \builtin unset "_gitstatus_SFX[$key]"
  done
}

function _gitstatus_died_SFX() {
  _gitstatus_close_SFX $1 keep
  _gitstatus_SFX[$1.dead]=1
  _gitstatus_SFX[$1.deaths]=$(( ${_gitstatus_SFX[$1.deaths]-0} + 1 ))
}

# Runs in a child: becomes the daemon. Arguments: its path, whether it is known
# to take --gust, its log file, a FIFO to read from ('' for the present standard
# input), and its options.
function _gitstatus_become_SFX() {
  \builtin local daemon=$1 gust=$2 log=$3 fifo=$4 fd go cpus
  \builtin shift 4
  # The terminal's signals are not for the daemon, wherever it stands.
  \builtin trap '' HUP INT QUIT TSTP TTIN TTOU
  \builtin trap - TERM PIPE
  if [[ -n $fifo ]]; then
    # The child makes and removes the FIFO, because a parent killed meanwhile
    # could not. Opened for both directions first: no open can block then.
    \command mkfifo -m 600 -- $fifo || \builtin exit 1
    \builtin sysopen -rw -o cloexec -u fd -- $fifo && \builtin exec <$fifo
    \builtin print -rn -- $'}fifo\x1f\x1e'
    \builtin sysread -t 5 -s 1 go
    \command rm -f -- $fifo
    [[ -n $go ]] || \builtin exit 1
    \builtin exec {fd}>&-
  fi
  if (( ! gust )) && $daemon --gust --version </dev/null &>/dev/null; then
    gust=1
  fi
  if (( gust )); then
    # They come with each request; what this process inherited may be outdated.
    for fd in ${(k)parameters[(I)GIT_*]}; do
      \builtin unset $fd
    done
    \builtin set -- "$@" --gust
  fi
  if [[ ${GITSTATUS_NUM_THREADS-} == <1-> ]]; then
    cpus=$GITSTATUS_NUM_THREADS
  else
    cpus=$(\command getconf _NPROCESSORS_ONLN 2>/dev/null)
    [[ $cpus == <1-> ]] || cpus=1
    (( cpus <= 32 )) || cpus=32
  fi
  # Nor are the descriptors that the shell happened to have open.
  for fd in /proc/self/fd/<3->(N:t); do
    { \builtin exec {fd}>&- } 2>/dev/null
  done
  \builtin cd -q /
  \builtin print -rn -- $'}gust\x1f'$gust$'\x1f'$sysparams[pid]$'\x1e'
  \builtin exec $daemon -t $cpus "$@" 2>>$log
}

# An anonymous pipe for requests, all of it close-on-exec: its ends in req and
# hold, and in lock a descriptor that holds a lock on it. Linux lets a process
# reopen its own pipe. Closing any descriptor of a file releases a process's locks
# on it, so hold stays, which also means that no write meets a broken pipe: the
# end of the daemon shows where the answers come from.
function _gitstatus_pipe_SFX() {
  \builtin local fd
  { \builtin exec {fd}< <(:) } 2>/dev/null || \builtin return
  \builtin sysopen -w -o cloexec -u req -- /proc/self/fd/$fd 2>/dev/null &&
    \builtin sysopen -r -o cloexec -u hold -- /proc/self/fd/$fd 2>/dev/null
  \builtin exec {fd}<&-
  [[ -n $hold ]] && \builtin zsystem flock -f lock /proc/self/fd/$req 2>/dev/null && \builtin return
  _gitstatus_shut_SFX $req $hold
  req= hold=
  \builtin return 1
}

# The same where that cannot be done: the FIFO $2 for the daemon NAME, which the
# child on the other end of fd makes. No lock there; -p must do.
function _gitstatus_fifo_SFX() {
  \builtin local word
  \builtin sysread -i $1 -t 5 word &&
    \builtin sysopen -rw -o cloexec -u req -- $2 2>/dev/null &&
    \builtin syswrite -o $req g
}

function _gitstatus_shut_SFX() {
  \builtin local fd
  for fd in $@; do
    { \builtin exec {fd}>&- } 2>/dev/null
  done
}

# Starts the daemon NAME with the options in args; does not wait for it.
function _gitstatus_launch_SFX() {
  \builtin local REPLY daemon log=/dev/null level=FATAL fd= fifo= req= hold= lock= resp= me=$sysparams[pid]
  \builtin local -a args
  \builtin local -i gust=0
  _gitstatus_find_SFX || \builtin return
  daemon=$REPLY
  if [[ ${GITSTATUS_ENABLE_LOGGING-} == 1 ]]; then
    level=INFO
    log=${GITSTATUS_CACHE_DIR:-${TMPDIR:-/tmp}}/gitstatus.$1.$EUID.$me.log
  fi
  args=(-v ${GITSTATUS_LOG_LEVEL:-$level} -p $me ${(Q)${(z)_gitstatus_SFX[$1.args]}})
  if _gitstatus_pipe_SFX; then
    args=(-l 0 $args)
    { \builtin exec {fd}< <(_gitstatus_become_SFX $daemon $gust $log '' $args <&$hold) } 2>/dev/null
  else
    fifo=${TMPDIR:-/tmp}/gitstatus.$me.$RANDOM.${EPOCHREALTIME/./}
    { \builtin exec {fd}< <(_gitstatus_become_SFX $daemon $gust $log $fifo $args) } 2>/dev/null
  fi
  if [[ -z $fd ]] || { [[ -n $fifo ]] && ! _gitstatus_fifo_SFX $fd $fifo }; then
    _gitstatus_shut_SFX $fd $req $lock $hold
    \builtin return 1
  fi
  # Close-on-exec where the system lets us; a read end left to children is untidy
  # but keeps nothing alive.
  if \builtin sysopen -r -o cloexec -u resp -- /proc/self/fd/$fd 2>/dev/null; then
    \builtin exec {fd}<&-
  else
    resp=$fd
  fi
  # Themes look whether this is set; the child confirms the number.
  \builtin typeset -gi GITSTATUS_DAEMON_PID_$1=${sysparams[procsubstpid]-0}
  _gitstatus_SFX[$1.owner]=$me
  _gitstatus_SFX[$1.fds]="$req $lock $hold"
  _gitstatus_SFX[$1.req]=$req
  _gitstatus_SFX[$1.resp]=$resp
  _gitstatus_SFX[$1.hello]=0
  _gitstatus_SFX[$1.gust]=$gust
  _gitstatus_SFX[$1.home]=${HOME-}:${XDG_CONFIG_HOME-}
  _gitstatus_SFX[$1.owed]=1
  _gitstatus_SFX[$1.buf]=
  _gitstatus_SFX[$1.dead]=0
  \builtin syswrite -o $req -- $'}hello\x1f\x1e'
}

# Sends one request to NAME about DIR with FLAG; its id goes to REPLY.
function _gitstatus_ask_SFX() {
  \builtin local req dir=$2 var
  if [[ -n ${GIT_DIR-} ]]; then
    dir=$GIT_DIR
    [[ $dir == /* ]] || dir=$PWD/$dir
    dir=:$dir
  else
    [[ $dir == /* ]] || dir=$PWD/$dir
  fi
  # The two separators cannot be written inside a directory's name.
  [[ $dir != *[$'\x1e\x1f']* ]] || \builtin return
  # A daemon that owes this many answers is stuck; more requests would fill the
  # pipe and block the shell.
  (( _gitstatus_SFX[$1.owed] < 16 )) || \builtin return
  REPLY=$(( ${_gitstatus_SFX[$1.seq]-0} + 1 ))
  req=$REPLY$'\x1f'$dir$'\x1f'$3
  if (( _gitstatus_SFX[$1.gust] )); then
    for var in ${(ok)parameters[(I)GIT_*]}; do
      [[ $parameters[$var] == *-export* ]] && _gitstatus_variable_SFX $var
    done
    if [[ $_gitstatus_SFX[$1.home] != ${HOME-}:${XDG_CONFIG_HOME-} ]]; then
      for var in HOME XDG_CONFIG_HOME; do
        [[ ${parameters[$var]-} == *-export* ]] && _gitstatus_variable_SFX $var
      done
    fi
  fi
  req+=$'\x1e'
  (( $#req < 32000 )) || \builtin return
  _gitstatus_SFX[$1.seq]=$REPLY
  _gitstatus_SFX[$1.owed]=$(( _gitstatus_SFX[$1.owed] + 1 ))
  \builtin syswrite -o $_gitstatus_SFX[$1.req] -- $req
}

# Appends the variable $1 to req, if it is one by which Git finds or reads a
# repository.
function _gitstatus_variable_SFX() {
  \builtin local value=${(P)1}
  case $1 in
    HOME | XDG_CONFIG_HOME | GIT_INDEX_FILE | GIT_COMMON_DIR | GIT_OBJECT_DIRECTORY) ;;
    GIT_ALTERNATE_OBJECT_DIRECTORIES | GIT_NAMESPACE | GIT_CEILING_DIRECTORIES) ;;
    GIT_DISCOVERY_ACROSS_FILESYSTEM | GIT_CONFIG | GIT_CONFIG_* | GIT_ATTR_*) ;;
    GIT_NO_REPLACE_OBJECTS | GIT_REPLACE_REF_BASE | GIT_SHALLOW_FILE | GIT_GRAFT_FILE) ;;
    GIT_WORK_TREE) [[ -z $value || $value == /* ]] || value=$PWD/$value ;;
    *) \builtin return 0 ;;
  esac
  value=${value//\%/%25}
  value=${value//$'\x1e'/%1E}
  req+=$'\x1f'$1=${value//$'\x1f'/%1F}
}

# Reads what NAME has sent, waiting at most $2 seconds for the first byte.
# Returns 0 with bytes in buf, 1 if none came, 2 if the daemon is gone.
function _gitstatus_read_SFX() {
  \builtin local bytes
  \builtin sysread -i $_gitstatus_SFX[$1.resp] -t $2 bytes
  case $? in
    0)
      _gitstatus_SFX[$1.buf]+=$bytes
      # No answer is this long: what talks there is not gitstatusd.
      (( $#_gitstatus_SFX[$1.buf] < 100000 )) && \builtin return 0
      ;;
    4) \builtin return 1 ;;
  esac
  _gitstatus_died_SFX $1
  \builtin return 2
}

# Takes the next whole record out of buf: its fields go to reply. Fails if there
# is none. What the child says before it becomes the daemon is dealt with here.
function _gitstatus_next_SFX() {
  \builtin local buf=${_gitstatus_SFX[$1.buf]-} record
  while [[ $buf == *$'\x1e'* ]]; do
    record=${buf%%$'\x1e'*}
    buf=${buf#*$'\x1e'}
    _gitstatus_SFX[$1.buf]=$buf
    reply=("${(@ps:\x1f:)record}")
    if [[ $reply[1] == '}gust' ]]; then
      _gitstatus_SFX[$1.gust]=$(( ${reply[2]-} == 1 ))
      [[ ${reply[3]-} == <2-> ]] && _gitstatus_SFX[$1.pid]=$reply[3]
      \builtin typeset -gi GITSTATUS_DAEMON_PID_$1=${_gitstatus_SFX[$1.pid]-0}
      \builtin continue
    fi
    _gitstatus_SFX[$1.owed]=$(( _gitstatus_SFX[$1.owed] - 1 ))
    _gitstatus_SFX[$1.hello]=1
    [[ $reply[1] == '}hello' ]] || _gitstatus_SFX[$1.deaths]=0
    \builtin return 0
  done
  \builtin return 1
}

# Forgets every callback of NAME.
function _gitstatus_drop_SFX() {
  \builtin local id
  for id in ${=_gitstatus_SFX[$1.ids]-}; do
    \builtin unset "_gitstatus_SFX[$1.cb.$id]"
  done
  _gitstatus_SFX[$1.ids]=
  _gitstatus_disarm_SFX $1
}

# Makes CALLBACK ($3) wait for the answer to ID ($2) of NAME.
function _gitstatus_expect_SFX() {
  _gitstatus_SFX[$1.cb.$2]=$3
  _gitstatus_SFX[$1.ids]+=" $2"
}

function _gitstatus_arm_SFX() {
  (( ${_gitstatus_SFX[$1.armed]-0} )) && \builtin return
  \builtin zle -F $_gitstatus_SFX[$1.resp] _gitstatus_ready_SFX 2>/dev/null && _gitstatus_SFX[$1.armed]=1
}

function _gitstatus_disarm_SFX() {
  (( ${_gitstatus_SFX[$1.armed]-0} )) || \builtin return 0
  \builtin zle -F $_gitstatus_SFX[$1.resp] 2>/dev/null
  _gitstatus_SFX[$1.armed]=0
}

# Sets VCS_STATUS_* from the fields in reply; $2 is sync or async. Fails, with
# all of them unset, if those are not the fields of an answer.
function _gitstatus_set_SFX() {
  \builtin local -a names
  \builtin local i
  _gitstatus_unset_SFX
  if [[ $#reply == 2 && $reply[2] == 0 ]]; then
    \builtin typeset -g VCS_STATUS_RESULT=norepo-$2
    \builtin return 0
  fi
  [[ $#reply == 29 && $reply[2] == 1 ]] || \builtin return
  # A number that is none would be evaluated, as text, by whoever counts with it.
  for i in {10..17} {19..21} {24..27}; do
    [[ $reply[i] == <-> ]] || \builtin return
  done
  \builtin typeset -g VCS_STATUS_RESULT=ok-$2
  names=(WORKDIR COMMIT LOCAL_BRANCH REMOTE_BRANCH REMOTE_NAME REMOTE_URL ACTION INDEX_SIZE
    NUM_STAGED NUM_UNSTAGED NUM_CONFLICTED NUM_UNTRACKED COMMITS_AHEAD COMMITS_BEHIND STASHES TAG
    NUM_UNSTAGED_DELETED NUM_STAGED_NEW NUM_STAGED_DELETED PUSH_REMOTE_NAME PUSH_REMOTE_URL
    PUSH_COMMITS_AHEAD PUSH_COMMITS_BEHIND NUM_SKIP_WORKTREE NUM_ASSUME_UNCHANGED
    COMMIT_ENCODING COMMIT_SUMMARY)
  for i in {1..27}; do
    \builtin typeset -g VCS_STATUS_$names[i]=$reply[i+2]
  done
  \builtin typeset -gi VCS_STATUS_HAS_STAGED=$(( VCS_STATUS_NUM_STAGED > 0 ))
  i=$_gitstatus_SFX[$1.max]
  if (( i >= 0 && VCS_STATUS_INDEX_SIZE > i )); then
    \builtin typeset -gi VCS_STATUS_HAS_UNSTAGED=-1 VCS_STATUS_HAS_CONFLICTED=-1 VCS_STATUS_HAS_UNTRACKED=-1
  else
    \builtin typeset -gi VCS_STATUS_HAS_UNSTAGED=$(( VCS_STATUS_NUM_UNSTAGED > 0 ))
    \builtin typeset -gi VCS_STATUS_HAS_CONFLICTED=$(( VCS_STATUS_NUM_CONFLICTED > 0 ))
    \builtin typeset -gi VCS_STATUS_HAS_UNTRACKED=$(( VCS_STATUS_NUM_UNTRACKED > 0 ))
  fi
}

function _gitstatus_unset_SFX() {
  \builtin unset VCS_STATUS_{RESULT,WORKDIR,COMMIT,COMMIT_ENCODING,COMMIT_SUMMARY,LOCAL_BRANCH} \
    VCS_STATUS_{REMOTE_NAME,REMOTE_BRANCH,REMOTE_URL,ACTION,INDEX_SIZE,STASHES,TAG} \
    VCS_STATUS_NUM_{STAGED,UNSTAGED,CONFLICTED,UNTRACKED,STAGED_NEW,STAGED_DELETED,UNSTAGED_DELETED} \
    VCS_STATUS_NUM_{SKIP_WORKTREE,ASSUME_UNCHANGED} VCS_STATUS_HAS_{STAGED,UNSTAGED,CONFLICTED,UNTRACKED} \
    VCS_STATUS_{COMMITS_AHEAD,COMMITS_BEHIND,PUSH_COMMITS_AHEAD,PUSH_COMMITS_BEHIND} \
    VCS_STATUS_PUSH_REMOTE_{NAME,URL}
}

# Takes answers of NAME for at most $2 seconds (negative: for ever), until one
# has the id $3 or carries a callback; ids without either are answers that came
# too late. With the answer's fields in reply, REPLY is its callback, or '' for
# $3's. Returns 1 when the time is up, 2 when the daemon is gone.
function _gitstatus_await_SFX() {
  \builtin local -F left=$2 end=$(( EPOCHREALTIME + $2 ))
  \builtin local id
  (( left >= 0 )) || left=3600
  while \builtin true; do
    while _gitstatus_next_SFX $1; do
      id=$reply[1]
      REPLY=
      [[ $id == ${3:-.} ]] && \builtin return 0
      if (( $+_gitstatus_SFX[$1.cb.$id] )); then
        REPLY=$_gitstatus_SFX[$1.cb.$id]
        \builtin unset "_gitstatus_SFX[$1.cb.$id]"
        _gitstatus_SFX[$1.ids]=${_gitstatus_SFX[$1.ids]/ $id}
        [[ -n $_gitstatus_SFX[$1.ids] ]] || _gitstatus_disarm_SFX $1
        \builtin return 0
      fi
    done
    _gitstatus_read_SFX $1 $left
    case $? in
      1) (( $2 >= 0 )) && \builtin return 1 ;;
      2) \builtin return 2 ;;
    esac
    if (( $2 >= 0 )); then
      left=$(( end - EPOCHREALTIME ))
      (( left > 0 )) || left=0
    fi
  done
}

# Makes sure that NAME can be asked: it runs, or it died once and runs again.
# Fails when it is not ours, or when it has just been seen to die.
function _gitstatus_alive_SFX() {
  \builtin local REPLY
  \builtin local -a reply
  _gitstatus_owned_SFX $1 || \builtin return
  if (( _gitstatus_SFX[$1.dead] )); then
    # A daemon that dies again and again without answering is left alone.
    (( _gitstatus_SFX[$1.deaths] <= 3 )) || \builtin return
    _gitstatus_launch_SFX $1
    \builtin return
  fi
  # Late answers, or the end of a daemon that died while nobody asked.
  _gitstatus_running_SFX $1
}

# Reads what is there, and succeeds if the daemon NAME has not ended.
function _gitstatus_running_SFX() {
  (( $+_gitstatus_SFX[$1.resp] )) || \builtin return
  _gitstatus_read_SFX $1 0
  (( $? != 2 ))
}

function gitstatus_start_SFX() {
  _gitstatus_begin_SFX "$@" || \builtin return
  # Answers that were read together with the greeting: nothing will wake the line
  # editor for them.
  \builtin local _gitstatus_cb= _gitstatus_name="${@: -1}"
  while _gitstatus_step_SFX ''; do
    \builtin eval "$_gitstatus_cb"
  done
  \builtin return 0
}

function _gitstatus_begin_SFX() {
  \builtin emulate -L zsh
  \builtin setopt extended_glob no_err_exit no_err_return no_xtrace
  \builtin local opt OPTARG REPLY float='(|[+-])(<->(|.<->)|.<->)' int='(|[+-])<->'
  \builtin local -i OPTIND=1 async=0 staged=1 unstaged=1 conflicted=1 untracked=1 max=-1
  \builtin local -F timeout=5
  \builtin local -a args reply
  while \builtin getopts ':t:s:u:c:d:m:eaUWD' opt; do
    case $opt in
      t)
        [[ $OPTARG == $~float ]] || opt=
        [[ -n $opt ]] && timeout=$OPTARG
        ;;
      [sucdm])
        [[ $OPTARG == $~int ]] || opt=
        case $opt in
          s) staged=$OPTARG ;;
          u) unstaged=$OPTARG ;;
          c) conflicted=$OPTARG ;;
          d) untracked=$OPTARG ;;
          m) max=$OPTARG ;;
        esac
        ;;
      a) async=1 ;;
      [eUWD]) args+=-$opt ;;
      *) opt= ;;
    esac
    [[ -n $opt ]] && \builtin continue
    \builtin print -ru2 -- "gitstatus_start: bad option or value '${OPTARG-}'"
    \builtin return 1
  done
  \builtin shift $(( OPTIND - 1 ))
  if [[ $# != 1 || $1 != [[:IDENT:]]## ]]; then
    \builtin print -ru2 -- 'gitstatus_start: exactly one NAME, an identifier, is needed'
    \builtin return 1
  fi
  if ! _gitstatus_loaded_SFX; then
    \builtin print -ru2 -- 'gitstatus_start: zsh lacks the modules zsh/system and zsh/datetime'
    \builtin return 1
  fi
  # What a parent process left here is the parent's: only close it.
  _gitstatus_owned_SFX $1 || _gitstatus_close_SFX $1
  if _gitstatus_running_SFX $1; then
    (( async || (_gitstatus_SFX[$1.hello] && _gitstatus_SFX[$1.owed]) )) && \builtin return 0
    # One that was killed a moment ago may not have ended yet, and one that hangs
    # never will: a second greeting tells.
    if (( _gitstatus_SFX[$1.hello] )); then
      _gitstatus_SFX[$1.owed]=1
      \builtin syswrite -o $_gitstatus_SFX[$1.req] -- $'}hello\x1f\x1e'
      _gitstatus_await_SFX $1 $timeout '}hello' && \builtin return 0
      gitstatus_stop_SFX $1
    fi
  fi
  if ! _gitstatus_running_SFX $1; then
    _gitstatus_close_SFX $1
    args=(-s $staged -u $unstaged -c $conflicted -d $untracked -m $max $args)
    _gitstatus_SFX[$1.args]=${(j: :)${(@q)args}}
    _gitstatus_SFX[$1.max]=$max
    if ! _gitstatus_launch_SFX $1; then
      _gitstatus_close_SFX $1
      \builtin print -ru2 -- "gitstatus_start: cannot run gitstatusd${GITSTATUS_DAEMON:+ '$GITSTATUS_DAEMON'}"
      \builtin return 1
    fi
    (( async )) && \builtin return 0
  fi
  _gitstatus_await_SFX $1 $timeout '}hello' && \builtin return 0
  gitstatus_stop_SFX $1
  \builtin print -ru2 -- "gitstatus_start: gitstatusd${GITSTATUS_DAEMON:+ '$GITSTATUS_DAEMON'} does not answer"
  \builtin return 1
}

function gitstatus_check_SFX() {
  \builtin emulate -L zsh
  \builtin setopt extended_glob no_err_exit no_err_return no_xtrace
  [[ $# == 1 ]] && _gitstatus_owned_SFX $1
}

function gitstatus_stop_SFX() {
  \builtin emulate -L zsh
  \builtin setopt extended_glob no_err_exit no_err_return no_xtrace
  [[ $# == 1 && $1 == [[:IDENT:]]## ]] || \builtin return
  \builtin local -a reply
  \builtin local pid=
  if _gitstatus_owned_SFX $1; then
    # A daemon that hangs does not see the end of its input. Read first: the pid
    # of one that is gone may belong to somebody else.
    _gitstatus_running_SFX $1
    while _gitstatus_next_SFX $1; do \builtin true; done
    pid=${_gitstatus_SFX[$1.pid]-}
  fi
  _gitstatus_close_SFX $1
  \builtin unset GITSTATUS_DAEMON_PID_$1
  [[ -n $pid ]] && \builtin kill -- $pid 2>/dev/null
  \builtin return 0
}

function gitstatus_query_SFX() {
  \builtin emulate -L zsh
  \builtin setopt extended_glob no_err_exit no_err_return no_xtrace
  \builtin local opt OPTARG REPLY dir= cb= id float='(|[+-])(<->(|.<->)|.<->)'
  \builtin local -i OPTIND=1 flag=0
  \builtin local -F timeout=-1
  \builtin local -a reply
  _gitstatus_unset_SFX
  while \builtin getopts ':d:c:t:p' opt; do
    case $opt in
      d) dir=$OPTARG ;;
      c) cb=$OPTARG ;;
      t)
        [[ $OPTARG == $~float ]] || opt=
        [[ -n $opt ]] && timeout=$OPTARG
        ;;
      p) flag=1 ;;
      *) opt= ;;
    esac
    [[ -n $opt ]] && \builtin continue
    \builtin print -ru2 -- "gitstatus_query: bad option or value '${OPTARG-}'"
    \builtin return 1
  done
  \builtin shift $(( OPTIND - 1 ))
  if [[ $# != 1 ]]; then
    \builtin print -ru2 -- 'gitstatus_query: exactly one NAME is needed'
    \builtin return 1
  fi
  _gitstatus_alive_SFX $1 || \builtin return
  _gitstatus_drop_SFX $1
  _gitstatus_ask_SFX $1 ${dir:-$PWD} $flag || \builtin return
  id=$REPLY
  _gitstatus_await_SFX $1 $timeout $id
  case $? in
    0) _gitstatus_set_SFX $1 sync ;;
    1)
      [[ -n $cb ]] || \builtin return 1
      _gitstatus_expect_SFX $1 $id $cb
      _gitstatus_arm_SFX $1
      \builtin typeset -g VCS_STATUS_RESULT=tout
      ;;
    *) \builtin return 1 ;;
  esac
}

function gitstatus_process_results_SFX() {
  # The callback runs with the user's options, hence outside of the function that
  # waits.
  \builtin local _gitstatus_cb=
  _gitstatus_take_SFX "$@" || \builtin return
  [[ -z $_gitstatus_cb ]] || \builtin eval "$_gitstatus_cb"
  \builtin return 0
}

# Waits for an answer with a callback, which goes to _gitstatus_cb; that stays empty
# where there is nothing to wait for, or none came in time.
function _gitstatus_take_SFX() {
  \builtin emulate -L zsh
  \builtin setopt extended_glob no_err_exit no_err_return no_xtrace
  \builtin local opt OPTARG REPLY float='(|[+-])(<->(|.<->)|.<->)'
  \builtin local -i OPTIND=1
  \builtin local -F timeout=-1
  \builtin local -a reply
  while \builtin getopts ':t:' opt; do
    if [[ $opt != t || $OPTARG != $~float ]]; then
      \builtin print -ru2 -- "gitstatus_process_results: bad option or value '${OPTARG-}'"
      \builtin return 1
    fi
    timeout=$OPTARG
  done
  \builtin shift $(( OPTIND - 1 ))
  [[ $# == 1 ]] && _gitstatus_owned_SFX $1 && (( ! _gitstatus_SFX[$1.dead] )) || \builtin return
  [[ -n ${_gitstatus_SFX[$1.ids]-} ]] || \builtin return 0
  _gitstatus_await_SFX $1 $timeout
  case $? in
    0)
      _gitstatus_cb=$REPLY
      _gitstatus_set_SFX $1 async
      ;;
    1) \builtin typeset -g VCS_STATUS_RESULT=tout ;;
    *) \builtin return 1 ;;
  esac
}

# The line editor calls this when the descriptor $1 has something to read.
# Callbacks run with the user's options.
function _gitstatus_ready_SFX() {
  \builtin local _gitstatus_cb= _gitstatus_name=
  while _gitstatus_step_SFX "$1"; do
    \builtin eval "$_gitstatus_cb"
  done
}

function _gitstatus_step_SFX() {
  \builtin emulate -L zsh
  \builtin setopt extended_glob no_err_exit no_err_return no_xtrace
  \builtin local key REPLY
  \builtin local -a reply
  if [[ -z $_gitstatus_name ]]; then
    for key in ${(k)_gitstatus_SFX[(I)*.resp]}; do
      [[ $_gitstatus_SFX[$key] == $1 ]] && _gitstatus_name=${key%.resp}
    done
    if [[ -z $_gitstatus_name ]]; then
      \builtin zle -F $1 2>/dev/null
      \builtin return 1
    fi
  fi
  # A callback may have stopped the daemon, or asked it something else.
  while [[ -n ${_gitstatus_SFX[$_gitstatus_name.ids]-} ]] && _gitstatus_await_SFX $_gitstatus_name 0; do
    _gitstatus_cb=$REPLY
    _gitstatus_set_SFX $_gitstatus_name async && \builtin return 0
  done
  \builtin return 1
}

# <<< shared with gust init

# Puts the suffix into every name. The argument is taken only if it can be one:
# `source` without arguments shows those of the function that contains it.
() {
  \builtin emulate -L zsh
  \builtin setopt extended_glob no_aliases
  \builtin local name suffix=
  [[ ${2-} == [[:IDENT:]]## ]] && suffix=$2
  \builtin typeset -g _gitstatus_dir$suffix=$1
  \builtin typeset -gA _gitstatus$suffix
  for name in ${(k)functions[(I)(_|)gitstatus_*_SFX]}; do
    functions[${name%_SFX}$suffix]=${functions[$name]//_SFX/$suffix}
    \builtin unset -f $name
  done
  \builtin unset _gitstatus_SFX
} "${${(%):-%x}:A:h}" "${1-}"
