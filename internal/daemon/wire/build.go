package wire

import (
	"cmp"
	"os"
	"runtime/debug"
	"time"
)

// A Build tells one build of gust from another, and which is newer.
type Build struct {
	Version string `json:"version"`
	Time    int64  `json:"time"` // seconds since the epoch; see ThisBuild
}

// ThisBuild returns the build that runs. Its time is that of the commit it was
// built from, where the go command has stamped a clean one into it: then all
// programs of one build are the same Build. Else it is the time of its file.
func ThisBuild() Build {
	b := Build{Version: "(devel)"}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b.dated()
	}
	if info.Main.Version != "" {
		b.Version = info.Main.Version
	}
	clean := false
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.modified":
			clean = s.Value == "false"
		case "vcs.time":
			if t, err := time.Parse(time.RFC3339, s.Value); err == nil {
				b.Time = t.Unix()
			}
		}
	}
	if !clean || b.Time == 0 {
		return b.dated()
	}
	return b
}

// dated returns b with the time of the program's file.
func (b Build) dated() Build {
	b.Time = 0
	if path, err := os.Executable(); err == nil {
		if info, err := os.Stat(path); err == nil {
			b.Time = info.ModTime().Unix()
		}
	}
	return b
}

// NewerThan reports whether b replaces o. Of two different builds one replaces
// the other, never both.
func (b Build) NewerThan(o Build) bool {
	if c := cmp.Compare(b.Time, o.Time); c != 0 {
		return c > 0
	}
	return b.Version > o.Version
}
