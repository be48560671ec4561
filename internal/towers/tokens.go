package towers

import (
	"strings"
	"unicode"
)

const (
	prefixLetters = 4
	prefixMark    = "~" // keeps the beginning of a word apart from a word of that spelling
)

// Tokens cuts a text into lower-case words, in order: runs of letters or of digits, cut again where camel case begins a new
// word, and before the last capital of a run that goes on in lower case ("parseHTTPRequest2" is parse, http, request, 2).
// A word of four letters or more is followed by its four-letter beginning with a mark ("trimmed", "trim~"), which is
// what it shares with its inflections.
func Tokens(text string) []string {
	var tokens []string
	runes := []rune(text)
	for i := 0; i < len(runes); {
		end := wordEnd(runes, i)
		if end == i {
			i++
			continue
		}
		word := []rune(strings.ToLower(string(runes[i:end])))
		tokens = append(tokens, string(word))
		if len(word) >= prefixLetters && unicode.IsLetter(word[0]) {
			tokens = append(tokens, string(word[:prefixLetters])+prefixMark)
		}
		i = end
	}
	return tokens
}

// wordEnd is where the word that begins at i ends; i itself where no word begins.
func wordEnd(runes []rune, i int) int {
	for _, class := range []func(rune) bool{unicode.IsDigit, isSmall} {
		if end := runEnd(runes, i, class); end > i {
			return end
		}
	}
	end := runEnd(runes, i, isCapital)
	switch small := runEnd(runes, end, isSmall); {
	case small == end: // HTTP
		return end
	case end-i > 1: // HTTPRequest: its R belongs to the next word
		return end - 1
	default: // Request
		return small
	}
}

func runEnd(runes []rune, i int, class func(rune) bool) int {
	for i < len(runes) && class(runes[i]) {
		i++
	}
	return i
}

func isCapital(r rune) bool { return unicode.IsUpper(r) || unicode.IsTitle(r) }

func isSmall(r rune) bool { return unicode.IsLetter(r) && !isCapital(r) }
