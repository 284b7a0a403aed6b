# A prompt with the state of the Git repository, by gust: source it from ~/.zshrc.
#
# Before each prompt it sets
#   GITSTATUS_PROMPT      the state, for use in PROMPT; empty outside a repository
#   GITSTATUS_PROMPT_LEN  how many columns that takes
# and it sets a PROMPT that shows it. Set your own PROMPT afterwards to replace
# that one. An answer that takes longer than GUST_TIMEOUT does not hold up the
# prompt: it shows what is known and … until the rest comes.
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

source "${${(%):-%x}:A:h}/gitstatus.plugin.zsh" '' || return

# >>> shared with gust init

# What is known. home: where the key (directory, or $GIT_DIR) was found to belong,
# '' for no repository. fast: keys whose whole answer came in time. last: the last
# whole answer, by working tree.
\builtin typeset -gA _gitstatus_prompt_home _gitstatus_prompt_fast _gitstatus_prompt_last

# The present question. key: what it is about, '' when it is answered. late: the
# prompt was shown without it. again: it was asked before the last command ran.
\builtin typeset -g _gitstatus_prompt_key= _gitstatus_prompt_late= _gitstatus_prompt_again=

# What GITSTATUS_PROMPT was made of: 0 a whole answer, 1 stale counts, 2 stale.
\builtin typeset -g _gitstatus_prompt_stale=0

# The GITSTATUS_PROMPT that the terminal shows.
\builtin typeset -g _gitstatus_prompt_drawn=

\builtin typeset -g GITSTATUS_PROMPT= GITSTATUS_PROMPT_LEN=0

# Appends to text and plain, in the colour GUST_COLOR_$1, what $2 says.
function _gitstatus_prompt_add() {
  \builtin local color=GUST_COLOR_$1 shown=${2//\%/%%}
  if (( $+parameters[$color] )); then
    color=${(P)color}
  else
    case $1 in
      ACTION | CONFLICTED) color=red ;;
      STAGED | UNSTAGED) color=yellow ;;
      UNTRACKED) color=blue ;;
      PENDING) color=8 ;;
      *) color=green ;;
    esac
  fi
  [[ -n $plain ]] && text+=' ' plain+=' '
  plain+=$2
  if [[ -n ${NO_COLOR-} || ${TERM-} == dumb ]]; then
    color=
  fi
  if [[ $color == (black|red|green|yellow|blue|magenta|cyan|white|\#[[:xdigit:]](#c6)) ||
    ($color == <0-255> && $color != 0?*) ]]; then
    text+="%F{$color}$shown%f"
  else
    text+=$shown
  fi
}

# The symbol called $1, or the default $2 ($3 with GUST_SYMBOLS=ascii): REPLY.
function _gitstatus_prompt_symbol() {
  REPLY=GUST_SYMBOL_$1
  if (( $+parameters[$REPLY] )); then
    REPLY=${(P)REPLY}
  elif [[ ${GUST_SYMBOLS-} == ascii ]]; then
    REPLY=${3-$2}
  else
    REPLY=$2
  fi
}

# A name that Git allowed, fit for a terminal: REPLY. Control characters become ?,
# and a long one is shortened in the middle.
function _gitstatus_prompt_name() {
  \builtin local name=${1//[[:cntrl:]]/\?} sample=… left right
  \builtin local -i max=32 room keep
  [[ ${GUST_MAX_LENGTH-} == <0-9999> ]] && max=$GUST_MAX_LENGTH
  _gitstatus_prompt_symbol ELLIPSIS … ..
  left=$REPLY
  if (( $#sample > 1 )); then
    left=${left//[$'\x80'-$'\xbf']/}
  fi
  room=$(( max - $#left > 2 ? max - $#left : 2 ))
  if (( max == 0 || $#name <= room + $#left )); then
    REPLY=$name
    \builtin return
  fi
  keep=$(( room / 2 ))
  left=$name[1,room-keep]
  right=$name[-keep,-1]
  if (( $#sample > 1 )); then
    # In a locale of single bytes, do not cut through a character of UTF-8.
    if [[ $name[$#left+1] == [$'\x80'-$'\xbf'] ]]; then
      while [[ $left == *[$'\x80'-$'\xbf'] ]]; do
        left=$left[1,-2]
      done
      [[ $left == *[$'\xc0'-$'\xff'] ]] && left=$left[1,-2]
    fi
    while [[ $right == [$'\x80'-$'\xbf']* ]]; do
      right=$right[2,-1]
    done
  fi
  REPLY=$left$REPLY$right
}

# Appends a symbol and the number in the variable $3 to part, unless it is 0.
# The symbol is GUST_SYMBOL_$1, or $2 ($4 in ASCII).
function _gitstatus_prompt_count() {
  (( ${(P)3-0} > 0 )) || \builtin return 0
  _gitstatus_prompt_symbol $1 $2 ${4-$2}
  part+=$REPLY${(P)3}
}

# Makes GITSTATUS_PROMPT from VCS_STATUS_*.
function _gitstatus_prompt_render() {
  \builtin local text= plain= part word role REPLY
  if [[ ${VCS_STATUS_RESULT-} == ok-* ]]; then
    for word in ${=GUST_PROMPT_ORDER-head sync push stash action conflicted staged unstaged untracked}; do
      part=
      case $word in
        head)
          role=HEAD
          if [[ -n $VCS_STATUS_LOCAL_BRANCH ]]; then
            _gitstatus_prompt_name $VCS_STATUS_LOCAL_BRANCH
            part=$REPLY
            _gitstatus_prompt_symbol BRANCH ''
          elif [[ -n $VCS_STATUS_TAG ]]; then
            _gitstatus_prompt_name $VCS_STATUS_TAG
            part=$REPLY
            _gitstatus_prompt_symbol TAG '#'
          else
            part=${VCS_STATUS_COMMIT[1,8]}
            _gitstatus_prompt_symbol COMMIT @
          fi
          part=$REPLY$part
          ;;
        sync)
          role=SYNC
          _gitstatus_prompt_count BEHIND ⇣ VCS_STATUS_COMMITS_BEHIND '<'
          _gitstatus_prompt_count AHEAD ⇡ VCS_STATUS_COMMITS_AHEAD '>'
          ;;
        push)
          role=PUSH
          _gitstatus_prompt_count PUSH_BEHIND ⇠ VCS_STATUS_PUSH_COMMITS_BEHIND '<<'
          _gitstatus_prompt_count PUSH_AHEAD ⇢ VCS_STATUS_PUSH_COMMITS_AHEAD '>>'
          ;;
        stash)
          role=STASH
          _gitstatus_prompt_count STASH '*' VCS_STATUS_STASHES
          ;;
        action)
          role=ACTION
          if [[ -n $VCS_STATUS_ACTION ]]; then
            _gitstatus_prompt_symbol ACTION ''
            part=$REPLY${VCS_STATUS_ACTION//[[:cntrl:]]/\?}
          fi
          ;;
        conflicted)
          role=CONFLICTED
          _gitstatus_prompt_count CONFLICTED '~' VCS_STATUS_NUM_CONFLICTED
          ;;
        staged)
          role=STAGED
          _gitstatus_prompt_count STAGED + VCS_STATUS_NUM_STAGED
          ;;
        unstaged)
          role=UNSTAGED
          _gitstatus_prompt_count UNSTAGED ! VCS_STATUS_NUM_UNSTAGED
          ;;
        untracked)
          role=UNTRACKED
          _gitstatus_prompt_count UNTRACKED '?' VCS_STATUS_NUM_UNTRACKED
          ;;
      esac
      [[ -n $part ]] || \builtin continue
      if [[ $_gitstatus_prompt_stale == 2 ||
        ($_gitstatus_prompt_stale == 1 && $role == (CONFLICTED|STAGED|UNSTAGED|UNTRACKED)) ]]; then
        role=PENDING
      fi
      _gitstatus_prompt_add $role $part
    done
    # Unknown must not look clean.
    if (( _gitstatus_prompt_stale || VCS_STATUS_HAS_UNSTAGED < 0 )); then
      _gitstatus_prompt_symbol PENDING … ...
      [[ -n $REPLY ]] && _gitstatus_prompt_add PENDING $REPLY
    fi
  fi
  GITSTATUS_PROMPT=$text
  GITSTATUS_PROMPT_LEN=${(m)#plain}
  (( $+functions[_gitstatus_prompt_show] )) && _gitstatus_prompt_show
  \builtin return 0
}

# Remembers VCS_STATUS_* as what was last known here.
function _gitstatus_prompt_save() {
  \builtin local name
  \builtin local -a values
  for name in ${(ok)parameters[(I)VCS_STATUS_*]}; do
    values+=($name=${(P)name})
  done
  # A shell that visits thousands of directories need not remember all of them.
  if (( $#_gitstatus_prompt_home > 500 )); then
    _gitstatus_prompt_home=() _gitstatus_prompt_fast=() _gitstatus_prompt_last=()
  fi
  _gitstatus_prompt_home[$_gitstatus_prompt_key]=${VCS_STATUS_WORKDIR-}
  [[ -n ${VCS_STATUS_WORKDIR-} ]] && _gitstatus_prompt_last[$VCS_STATUS_WORKDIR]=${(pj:\x1f:)values}
}

# Sets VCS_STATUS_* (those that match the pattern $2) as they were last known for
# the working tree $1. Fails if nothing is.
function _gitstatus_prompt_recall() {
  \builtin local pair
  [[ -n $1 && -n ${_gitstatus_prompt_last[$1]-} ]] || \builtin return
  for pair in "${(@ps:\x1f:)_gitstatus_prompt_last[$1]}"; do
    [[ ${pair%%=*} == $~2 ]] && \builtin typeset -g $pair
  done
  \builtin return 0
}

# Sends the question about the present directory. Where the whole answer is not
# known to come fast, what does not need the files is asked first.
function _gitstatus_prompt_ask() {
  \builtin local REPLY
  _gitstatus_prompt_key=${GIT_DIR:-$PWD} _gitstatus_prompt_late= _gitstatus_prompt_again=
  _gitstatus_drop $1
  if [[ -z ${_gitstatus_prompt_fast[$_gitstatus_prompt_key]-} ]]; then
    _gitstatus_ask $1 $PWD 1 || \builtin return
    _gitstatus_expect $1 $REPLY "_gitstatus_prompt_got early $1; _gitstatus_prompt_draw"
  fi
  _gitstatus_ask $1 $PWD 0 || \builtin return
  _gitstatus_expect $1 $REPLY "_gitstatus_prompt_got whole $1; _gitstatus_prompt_draw"
}

# Takes an answer; VCS_STATUS_* hold it.
function _gitstatus_prompt_got() {
  \builtin emulate -L zsh
  \builtin setopt extended_glob no_err_exit no_err_return no_xtrace
  if [[ $1 == early ]]; then
    _gitstatus_prompt_stale=1
    if [[ $VCS_STATUS_RESULT == ok-* ]] &&
      ! _gitstatus_prompt_recall $VCS_STATUS_WORKDIR 'VCS_STATUS_(NUM_*|HAS_*|INDEX_SIZE)'; then
      \builtin typeset -gi VCS_STATUS_HAS_UNSTAGED=-1 VCS_STATUS_HAS_CONFLICTED=-1 VCS_STATUS_HAS_UNTRACKED=-1
    fi
    _gitstatus_prompt_save
  else
    _gitstatus_prompt_save
    _gitstatus_prompt_fast[$_gitstatus_prompt_key]=
    [[ -n $_gitstatus_prompt_late ]] || _gitstatus_prompt_fast[$_gitstatus_prompt_key]=1
    _gitstatus_prompt_stale=0
    if [[ -n $_gitstatus_prompt_again && $_gitstatus_prompt_key == ${GIT_DIR:-$PWD} ]]; then
      _gitstatus_prompt_stale=1
      _gitstatus_prompt_ask $2 && _gitstatus_arm $2
      _gitstatus_prompt_late=1
    else
      _gitstatus_prompt_key=
    fi
  fi
  _gitstatus_prompt_render
}

# Draws the prompt anew where the line editor shows one: with the user's options,
# by which PROMPT is expanded.
function _gitstatus_prompt_draw() {
  \builtin zle || \builtin return 0
  [[ $GITSTATUS_PROMPT != $_gitstatus_prompt_drawn ]] || \builtin return 0
  _gitstatus_prompt_drawn=$GITSTATUS_PROMPT
  \builtin zle reset-prompt
  \builtin zle -R
}

# Brings GITSTATUS_PROMPT up to date, before a prompt, with the daemon $1: waits
# at most GUST_TIMEOUT seconds, and leaves the rest to the line editor.
function _gitstatus_prompt_update() {
  \builtin local REPLY cb limit=0.03
  \builtin local -a reply
  \builtin local -F end
  (( $+EPOCHREALTIME )) || _gitstatus_loaded || \builtin return
  [[ ${GUST_TIMEOUT-} == (<->(|.<->)|.<->) ]] && limit=$GUST_TIMEOUT
  end=$(( EPOCHREALTIME + limit ))
  if ! _gitstatus_alive $1; then
    # It died, or it never ran: once more, and then not until the next prompt.
    _gitstatus_prompt_key=
    if _gitstatus_owned $1; then
      _gitstatus_alive $1 || \builtin return
    else
      _gitstatus_prompt_start $1 2>/dev/null || \builtin return
    fi
  fi
  if [[ -n $_gitstatus_prompt_key && -n ${_gitstatus[$1.ids]-} && $_gitstatus_prompt_key == ${GIT_DIR:-$PWD} ]]; then
    # Still busy with the last question about this place: no second one beside it.
    _gitstatus_prompt_again=1
  else
    _gitstatus_prompt_ask $1 || \builtin return
  fi
  \builtin unset VCS_STATUS_RESULT
  while [[ -n ${_gitstatus[$1.ids]-} ]]; do
    _gitstatus_await $1 $(( end > EPOCHREALTIME ? end - EPOCHREALTIME : 0 ))
    case $? in
      1) \builtin break ;;
      2) \builtin return 1 ;;
    esac
    cb=$REPLY
    _gitstatus_set $1 async && \builtin eval "$cb"
  done
  [[ -n $_gitstatus_prompt_key ]] || \builtin return 0
  _gitstatus_prompt_late=1
  _gitstatus_arm $1
  if (( ! $+VCS_STATUS_RESULT )); then
    _gitstatus_unset
    _gitstatus_prompt_recall "${_gitstatus_prompt_home[$_gitstatus_prompt_key]-}" '*'
    _gitstatus_prompt_stale=2
    _gitstatus_prompt_render
  fi
}

# The hook: whatever happens, what is shown is not about another directory.
function _gitstatus_prompt_precmd() {
  \builtin emulate -L zsh
  \builtin setopt extended_glob no_err_exit no_err_return no_xtrace
  # Again, if the daemon died of the question.
  if ! _gitstatus_prompt_update $1 && ! _gitstatus_prompt_update $1; then
    _gitstatus_unset
    _gitstatus_prompt_key= _gitstatus_prompt_stale=0
    _gitstatus_prompt_render
  fi
  _gitstatus_prompt_drawn=$GITSTATUS_PROMPT
  \builtin return 0
}

# <<< shared with gust init

function _gitstatus_prompt_start() {
  gitstatus_start -a -s -1 -u -1 -c -1 -d -1 ${GUST_DIRTY_MAX_INDEX_SIZE:+-m} ${GUST_DIRTY_MAX_INDEX_SIZE:+$GUST_DIRTY_MAX_INDEX_SIZE} $1
}

# Brings GITSTATUS_PROMPT up to date.
function gitstatus_prompt_update() {
  _gitstatus_prompt_precmd MY
}

_gitstatus_prompt_start MY
() {
  \builtin emulate -L zsh
  \builtin typeset -ga precmd_functions
  (( $precmd_functions[(Ie)gitstatus_prompt_update] )) || precmd_functions+=(gitstatus_prompt_update)
}

# The value of a parameter is not expanded again, so what a branch is called is
# shown and never run.
setopt no_prompt_bang prompt_percent prompt_subst
if [[ -n ${NO_COLOR-} || ${TERM-} == dumb ]]; then
  PROMPT='%~${GITSTATUS_PROMPT:+ $GITSTATUS_PROMPT}'$'\n''%# '
else
  PROMPT='%F{cyan}%~%f${GITSTATUS_PROMPT:+ $GITSTATUS_PROMPT}'$'\n''%F{%(?.green.red)}%#%f '
fi
