package filter

import "bytes"

// collapseIdent returns src with each "$Id: …$" on one line made "$Id$"
// (gitattributes(5), "ident"), src itself if there is none.
func collapseIdent(src []byte) []byte {
	if !bytes.Contains(src, []byte("$Id:")) {
		return src
	}
	dst := make([]byte, 0, len(src))
	rest := src
	for {
		i := bytes.IndexByte(rest, '$')
		if i < 0 {
			break
		}
		dst = append(dst, rest[:i+1]...)
		rest = rest[i+1:]
		if len(rest) <= 3 || string(rest[:3]) != "Id:" {
			continue
		}
		end := bytes.IndexByte(rest[3:], '$')
		if end < 0 {
			break
		}
		if bytes.IndexByte(rest[3:3+end], '\n') >= 0 {
			continue
		}
		dst = append(dst, "Id$"...)
		rest = rest[3+end+1:]
	}
	return append(dst, rest...)
}
