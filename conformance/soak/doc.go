// Package soak tests one server for long: it changes repositories in every way that
// their users do, and compares answers with git's at each turn.
package soak
