// Package cases holds a test for each fault that users of git prompts have
// reported in public, with the value that git gives. It is for tests only.
package cases
