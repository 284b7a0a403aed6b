# gust for zsh, printed by `gust init zsh`. See docs/shell-variables.md.
if [[ -o interactive && -x @{.Daemon}@ ]]; then
  # Where gitstatusd is: REPLY, or failure.
  function __gust_find() {
    gust=1 REPLY=@{.Daemon}@
    [[ -f $REPLY && -x $REPLY ]]
  }

@{.Plugin}@

@{.Prompt}@

  function __gust_prompt_start() {
    __gust_start -a -s -1 -u -1 -c -1 -d -1 ${GUST_DIRTY_MAX_INDEX_SIZE:+-m} ${GUST_DIRTY_MAX_INDEX_SIZE:+$GUST_DIRTY_MAX_INDEX_SIZE} $1
  }

  function __gust_hook() {
    __gust_prompt_precmd GUST
  }
@{- if .Full}@

  # Sets PROMPT. The characters that zsh would expand in it, with one or the other
  # of its options, come from psvar, which it never expands.
  function __gust_prompt_show() {
    \builtin local part=$GUST_PROMPT before='%F{cyan}%~%f' after=$'\n%F{%(?.green.red)}%#%f '
    if [[ -n ${NO_COLOR-} || ${TERM-} == dumb ]]; then
      before='%~' after=$'\n%# '
    fi
    psvar[20]='$' psvar[21]='`' psvar[22]='\' psvar[23]='!'
    part=${part//\\/%22v}
    part=${part//\$/%20v}
    part=${part//\`/%21v}
    part=${part//\!/%23v}
    PROMPT=${GUST_PROMPT_BEFORE-$before}${part:+ $part}${GUST_PROMPT_AFTER-$after}
  }
@{- end}@

  () {
    \builtin emulate -L zsh
    \builtin typeset -ga precmd_functions
    (( $precmd_functions[(Ie)__gust_hook] )) || precmd_functions+=(__gust_hook)
  }
fi
