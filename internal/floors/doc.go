// Package floors holds floors.txt and the tests that hold the shape of the
// house: which package may import which, where the operating system may be
// spoken to, and what every package, file and promise must look like.
//
// Each check is a function over a parsed tree of sources. The sources are parsed
// here, all files of all systems, instead of asking `go list`, which sees the
// files of one system and whose answer `go test` would cache. TestTree runs every
// check on the project; TestPlantedFaults runs each on a small sound tree with one
// fault planted, so that no check can pass because it looks at nothing.
package floors
