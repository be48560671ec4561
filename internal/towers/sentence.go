package towers

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// minQueryWords is how many words a sentence needs besides the function's own name to be worth asking.
const minQueryWords = 3

// docLink matches the brackets of a doc comment's link, [Reader] or [*bytes.Buffer.Read], and no index expression or slice type.
var docLink = regexp.MustCompile(`(^|[^\w\])])\[(\*?[A-Za-z_][\w/]*(?:\.\w+)*)\]`)

// unlink takes the brackets off a doc comment's links.
func unlink(text string) string { return docLink.ReplaceAllString(text, "$1$2") }

// firstSentence cuts a doc comment's text behind its first sentence; both parts come back on one line each. A sentence
// ends at a full stop, question or exclamation mark before white space, except behind a single capital ("George W. Bush")
// and behind "e.g.", "i.e." and the like, or where its paragraph does.
func firstSentence(text string) (first, rest string) {
	text = strings.TrimSpace(text)
	end := len(text)
	if i := strings.Index(text, "\n\n"); i >= 0 {
		end = i
	}
	for i := 0; i < end; i++ {
		if c := text[i]; (c == '.' || c == '!' || c == '?') && i+1 < end && isSpace(text[i+1]) && !abbreviates(text[:i]) {
			end = i + 1
		}
	}
	return oneLine(text[:end]), oneLine(text[end:])
}

// abbreviates reports whether a full stop behind this text belongs to its last word rather than to the sentence.
func abbreviates(text string) bool {
	word := text[strings.LastIndexFunc(text, unicode.IsSpace)+1:]
	word = strings.TrimLeft(word, "([\"'`")
	switch strings.ToLower(word) {
	case "e.g", "i.e", "vs", "cf", "resp":
		return true
	}
	r, n := utf8.DecodeRuneInString(word)
	return n == len(word) && unicode.IsUpper(r)
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' }

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// withoutName drops every word that is the function's own name, bare, possessive, with arguments, or as the last part of
// a selector (Builder.Grow), so that a query never says what it asks for.
func withoutName(sentence, name string) string {
	words := strings.Fields(sentence)
	kept := words[:0]
	for _, w := range words {
		bare := strings.TrimFunc(w, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' })
		bare, _, _ = strings.Cut(bare, "(")
		bare = strings.TrimSuffix(bare, "'s")
		bare = bare[strings.LastIndexByte(bare, '.')+1:]
		if bare != name {
			kept = append(kept, w)
		}
	}
	return strings.Join(kept, " ")
}
