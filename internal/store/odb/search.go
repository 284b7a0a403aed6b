package odb

import (
	"gust/internal/format/loose"
	"gust/internal/format/packfile"
	"gust/internal/pure/object"
	"gust/internal/pure/oid"
)

// A request says what is asked of an object.
type request struct {
	stat bool   // only type and size
	has  bool   // nothing at all
	dst  []byte // content is appended to it
	n    int64  // bytes of the content that are wanted, negative for all
}

// An answer is the result of a request.
type answer struct {
	typ  object.Type
	size int64
	out  []byte
}

func (q *request) pack(s *scratch, p *packfile.Pack, off int64, id *oid.ID) (a answer, err error) {
	if q.has {
		return a, nil
	}
	if q.stat {
		a.typ, a.size, err = p.Stat(&s.pack, off)
		return a, err
	}
	a.typ, a.size, a.out, err = p.Read(&s.pack, off, q.dst, q.n)
	if err == nil && q.n < 0 && !s.is(id, a.typ, a.out[len(q.dst):]) {
		err = &CorruptError{Path: p.Path(), Offset: off, Problem: "no object " + id.String()}
	}
	return a, err
}

func (q *request) loose(s *scratch, dir string, id *oid.ID) (a answer, err error) {
	n := q.n
	if q.stat || q.has {
		n = 0
	}
	a.typ, a.size, a.out, err = s.loose.Read(dir, *id, q.dst, n)
	if err == nil && n < 0 && !s.is(id, a.typ, a.out[len(q.dst):]) {
		err = &CorruptError{Path: string(loose.AppendPath([]byte(dir), *id)), Problem: "no object " + id.String()}
	}
	return a, err
}

// is reports whether content is that of the object id.
func (s *scratch) is(id *oid.ID, typ object.Type, content []byte) bool {
	if s.hash == nil {
		s.hash = oid.NewHasher(id.Algo(), typ.String(), int64(len(content)))
	} else {
		s.hash.Reset(typ.String(), int64(len(content)))
	}
	s.hash.Write(content)
	return s.hash.Sum() == *id
}

// A search is the state of looking for one object in every place of a snapshot.
type search struct {
	db     *DB
	s      *scratch
	id     *oid.ID
	q      *request
	hint   *packfile.Pack // already looked at
	first  error          // of the copies that could not be read
	broken bool           // a multi-pack-index led nowhere
}

// search looks for id in every place of snap and answers q from the first whole
// copy. Its error is errMissing if no place has one, otherwise that of the first
// copy that could not be read.
//
// Packs come before loose objects because looking into them takes no system call.
func (db *DB) search(snap *snapshot, s *scratch, id *oid.ID, q *request) (answer, error) {
	r := search{db: db, s: s, id: id, q: q, first: errMissing}
	if hint := db.hint.Load(); hint != nil {
		if a, ok := r.pack(hint); ok {
			return a, nil
		}
		r.hint = hint
	}
	for _, d := range snap.dirs {
		for _, x := range d.midx {
			if a, ok := r.index(x); ok {
				return a, nil
			}
		}
		for _, p := range d.single {
			if a, ok := r.pack(p); ok {
				return a, nil
			}
		}
	}
	for _, d := range snap.dirs {
		a, err := q.loose(s, d.path, id)
		if err == nil {
			return a, nil
		}
		r.note(err)
	}
	if r.broken || r.first != errMissing {
		// Another copy may be in a pack that a multi-pack-index covers, as it lists
		// only one of them.
		for _, d := range snap.dirs {
			for _, p := range d.covered {
				if a, ok := r.pack(p); ok {
					return a, nil
				}
			}
		}
	}
	return answer{}, r.first
}

// note keeps err if it is the first that tells of more than an absent file.
func (r *search) note(err error) {
	if r.first == errMissing && err != nil && !gone(err) {
		r.first = err
	}
}

// pack looks into a pack by its own index.
func (r *search) pack(p *packfile.Pack) (a answer, ok bool) {
	if p == r.hint {
		return a, false
	}
	off, ok, err := p.Find(r.id)
	if ok {
		if a, err = r.q.pack(r.s, p, off, r.id); err == nil {
			r.db.remember(p)
			return a, true
		}
	}
	r.note(err)
	return a, false
}

// index looks into a multi-pack-index.
func (r *search) index(x *index) (a answer, ok bool) {
	n, off, ok, err := x.file.Find(r.id)
	if ok && x.packs[n] != nil {
		if a, err = r.q.pack(r.s, x.packs[n], off, r.id); err == nil {
			return a, true
		}
	}
	r.broken = r.broken || ok || err != nil
	r.note(err)
	return a, false
}

// remember makes p the first pack to be looked at for the next object. Storing
// only on change keeps the pointer's cache line shared among processors.
func (db *DB) remember(p *packfile.Pack) {
	if db.hint.Load() != p {
		db.hint.Store(p)
	}
}
