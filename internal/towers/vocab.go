package towers

import (
	"bufio"
	"fmt"
	"io"
	"slices"
)

// minSeen is how often a token has to occur in the training texts to be worth a row of an embedding table.
const minSeen = 2

// Vocab numbers the tokens that a model knows, from 0, in ascending order of their text.
type Vocab struct {
	words []string
	ids   map[string]int64
}

// NewVocab keeps the tokens that occur at least twice in the texts.
func NewVocab(texts []string) *Vocab {
	seen := make(map[string]int)
	var words []string
	for _, text := range texts {
		for _, token := range Tokens(text) {
			if seen[token]++; seen[token] == minSeen {
				words = append(words, token)
			}
		}
	}
	slices.Sort(words)
	return number(words)
}

// TrainingVocab is the vocabulary of the documents and queries of the pairs that are trained on.
func TrainingVocab(c *Corpus, s *Split) *Vocab {
	texts := make([]string, 0, 2*len(s.Train))
	for _, i := range s.Train {
		texts = append(texts, c.Pairs[i].Document(), c.Pairs[i].Query)
	}
	return NewVocab(texts)
}

func number(words []string) *Vocab {
	v := &Vocab{words: words, ids: make(map[string]int64, len(words))}
	for i, w := range words {
		v.ids[w] = int64(i)
	}
	return v
}

// Len is the number of tokens.
func (v *Vocab) Len() int { return len(v.words) }

// Words returns the tokens by id.
func (v *Vocab) Words() []string { return slices.Clone(v.words) }

// Lookup returns a token's id, and whether the vocabulary has it.
func (v *Vocab) Lookup(token string) (int64, bool) {
	id, ok := v.ids[token]
	return id, ok
}

// Write writes the tokens, one a line, by id.
func (v *Vocab) Write(w io.Writer) error {
	b := bufio.NewWriter(w)
	for _, word := range v.words {
		b.WriteString(word)
		b.WriteByte('\n')
	}
	if err := b.Flush(); err != nil {
		return fmt.Errorf("writing the vocabulary: %w", err)
	}
	return nil
}

// ReadVocab reads what Write wrote. Tokens that are empty, out of order or there twice are an error that names the line.
func ReadVocab(r io.Reader) (*Vocab, error) {
	var words []string
	previous := ""
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		word := lines.Text()
		if word <= previous {
			return nil, fmt.Errorf("reading the vocabulary: line %d: %q does not ascend from %q", len(words)+1, word, previous)
		}
		words = append(words, word)
		previous = word
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("reading the vocabulary: line %d: %w", len(words)+1, err)
	}
	return number(words), nil
}

// Bags is texts as an embedding bag takes them: text i's token ids are Indexes from Offsets[i] to the next offset, or to
// the end. A text without any known token is an empty bag.
type Bags struct {
	Indexes []int64
	Offsets []int64
}

// Bags looks the texts' tokens up, in order and as often as they occur; unknown ones are dropped.
func (v *Vocab) Bags(texts []string) Bags {
	b := Bags{Offsets: make([]int64, 0, len(texts))}
	for _, text := range texts {
		b.Offsets = append(b.Offsets, int64(len(b.Indexes)))
		for _, token := range Tokens(text) {
			if id, ok := v.ids[token]; ok {
				b.Indexes = append(b.Indexes, id)
			}
		}
	}
	return b
}

// Len is the number of texts.
func (b Bags) Len() int { return len(b.Offsets) }

// Of returns text i's token ids, which share the bags' memory.
func (b Bags) Of(i int) []int64 {
	end := int64(len(b.Indexes))
	if i+1 < len(b.Offsets) {
		end = b.Offsets[i+1]
	}
	return b.Indexes[b.Offsets[i]:end:end]
}

// Select copies the bags of the texts that which names, in its order.
func (b Bags) Select(which []int) Bags {
	s := Bags{Offsets: make([]int64, 0, len(which))}
	for _, i := range which {
		s.Offsets = append(s.Offsets, int64(len(s.Indexes)))
		s.Indexes = append(s.Indexes, b.Of(i)...)
	}
	return s
}
