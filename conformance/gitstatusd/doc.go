// Package gitstatusd tests the program gitstatusd at its edges: options, exit
// codes, framing, and how it ends (docs/protocol.md, sections 1 to 3). It is for
// tests only.
package gitstatusd
