//go:build !linux

package process

// View is "": other systems do not tell what a process sees of the file systems.
func View() string { return "" }

// SetName does nothing.
func SetName(string) {}
