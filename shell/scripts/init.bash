# gust for bash, printed by `gust init bash`. See docs/shell-variables.md.
# shellcheck shell=bash
if [[ $- == *i* && -x @{.Daemon}@ ]]; then
  # Where gitstatusd is: REPLY, or failure.
  __gust_find() {
    # shellcheck disable=SC2034 # for the caller
    gust=1 REPLY=@{.Daemon}@
    [[ -f $REPLY && -x $REPLY ]]
  }

@{.Plugin}@

@{.Prompt}@

  __gust_prompt_start() {
    __gust_start -s -1 -u -1 -c -1 -d -1 ${GUST_DIRTY_MAX_INDEX_SIZE:+-m "$GUST_DIRTY_MAX_INDEX_SIZE"}
  }

  # Shells older than the coprocess ask anew each time.
  if ((BASH_VERSINFO[0] < 4)); then
    __gust_prompt_hook() {
      \builtin local status="$?" IFS=$' \t\n'
      # shellcheck disable=SC2034 # for the user's prompt
      GUST_PROMPT=$(@{.Gust}@ prompt --shell bash 2>/dev/null)
      __gust_prompt_show "$status"
      \builtin return "$status"
    }
  fi
@{- if .Full}@

  # Sets PS1, after a command that left $1. Where bash expands parameters in it, it expands the value of one only
  # once; where it does not, the prompt's own escapes are all that must be undone.
  __gust_prompt_show() {
    \builtin local before='\[\e[36m\]\w\[\e[39m\]' after='\n\[\e[3'$(($1 ? 1 : 2))'m\]\$\[\e[39m\] '
    if [[ -n ${NO_COLOR-} || ${TERM-} == dumb ]]; then
      before='\w' after='\n\$ '
    fi
    if \builtin shopt -q promptvars; then
      # shellcheck disable=SC2016 # for the prompt to expand
      PS1='${GUST_PROMPT:+ $GUST_PROMPT}'
    else
      PS1=${GUST_PROMPT:+ ${GUST_PROMPT//\\/\\\\}}
    fi
    PS1=${GUST_PROMPT_BEFORE-$before}$PS1${GUST_PROMPT_AFTER-$after}
  }
@{- else}@

  __gust_prompt_show() {
    \builtin :
  }
@{- end}@

  __gust_prompt_install
fi
