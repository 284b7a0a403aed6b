// Package process asks the system about other processes: whether one lives, and
// whether one holds a lock.
package process
