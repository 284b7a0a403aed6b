package gitstatusd

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"gust/internal/daemon/live"
)

// Version is the newest protocol version that gust is compatible with. Themes
// pin released versions, so that is what a client asks for.
const Version = "v1.5.5"

// Exit codes of the daemon.
const (
	ExitOK      = 0
	ExitUsage   = 10 // a bad command line
	ExitVersion = 11 // --version-glob does not match
)

// A LogLevel orders messages by their weight.
type LogLevel int

const (
	Debug LogLevel = iota
	Info
	Warn
	Error
	Fatal
)

var levelNames = [...]string{"DEBUG", "INFO", "WARN", "ERROR", "FATAL"}

// String returns the name that --log-level takes.
func (l LogLevel) String() string { return levelNames[l] }

// Options are the daemon's command line.
type Options struct {
	LockFD      int // -1: none
	ParentPID   int // -1: none
	Threads     int
	Level       LogLevel
	TTL         time.Duration // 0: never
	Limits      live.Limits
	Extended    bool   // --gust
	NoServer    bool   // --no-server
	Watch       bool   // --watch: watch repositories in this process
	VersionGlob string // "*"

	ShowVersion, ShowHelp bool
}

// An option is one row of the option table.
type option struct {
	short byte // 0: none
	long  string
	arg   bool
	set   func(o *Options, arg string) error
}

func defaults() Options {
	return Options{
		LockFD: -1, ParentPID: -1, Threads: 1, Level: Info, TTL: time.Hour, VersionGlob: "*",
		Limits: live.Limits{SummaryLen: 256, Staged: 1, Unstaged: 1, Conflicted: 1, Untracked: 1, DirtyMaxIndexSize: -1},
	}
}

func number(dst func(*Options) *int) func(*Options, string) error {
	return func(o *Options, arg string) (err error) {
		*dst(o), err = parseInt(arg)
		return err
	}
}

func flag(dst func(*Options) *bool) func(*Options, string) error {
	return func(o *Options, _ string) error {
		*dst(o) = true
		return nil
	}
}

// table returns every option. It is a function so that nothing is built before
// it is needed.
func table() []option {
	return []option{
		{'l', "lock-fd", true, number(func(o *Options) *int { return &o.LockFD })},
		{'p', "parent-pid", true, number(func(o *Options) *int { return &o.ParentPID })},
		{'t', "num-threads", true, setThreads},
		{'v', "log-level", true, setLevel},
		{'r', "repo-ttl-seconds", true, setTTL},
		{'z', "max-commit-summary-length", true, setSummaryLen},
		{'s', "max-num-staged", true, number(func(o *Options) *int { return &o.Limits.Staged })},
		{'u', "max-num-unstaged", true, number(func(o *Options) *int { return &o.Limits.Unstaged })},
		{'c', "max-num-conflicted", true, number(func(o *Options) *int { return &o.Limits.Conflicted })},
		{'d', "max-num-untracked", true, number(func(o *Options) *int { return &o.Limits.Untracked })},
		{'m', "dirty-max-index-size", true, number(func(o *Options) *int { return &o.Limits.DirtyMaxIndexSize })},
		{'e', "recurse-untracked-dirs", false, flag(func(o *Options) *bool { return &o.Limits.RecurseUntracked })},
		{'U', "ignore-status-show-untracked-files", false, flag(func(o *Options) *bool { return &o.Limits.IgnoreStatusShowUntracked })},
		{'W', "ignore-bash-show-untracked-files", false, flag(func(o *Options) *bool { return &o.Limits.IgnoreBashShowUntracked })},
		{'D', "ignore-bash-show-dirty-state", false, flag(func(o *Options) *bool { return &o.Limits.IgnoreBashShowDirty })},
		{'V', "version", false, flag(func(o *Options) *bool { return &o.ShowVersion })},
		{'G', "version-glob", true, func(o *Options, arg string) error { o.VersionGlob = arg; return nil }},
		{'h', "help", false, flag(func(o *Options) *bool { return &o.ShowHelp })},
		{0, "gust", false, flag(func(o *Options) *bool { return &o.Extended })},
		{0, "watch", false, flag(func(o *Options) *bool { return &o.Watch })},
		{0, "no-server", false, flag(func(o *Options) *bool { return &o.NoServer })},
	}
}

func setThreads(o *Options, arg string) (err error) {
	if o.Threads, err = parseInt(arg); err == nil && o.Threads <= 0 {
		err = fmt.Errorf("number of threads must be positive: %s", arg)
	}
	return err
}

func setLevel(o *Options, arg string) error {
	for i, name := range levelNames {
		if name == arg {
			o.Level = LogLevel(i)
			return nil
		}
	}
	return fmt.Errorf("invalid log level: %s", arg)
}

func setTTL(o *Options, arg string) error {
	n, err := parseInt(arg)
	o.TTL = 0
	if n >= 0 {
		// Zero seconds is not "never": a repository goes at the next idle moment.
		o.TTL = max(time.Duration(n)*time.Second, 1)
	}
	return err
}

func setSummaryLen(o *Options, arg string) (err error) {
	if o.Limits.SummaryLen, err = parseInt(arg); err == nil && o.Limits.SummaryLen < 0 {
		err = fmt.Errorf("invalid length: %s", arg)
	}
	return err
}

// parseInt parses a decimal integer that fits 32 bits, as strtol(3) does: with
// leading white space and a sign, and nothing behind it.
func parseInt(s string) (int, error) {
	n, err := strconv.ParseInt(strings.TrimLeft(s, " \t\n\v\f\r"), 10, 64)
	if err != nil || n < math.MinInt32 || n > math.MaxInt32 {
		return 0, fmt.Errorf("not an integer: %s", s)
	}
	return int(n), nil
}

// ParseOptions parses a command line as getopt_long(3) does: short options
// cluster and take their value attached or as the next argument, long ones may be
// abbreviated and take it after "=" or as the next argument; "--" ends them.
// Arguments that are no options are errors.
func ParseOptions(args []string) (Options, error) {
	p := parser{o: defaults(), table: table(), args: args}
	for len(p.args) > 0 && p.err == nil {
		arg := p.args[0]
		p.args = p.args[1:]
		switch {
		case arg == "--":
			if len(p.args) > 0 {
				p.err = fmt.Errorf("unexpected positional argument: %s", p.args[0])
			}
			p.args = nil
		case strings.HasPrefix(arg, "--"):
			p.long(arg[2:])
		case len(arg) > 1 && arg[0] == '-':
			p.short(arg[1:])
		default:
			p.err = fmt.Errorf("unexpected positional argument: %s", arg)
		}
	}
	return p.o, p.err
}

type parser struct {
	o     Options
	table []option
	args  []string
	err   error
}

func (p *parser) long(arg string) {
	name, value, hasValue := strings.Cut(arg, "=")
	opt, err := p.find(name)
	if err != nil {
		p.err = err
		return
	}
	switch {
	case opt.arg && !hasValue:
		if value, p.err = p.next("--" + opt.long); p.err != nil {
			return
		}
	case !opt.arg && hasValue:
		p.err = fmt.Errorf("option '--%s' does not allow an argument", opt.long)
		return
	}
	p.err = opt.set(&p.o, value)
}

// find returns the long option that name is, or is the only beginning of.
func (p *parser) find(name string) (*option, error) {
	var found []*option
	for i := range p.table {
		opt := &p.table[i]
		if opt.long == name {
			return opt, nil
		}
		if strings.HasPrefix(opt.long, name) {
			found = append(found, opt)
		}
	}
	switch len(found) {
	case 0:
		return nil, fmt.Errorf("unrecognized option '--%s'", name)
	case 1:
		return found[0], nil
	}
	return nil, fmt.Errorf("option '--%s' is ambiguous", name)
}

func (p *parser) short(cluster string) {
	for i := 0; i < len(cluster) && p.err == nil; i++ {
		var opt *option
		for k := range p.table {
			if p.table[k].short == cluster[i] {
				opt = &p.table[k]
			}
		}
		if opt == nil {
			p.err = fmt.Errorf("invalid option -- '%c'", cluster[i])
			return
		}
		if !opt.arg {
			p.err = opt.set(&p.o, "")
			continue
		}
		value := cluster[i+1:]
		if value == "" {
			if value, p.err = p.next("-" + string(opt.short)); p.err != nil {
				return
			}
		}
		p.err = opt.set(&p.o, value)
		return
	}
}

func (p *parser) next(name string) (string, error) {
	if len(p.args) == 0 {
		return "", fmt.Errorf("option '%s' requires an argument", name)
	}
	value := p.args[0]
	p.args = p.args[1:]
	return value, nil
}
