# shellcheck shell=bash
#
# A prompt with the state of the Git repository, by gust: source it from ~/.bashrc.
#
# Before each prompt it sets GITSTATUS_PROMPT, empty outside a repository, and it
# sets a PS1 that shows it. Set your own PS1 afterwards to replace that one. An
# answer that takes longer than GUST_TIMEOUT is not waited for: the prompt shows
# what is known and … for the rest.
#
#   main ⇣1⇡2 ⇠3⇢4 *5 rebase-i 3/7 ~6 +7 !8 ?9
#
#   main    branch; #v1.0 the tag, or @1a2b3c4d the commit, when HEAD is detached
#   ⇣1⇡2    commits behind and ahead of the upstream
#   ⇠3⇢4    commits behind and ahead of the push remote
#   *5      stashes
#   rebase  what Git is in the middle of
#   ~6      files with conflicts
#   +7 !8   files with staged changes, files with unstaged ones
#   ?9      untracked files
#   …       not known (yet)
#
# Symbols, colours, order and lengths are variables: see docs/shell-variables.md.

# shellcheck source=shell/scripts/gitstatus.plugin.sh
\builtin source "${BASH_SOURCE[0]%/*}/gitstatus.plugin.sh" || return

# >>> shared with gust init

# What is known, in slots of arrays (associative ones cannot be made global before
# bash 4.2). keys: a directory or $GIT_DIR. home: the working tree it was found to
# belong to, '' for no repository. fast: set where the whole answer came in time.
# last: the last whole answer, as it came. There are 100 slots.
_gitstatus_prompt_keys=() _gitstatus_prompt_home=() _gitstatus_prompt_fast=()
_gitstatus_prompt_last=() _gitstatus_prompt_next=0

# The question that was not waited for: its id ('' for none), that of the part that
# comes sooner, and what they are about.
_gitstatus_prompt_id='' _gitstatus_prompt_soon='' _gitstatus_prompt_key=''

# What GITSTATUS_PROMPT was made of: 0 a whole answer, 1 stale counts, 2 stale.
_gitstatus_prompt_stale=0

GITSTATUS_PROMPT=''

# Appends to text, in the colour GUST_COLOR_$1, what $2 says.
_gitstatus_prompt_add() {
  \builtin local color="GUST_COLOR_$1" code
  if [[ -n ${!color+x} ]]; then
    color=${!color}
  else
    case $1 in
    ACTION | CONFLICTED) color=red ;;
    STAGED | UNSTAGED) color=yellow ;;
    UNTRACKED) color=blue ;;
    PENDING) color=8 ;;
    *) color=green ;;
    esac
  fi
  if [[ -n ${NO_COLOR-} || ${TERM-} == dumb ]]; then
    color=''
  fi
  case $color in
  black) code=30 ;;
  red) code=31 ;;
  green) code=32 ;;
  yellow) code=33 ;;
  blue) code=34 ;;
  magenta) code=35 ;;
  cyan) code=36 ;;
  white) code=37 ;;
  [0-7]) code=3$color ;;
  [89]) code=9$((color - 8)) ;;
  1[0-5]) code=9$((color - 8)) ;;
  1[6-9] | [2-9][0-9] | 1[0-9][0-9] | 2[0-4][0-9] | 25[0-5]) code="38;5;$color" ;;
  '#'[[:xdigit:]][[:xdigit:]][[:xdigit:]][[:xdigit:]][[:xdigit:]][[:xdigit:]])
    code="38;2;$((16#${color:1:2}));$((16#${color:3:2}));$((16#${color:5:2}))"
    ;;
  *) code='' ;;
  esac
  text+=${text:+ }
  if [[ -n $code ]]; then
    text+=$'\001\033['${code}$'m\002'$2$'\001\033[39m\002'
  else
    text+=$2
  fi
}

# The symbol called $1, or the default $2 ($3 with GUST_SYMBOLS=ascii): REPLY.
_gitstatus_prompt_symbol() {
  REPLY=GUST_SYMBOL_$1
  if [[ -n ${!REPLY+x} ]]; then
    REPLY=${!REPLY}
  elif [[ ${GUST_SYMBOLS-} == ascii ]]; then
    REPLY=${3-$2}
  else
    REPLY=$2
  fi
}

# A name that Git allowed, fit for a terminal: REPLY. Control characters become ?,
# and a long one is shortened in the middle.
_gitstatus_prompt_name() {
  \builtin local name="${1//[[:cntrl:]]/?}" sample='…' max=32 room keep left right
  case ${GUST_MAX_LENGTH-} in
  '' | *[!0123456789]* | ?????*) ;;
  *) max=$((10#$GUST_MAX_LENGTH)) ;;
  esac
  _gitstatus_prompt_symbol ELLIPSIS '…' ..
  left=$REPLY
  if ((${#sample} > 1)); then
    left=${left//[$'\x80'-$'\xbf']/}
  fi
  room=$((max - ${#left} > 2 ? max - ${#left} : 2))
  if ((max == 0 || ${#name} <= room + ${#left})); then
    REPLY=$name
    \builtin return
  fi
  keep=$((room / 2))
  left=${name:0:room-keep}
  right=${name:${#name}-keep}
  if ((${#sample} > 1)); then
    # In a locale of single bytes, do not cut through a character of UTF-8.
    if [[ ${name:${#left}:1} == [$'\x80'-$'\xbf'] ]]; then
      while [[ $left == *[$'\x80'-$'\xbf'] ]]; do
        left=${left%?}
      done
      [[ $left != *[$'\xc0'-$'\xff'] ]] || left=${left%?}
    fi
    while [[ $right == [$'\x80'-$'\xbf']* ]]; do
      right=${right#?}
    done
  fi
  REPLY=$left$REPLY$right
}

# Appends a symbol and the number $3 to part, unless it is 0. The symbol is
# GUST_SYMBOL_$1, or $2 ($4 in ASCII).
_gitstatus_prompt_count() {
  (($3 > 0)) || \builtin return 0
  _gitstatus_prompt_symbol "$1" "$2" "${4-$2}"
  part+=$REPLY$3
}

# Makes GITSTATUS_PROMPT from VCS_STATUS_*.
_gitstatus_prompt_render() {
  \builtin local IFS=$' \t\n' text='' part word role REPLY
  if [[ ${VCS_STATUS_RESULT-} == ok-* ]]; then
    for word in ${GUST_PROMPT_ORDER-head sync push stash action conflicted staged unstaged untracked}; do
      part='' role=''
      _gitstatus_prompt_part "$word"
      [[ -n $part ]] || \builtin continue
      case $_gitstatus_prompt_stale:$role in
      2:* | 1:CONFLICTED | 1:STAGED | 1:UNSTAGED | 1:UNTRACKED) role=PENDING ;;
      esac
      _gitstatus_prompt_add "$role" "$part"
    done
    # Unknown must not look clean.
    if ((_gitstatus_prompt_stale || VCS_STATUS_HAS_UNSTAGED < 0)); then
      _gitstatus_prompt_symbol PENDING '…' ...
      [[ -z $REPLY ]] || _gitstatus_prompt_add PENDING "$REPLY"
    fi
  fi
  GITSTATUS_PROMPT=$text
}

# Sets part to what the part called $1 shows, and role to the name of its colour.
_gitstatus_prompt_part() {
  case $1 in
  head)
    role=HEAD
    if [[ -n $VCS_STATUS_LOCAL_BRANCH ]]; then
      _gitstatus_prompt_name "$VCS_STATUS_LOCAL_BRANCH"
      part=$REPLY
      _gitstatus_prompt_symbol BRANCH ''
    elif [[ -n $VCS_STATUS_TAG ]]; then
      _gitstatus_prompt_name "$VCS_STATUS_TAG"
      part=$REPLY
      _gitstatus_prompt_symbol TAG '#'
    else
      part=${VCS_STATUS_COMMIT:0:8}
      _gitstatus_prompt_symbol COMMIT @
    fi
    part=$REPLY$part
    ;;
  sync)
    role=SYNC
    _gitstatus_prompt_count BEHIND '⇣' "$VCS_STATUS_COMMITS_BEHIND" '<'
    _gitstatus_prompt_count AHEAD '⇡' "$VCS_STATUS_COMMITS_AHEAD" '>'
    ;;
  push)
    role=PUSH
    _gitstatus_prompt_count PUSH_BEHIND '⇠' "$VCS_STATUS_PUSH_COMMITS_BEHIND" '<<'
    _gitstatus_prompt_count PUSH_AHEAD '⇢' "$VCS_STATUS_PUSH_COMMITS_AHEAD" '>>'
    ;;
  stash)
    role=STASH
    _gitstatus_prompt_count STASH '*' "$VCS_STATUS_STASHES"
    ;;
  action)
    role=ACTION
    if [[ -n $VCS_STATUS_ACTION ]]; then
      _gitstatus_prompt_symbol ACTION ''
      part=$REPLY${VCS_STATUS_ACTION//[[:cntrl:]]/?}
    fi
    ;;
  conflicted)
    role=CONFLICTED
    _gitstatus_prompt_count CONFLICTED '~' "$VCS_STATUS_NUM_CONFLICTED"
    ;;
  staged)
    role=STAGED
    _gitstatus_prompt_count STAGED + "$VCS_STATUS_NUM_STAGED"
    ;;
  unstaged)
    role=UNSTAGED
    _gitstatus_prompt_count UNSTAGED ! "$VCS_STATUS_NUM_UNSTAGED"
    ;;
  untracked)
    role=UNTRACKED
    _gitstatus_prompt_count UNTRACKED '?' "$VCS_STATUS_NUM_UNTRACKED"
    ;;
  esac
}

# The slot of the key $1: slot; a free one if there is none.
_gitstatus_prompt_slot() {
  for slot in "${!_gitstatus_prompt_keys[@]}"; do
    [[ ${_gitstatus_prompt_keys[slot]} != "$1" ]] || \builtin return 0
  done
  slot=$_gitstatus_prompt_next
  _gitstatus_prompt_next=$(((slot + 1) % 100))
  _gitstatus_prompt_keys[slot]=$1 _gitstatus_prompt_home[slot]='' _gitstatus_prompt_fast[slot]=''
  _gitstatus_prompt_last[slot]=''
}

# Remembers the answer in reply in the slot $1.
_gitstatus_prompt_save() {
  \builtin local IFS=$'\037'
  _gitstatus_prompt_home[$1]=${reply[2]-}
  _gitstatus_prompt_last[$1]=${reply[*]}
}

# The last known answer about the working tree $1: its fields go to known, with
# none where nothing is.
_gitstatus_prompt_recall() {
  \builtin local i record=''
  known=()
  [[ -n $1 ]] || \builtin return 0
  for i in "${!_gitstatus_prompt_keys[@]}"; do
    [[ ${_gitstatus_prompt_home[i]} != "$1" || -z ${_gitstatus_prompt_last[i]} ]] || record=${_gitstatus_prompt_last[i]}
  done
  [[ -n $record ]] || \builtin return 0
  record+=$'\037'
  while [[ -n $record ]]; do
    known+=("${record%%$'\037'*}")
    record=${record#*$'\037'}
  done
}

# Takes the answer in reply that was given without looking at the index: the last
# known counts stand in, as stale ones.
_gitstatus_prompt_early() {
  \builtin local known i
  _gitstatus_prompt_stale=1
  _gitstatus_prompt_recall "${reply[2]-}"
  if ((${#known[@]} == 29 && ${#reply[@]} == 29)); then
    for i in {9..13} {18..20} 25 26; do
      reply[i]=${known[i]}
    done
  elif ((${#reply[@]} == 29)); then
    # One field more says that the counts are not known.
    reply+=(unknown)
  fi
  _gitstatus_prompt_save "$slot"
  _gitstatus_prompt_set
}

# Sets VCS_STATUS_* from reply.
_gitstatus_prompt_set() {
  if ((${#reply[@]} != 30)); then
    _gitstatus_set sync
    \builtin return
  fi
  \builtin unset 'reply[29]'
  _gitstatus_set sync || \builtin return
  # shellcheck disable=SC2034 # they are for whoever reads them
  VCS_STATUS_HAS_UNSTAGED=-1 VCS_STATUS_HAS_CONFLICTED=-1 VCS_STATUS_HAS_UNTRACKED=-1
}

# Sets VCS_STATUS_* to the last known answer of the slot $1, as a stale one.
_gitstatus_prompt_restore() {
  _gitstatus_prompt_stale=2
  _gitstatus_prompt_recall "${_gitstatus_prompt_home[$1]}"
  reply=(${known[@]+"${known[@]}"})
  ((${#reply[@]} == 0)) || _gitstatus_prompt_set
}

# Waits for the answer to $1 until the moment end, if bash can tell, or for limit.
_gitstatus_prompt_await() {
  \builtin local left="$limit"
  [[ -z ${EPOCHREALTIME-} ]] || left=$((end - ${EPOCHREALTIME//[!0123456789]/}))
  ((left >= 0)) || left=0
  _gitstatus_await "$left" "$1"
}

# Takes the answers that are out, for the slot $1. Returns 0 with the whole one in
# reply, 1 when the time is up, 2 when there is no use in waiting.
_gitstatus_prompt_collect() {
  if [[ -n $_gitstatus_prompt_soon ]]; then
    _gitstatus_prompt_await "$_gitstatus_prompt_soon" || \builtin return
    _gitstatus_prompt_soon=''
    _gitstatus_prompt_early || \builtin return 2
  fi
  _gitstatus_prompt_await "$_gitstatus_prompt_id" || \builtin return
  _gitstatus_prompt_id=''
  _gitstatus_prompt_save "$1"
}

# Asks about the present directory and waits for limit: VCS_STATUS_* and
# _gitstatus_prompt_stale say what is known then. Where the whole answer is not
# known to come fast, what does not need the files is asked first.
_gitstatus_prompt_update() {
  \builtin local REPLY key="${GIT_DIR:-$PWD}" limit=200000 end=0 slot known reply status
  if [[ ${GUST_TIMEOUT-} =~ ^[0-9]+(\.[0-9]*)?$|^\.[0-9]+$ ]]; then
    _gitstatus_micros "$GUST_TIMEOUT"
    limit=$REPLY
  fi
  [[ -z ${EPOCHREALTIME-} ]] || end=$((${EPOCHREALTIME//[!0123456789]/} + limit))
  _gitstatus_unset
  _gitstatus_prompt_stale=0
  # What a dead daemon was asked nobody will answer.
  [[ ${_gitstatus_dead-0} == 0 ]] || _gitstatus_prompt_id=''
  if ! _gitstatus_alive; then
    # It died, or it never ran: once more, and then not until the next prompt.
    _gitstatus_prompt_id=''
    if _gitstatus_owned; then
      _gitstatus_alive || \builtin return
    else
      _gitstatus_prompt_start 2>/dev/null || \builtin return
    fi
  fi
  _gitstatus_prompt_slot "$key"
  if [[ -n $_gitstatus_prompt_id && $_gitstatus_prompt_key == "$key" ]]; then
    # Still busy with the last question about this place: no second one beside it.
    _gitstatus_prompt_collect "$slot" && status=0 || status=$?
    case $status in
    0) _gitstatus_unset ;;
    1)
      [[ -n ${VCS_STATUS_RESULT-} ]] || _gitstatus_prompt_restore "$slot"
      \builtin return
      ;;
    *) \builtin return 1 ;;
    esac
  fi
  _gitstatus_prompt_key=$key _gitstatus_prompt_id='' _gitstatus_prompt_soon=''
  if [[ -z ${_gitstatus_prompt_fast[slot]} ]]; then
    _gitstatus_ask "$PWD" 1 || \builtin return
    _gitstatus_prompt_soon=$REPLY
  fi
  _gitstatus_ask "$PWD" 0 || \builtin return
  _gitstatus_prompt_id=$REPLY
  _gitstatus_prompt_collect "$slot" && status=0 || status=$?
  case $status in
  0)
    _gitstatus_prompt_stale=0 _gitstatus_prompt_fast[slot]=1
    _gitstatus_set sync
    ;;
  1)
    _gitstatus_prompt_fast[slot]=''
    [[ -n ${VCS_STATUS_RESULT-} ]] || _gitstatus_prompt_restore "$slot"
    ;;
  *) \builtin return 1 ;;
  esac
}

# The hook in PROMPT_COMMAND: $? leaves as it came.
_gitstatus_prompt_hook() {
  \builtin local status="$?" IFS=$' \t\n'
  # Again, if the daemon died of the question.
  if ! _gitstatus_prompt_update && ! _gitstatus_prompt_update; then
    _gitstatus_unset
    _gitstatus_prompt_stale=0
  fi
  _gitstatus_prompt_render
  _gitstatus_prompt_show "$status"
  \builtin return "$status"
}

# Puts the hook into PROMPT_COMMAND once, behind what is there. `&& :` keeps the
# status from ending a shell with `set -e`.
_gitstatus_prompt_install() {
  \builtin local hook='_gitstatus_prompt_hook && :' present flags
  present=$(\builtin declare -p PROMPT_COMMAND 2>/dev/null) || present='declare -- PROMPT_COMMAND'
  flags=${present#declare -}
  flags=${flags%% *}
  if [[ $flags == *x* ]]; then
    # A shell started from this one inherits the text, but not the function.
    # shellcheck disable=SC2016 # it is for later
    hook='${_gitstatus_prompt_hooked-} && :'
    _gitstatus_prompt_hooked=_gitstatus_prompt_hook
  fi
  if [[ $present == *_gitstatus_prompt_hook* ]]; then
    \builtin return 0
  fi
  # shellcheck disable=SC2178,SC2179 # before bash 5.1 it is a string, or [0] of an array
  if [[ $flags == *a* ]] && ((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] >= 501)); then
    PROMPT_COMMAND+=("$hook")
  elif [[ ${PROMPT_COMMAND-} == *[![:space:]]* ]]; then
    PROMPT_COMMAND+=$'\n'$hook
  else
    PROMPT_COMMAND=$hook
  fi
}

# <<< shared with gust init

_gitstatus_prompt_start() {
  gitstatus_start -s -1 -u -1 -c -1 -d -1 ${GUST_DIRTY_MAX_INDEX_SIZE:+-m "$GUST_DIRTY_MAX_INDEX_SIZE"}
}

_gitstatus_prompt_show() {
  \builtin :
}

# Brings GITSTATUS_PROMPT up to date.
gitstatus_prompt_update() {
  _gitstatus_prompt_hook && :
}

_gitstatus_prompt_start
_gitstatus_prompt_install

# The value of a parameter is not expanded again, so what a branch is called is
# shown and never run.
\builtin shopt -s promptvars
if [[ -n ${NO_COLOR-} || ${TERM-} == dumb ]]; then
  PS1='\w${GITSTATUS_PROMPT:+ $GITSTATUS_PROMPT}\n\$ '
else
  PS1='\[\e[36m\]\w\[\e[39m\]${GITSTATUS_PROMPT:+ $GITSTATUS_PROMPT}\n\$ '
fi
