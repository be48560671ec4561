package view

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"html"
	"io"
	"strings"

	"github.com/backsweep/backsweep/record"
)

//go:embed assets/app.js
var script []byte

//go:embed assets/app.css
var styles []byte

// HTML writes the page with the record inside: one file that needs no server and
// asks for nothing. It holds the pictures of the likely states of folding. The
// errors are a *[TooLargeError] and those of w.
func HTML(w io.Writer, rec *record.Record, opts ...Option) error {
	o := gather(opts)
	f, c, err := prepare(rec, o)
	if err != nil {
		return err
	}
	if c.Pictures, err = f.pictures(); err != nil {
		return err
	}
	data, err := json.Marshal(c) // it escapes <, > and &, so nothing in it can end the element
	if err != nil {
		return err
	}
	policy := "default-src 'none'; base-uri 'none'; form-action 'none'; img-src blob: data:; script-src '" + digest(script) + "'; style-src '" + digest(styles) + "'"
	var b bytes.Buffer
	head(&b, rec, `<meta http-equiv="Content-Security-Policy" content="`+policy+`">`)
	b.WriteString("<style>")
	b.Write(styles)
	b.WriteString("</style>\n</head>\n<body>\n<div id=\"app\"></div>\n<script type=\"application/json\" id=\"content\">")
	b.Write(data)
	b.WriteString("</script>\n<script type=\"module\">")
	b.Write(script)
	b.WriteString("</script>\n</body>\n</html>\n")
	_, err = b.WriteTo(w)
	return err
}

// prepare works out what both forms of the page have.
func prepare(rec *record.Record, o *options) (*folder, *content, error) {
	if len(rec.Nodes) > MaxNodes || len(rec.Tensors) > 4*MaxNodes {
		return nil, nil, &TooLargeError{len(rec.Nodes), len(rec.Tensors)}
	}
	f := newFolder(rec)
	c, err := describe(f, o.against)
	return f, c, err
}

func digest(text []byte) string {
	sum := sha256.Sum256(text)
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// head writes the page up to its style.
func head(b *bytes.Buffer, rec *record.Record, more string) {
	title := "Backsweep"
	if rec.Title != "" {
		title = strings.ToValidUTF8(rec.Title, "\uFFFD") + " · Backsweep"
	}
	b.WriteString("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n")
	b.WriteString(more)
	b.WriteString("\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<link rel=\"icon\" href=\"data:,\">\n<title>")
	b.WriteString(html.EscapeString(strings.Map(printable, title)))
	b.WriteString("</title>\n")
}

// printable leaves out what HTML cannot hold.
func printable(r rune) rune {
	if r < ' ' || r == 0x7f {
		return '\uFFFD'
	}
	return r
}
