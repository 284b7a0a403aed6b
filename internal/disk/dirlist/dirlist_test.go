package dirlist

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"gust/internal/disk/filestat"
)

func TestList(t *testing.T) {
	dir := t.TempDir()
	want := []string{".hidden", "a", "a\nb", "b.txt", "dir", "link", "\xff"}
	for _, name := range []string{".hidden", "a", "a\nb", "b.txt", "\xff"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "dir"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("a", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	d, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	var l Listing
	if err := d.List(&l); err != nil {
		t.Fatal(err)
	}
	order := make([]int, l.Len())
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, l.Compare)
	var got []string
	for _, i := range order {
		name := string(l.Name(i))
		got = append(got, name)
		wantKind := Regular
		switch name {
		case "dir":
			wantKind = Directory
		case "link":
			wantKind = Symlink
		}
		if k := l.Kind(i); k != wantKind && k != Unknown {
			t.Errorf("kind of %q is %d, want %d", name, k, wantKind)
		}
		if z := l.NameZ(i); z != name+"\x00" {
			t.Errorf("NameZ(%d) = %q", i, z)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("List = %q, want %q", got, want)
	}
}

// Many names need several system calls; none may be lost between them.
func TestListMany(t *testing.T) {
	dir := t.TempDir()
	const many = 3000
	for i := range many {
		f, err := os.CreateTemp(dir, "a-name-that-is-not-very-short-*")
		if err != nil {
			t.Fatal(i, err)
		}
		f.Close()
	}
	for _, known := range []bool{false, true} {
		d, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		if known { // what is known of the file system must not end the listing early
			d, _ = d.Local()
		}
		var l Listing
		if err := d.List(&l); err != nil || l.Len() != many {
			t.Errorf("List: %d names, %v, want %d", l.Len(), err, many)
		}
	}
}

func TestOpenDirRefuses(t *testing.T) {
	dir := t.TempDir()
	if err := os.Symlink(".", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	d, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for _, name := range []string{"link", "file"} {
		if _, err := d.OpenDir(name + "\x00"); !IsNotDir(err) {
			t.Errorf("OpenDir(%s) error = %v, want one that IsNotDir knows", name, err)
		}
	}
	if _, err := d.OpenDir("missing\x00"); !filestat.IsAbsent(err) {
		t.Errorf("OpenDir(missing) error = %v, want absent", err)
	}
}

func TestDirOpenDirAllocs(t *testing.T) {
	d := opened(t)
	if n := testing.AllocsPerRun(100, func() {
		sub, err := d.OpenDir("sub\x00")
		if err != nil {
			t.Fatal(err)
		}
		sub.Close()
	}); n != 0 {
		t.Errorf("OpenDir allocates %v times", n)
	}
}

func TestDirStatNameAllocs(t *testing.T) {
	d := opened(t)
	var st filestat.Stat
	if n := testing.AllocsPerRun(100, func() {
		if err := d.StatName(&st, "sub\x00"); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("StatName allocates %v times", n)
	}
	if !st.IsDir() {
		t.Errorf("mode %o is no directory's", st.Mode)
	}
}

func TestDirListAllocs(t *testing.T) {
	d := opened(t)
	var l Listing
	if n := testing.AllocsPerRun(100, func() {
		sub, err := d.OpenDir("sub\x00")
		if err != nil {
			t.Fatal(err)
		}
		if err := sub.List(&l); err != nil || l.Len() != 1 {
			t.Fatal(l.Len(), err)
		}
		sub.Close()
	}); n != 0 {
		t.Errorf("List allocates %v times", n)
	}
}

// opened returns an open directory that holds sub/file.
func opened(t *testing.T) Dir {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "sub", "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	d, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	return d
}
