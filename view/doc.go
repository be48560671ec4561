// Package view shows a record to a person: the graph, the sweep as a film, why
// one node must wait for another, what keeps memory, and how two records
// differ. It is a page, served from the binary or written into one file:
//
//	rec, err := tape.Record()
//	…
//	err = view.Serve(ctx, "127.0.0.1:0", rec, view.Ready(func(url string) { fmt.Println(url) }))
//	err = view.HTML(file, rec)
//
// Layouts, orders and plans are worked out in Go, by packages draw, order and
// record. The page follows them: it holds the check of an order's legality, the
// counts of missing contributions, what is held at each visit, and the search
// for a path that answers "why", each of which is tested against vectors that
// Go wrote.
//
// What a record says is data and never markup or code: the page's policy
// forbids every script but its own, and all that is shown goes in as text. The
// server binds to the loopback interface unless told otherwise, and answers
// nobody who comes by another name or from another page.
//
// The page's sources are in web; assets has what go generate makes of them, so
// that a plain go build needs nothing else.
package view

//go:generate go -C ../tools run ./bundle
