package gitstatusd

import (
	"fmt"

	"gust/internal/pure/wildmatch"
)

// MatchVersion reports whether glob, an fnmatch(3) pattern, matches any released
// protocol version from v1.0.0 to Version: a theme that pins one of them is
// served.
func MatchVersion(glob string) bool {
	p := wildmatch.Compile(glob, 0)
	for minor := range 6 {
		for patch := range 10 {
			v := fmt.Sprintf("v1.%d.%d", minor, patch)
			if p.Match([]byte(v)) {
				return true
			}
			if v == Version {
				return false
			}
		}
	}
	return false
}
