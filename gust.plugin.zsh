# For zsh plugin managers; never downloads anything. GUST_INIT_ARGS=--prompt=full, set
# before, gives gust's whole prompt instead of the variable GUST_PROMPT only.
(( $+commands[gust] )) && eval "$(command gust init zsh ${=GUST_INIT_ARGS-})"
