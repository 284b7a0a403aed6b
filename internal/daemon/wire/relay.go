package wire

import (
	"bytes"
	"fmt"

	"gust/internal/daemon/gitstatusd"
)

// Kinds of records that a server sends to a gitstatusd that passes its requests
// on. What it sends are requests of the classic protocol as they came, one after
// the other is answered.
const (
	Acknowledged = '+' // the request is being worked on; at most 5 ms after it came
	Message      = '!' // for the log: the level's first letter, then the text
	Response     = '=' // the response of the classic protocol
)

// AppendRecord appends a record, its end included. Of text, which may come from a
// repository, control bytes become question marks.
func AppendRecord(dst []byte, kind byte, text string) []byte {
	dst = append(dst, kind)
	for i := range len(text) {
		c := text[i]
		if c < 32 || c == 127 {
			c = '?'
		}
		dst = append(dst, c)
	}
	return append(dst, gitstatusd.RecordSeparator)
}

// AppendMessage appends a record for the log.
func AppendMessage(dst []byte, level gitstatusd.LogLevel, text string) []byte {
	return AppendRecord(dst, Message, level.String()[:1]+text)
}

// ParseMessage parses what follows the kind of a Message.
func ParseMessage(data []byte) (gitstatusd.LogLevel, string, error) {
	if len(data) > 0 {
		for l := gitstatusd.Debug; l <= gitstatusd.Fatal; l++ {
			if l.String()[0] == data[0] {
				return l, string(bytes.TrimSuffix(data[1:], []byte{gitstatusd.RecordSeparator})), nil
			}
		}
	}
	return 0, "", fmt.Errorf("bad message of the server: %q", clip(string(data)))
}
