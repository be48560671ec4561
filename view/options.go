package view

import "github.com/backsweep/backsweep/record"

// Option changes what is shown, or how it is served.
type Option func(*options)

type options struct {
	against *record.Record
	hosts   []string
	ready   func(url string)
}

func gather(opts []Option) *options {
	o := &options{}
	for _, f := range opts {
		f(o)
	}
	return o
}

// Against has the page say how the record differs from an older one.
func Against(older *record.Record) Option { return func(o *options) { o.against = older } }

// Hosts names hosts under which the page may be asked for, besides localhost and
// addresses that are numbers. Without a port, any port will do. A page that is
// part of a larger server needs it.
func Hosts(names ...string) Option { return func(o *options) { o.hosts = append(o.hosts, names...) } }

// Ready is called once by [Serve] when the page can be opened, with its address.
func Ready(f func(url string)) Option { return func(o *options) { o.ready = f } }
