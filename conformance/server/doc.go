// Package server tests the server and the relays to it as processes: how they
// begin, share, replace each other, die and end. It is for tests only.
package server
