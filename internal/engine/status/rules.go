package status

import (
	"gust/internal/disk/filestat"
	"gust/internal/rules/attr"
	"gust/internal/rules/ignore"
)

// maxRules bounds the size of a rule file in bytes, as Git bounds its own.
const maxRules = 100 << 20

// A cachedFile is a file outside of the scanned tree whose content is kept while
// its signature holds.
type cachedFile struct {
	path  string
	sig   filestat.Signature
	known bool
}

// read returns the content of the file at path, and whether it may differ from
// what the last read returned. A file that cannot be read is empty.
func (c *cachedFile) read(path string) (data []byte, changed bool) {
	if path == "" {
		changed = c.known && c.path != ""
		*c = cachedFile{known: true}
		return nil, changed
	}
	if c.known && c.path == path && c.sig.Matches(path) {
		return nil, false
	}
	wasAbsent := c.known && (c.path == "" || c.sig.Absent())
	data, sig, err := filestat.ReadFile(path, maxRules)
	*c = cachedFile{path, sig, true}
	return data, !wasAbsent || err == nil
}

// ruleFiles are the ignore and attribute sources outside of the working tree.
type ruleFiles struct {
	excludes, exclude        cachedFile // core.excludesFile, info/exclude
	system, attributes, info cachedFile // the system's, core.attributesFile, info/attributes
	lists                    [2]*ignore.List
	attrLists                [3]*attr.List
	noCase                   bool
	ignore                   *ignore.Stack
	attrs                    *attr.Stack
}

// update reads what changed. The stacks keep their identity while nothing did.
func (f *ruleFiles) update(s *settings, commonDir string, systemAttrs bool) {
	if f.noCase != s.ignoreCase {
		*f = ruleFiles{noCase: s.ignoreCase}
	}
	changed := false
	for i, src := range []struct {
		file *cachedFile
		path string
	}{{&f.excludes, s.excludesFile}, {&f.exclude, commonDir + "/info/exclude"}} {
		if data, ok := src.file.read(src.path); ok {
			f.lists[i] = ignore.Parse(data, ignore.Options{IgnoreCase: s.ignoreCase})
			changed = true
		}
	}
	if changed {
		f.ignore = (*ignore.Stack)(nil).Push(f.lists[0], "", f.excludes.path).Push(f.lists[1], "", f.exclude.path)
	}
	changed = f.attrs == nil
	system := ""
	if systemAttrs {
		system = "/etc/gitattributes"
	}
	for i, src := range []struct {
		file *cachedFile
		path string
	}{{&f.system, system}, {&f.attributes, s.attributesFile}, {&f.info, commonDir + "/info/attributes"}} {
		if data, ok := src.file.read(src.path); ok {
			f.attrLists[i] = attr.Parse(data, attr.Options{IgnoreCase: s.ignoreCase})
			changed = true
		}
	}
	if changed {
		f.attrs = attr.New(f.attrLists[:2], f.attrLists[2])
	}
}
