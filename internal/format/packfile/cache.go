package packfile

import (
	"container/list"
	"sync"

	"gust/internal/pure/object"
)

// A Cache keeps the contents of recently used bases of deltas. It is safe for
// concurrent use. A nil Cache keeps nothing.
type Cache struct {
	max int // bytes

	mu    sync.Mutex // guards what follows
	size  int
	items map[cacheKey]*list.Element
	order list.List // of *cacheItem, most recently used first
}

type cacheKey struct {
	pack *Pack
	off  int64
}

type cacheItem struct {
	key     cacheKey
	typ     object.Type
	content []byte // never written to
}

// NewCache returns a cache of at most max bytes of content.
func NewCache(max int) *Cache {
	return &Cache{max: max, items: make(map[cacheKey]*list.Element)}
}

// itemCost is about what an item takes besides its content.
const itemCost = 200

// fits reports whether content of n bytes may be kept: one object is not to
// push all others out.
func (c *Cache) fits(n int) bool { return c != nil && n <= c.max/8 }

func (c *Cache) get(p *Pack, off int64) (object.Type, []byte, bool) {
	if c == nil {
		return 0, nil, false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.items[cacheKey{p, off}]
	if e == nil {
		return 0, nil, false
	}
	c.order.MoveToFront(e)
	item := e.Value.(*cacheItem)
	return item.typ, item.content, true
}

// put keeps content, which the caller must not write to any more, if it fits.
func (c *Cache) put(p *Pack, off int64, typ object.Type, content []byte) {
	if !c.fits(len(content)) {
		return
	}
	key := cacheKey{p, off}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.items[key] != nil {
		return
	}
	c.items[key] = c.order.PushFront(&cacheItem{key, typ, content})
	c.size += cap(content) + itemCost
	for c.size > c.max {
		c.remove(c.order.Back())
	}
}

func (c *Cache) remove(e *list.Element) {
	item := e.Value.(*cacheItem)
	c.order.Remove(e)
	delete(c.items, item.key)
	c.size -= cap(item.content) + itemCost
}

// drop forgets everything of p.
func (c *Cache) drop(p *Pack) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for e := c.order.Front(); e != nil; {
		next := e.Next()
		if e.Value.(*cacheItem).key.pack == p {
			c.remove(e)
		}
		e = next
	}
}
