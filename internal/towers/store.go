package towers

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/nlpodyssey/safetensors"

	"github.com/backsweep/backsweep"
)

// The files that Save writes into a folder.
const (
	ModelFile      = "towers.safetensors"
	VocabularyFile = "vocabulary.txt"
)

// Trained is towers, the vocabulary that they know, and how they came to be.
type Trained struct {
	Model *Model
	Vocab *Vocab
	Steps int
	Seed  uint64
}

// tensorFormat is what the file says that it is, in its own metadata.
const tensorFormat = "backsweep-towers-1"

// Save writes the towers and, beside them, the vocabulary into a folder, which it makes where it is not there. Each
// file appears whole or not at all, the towers last; they name the vocabulary by its hash.
func (t *Trained) Save(dir string) error {
	var words bytes.Buffer
	if err := t.Vocab.Write(&words); err != nil {
		return err
	}
	views := make(map[string]safetensors.TensorView)
	for _, p := range t.Model.Params() {
		var data []byte
		for _, v := range backsweep.Data[float32](p) {
			data = binary.LittleEndian.AppendUint32(data, math.Float32bits(v))
		}
		view, err := safetensors.NewTensorView(safetensors.F32, extents(p), data)
		if err != nil {
			return fmt.Errorf("writing parameter %s: %w", p.Name(), err)
		}
		views[p.Name()] = view
	}
	tensors, err := safetensors.Serialize(views, map[string]string{
		"format":     tensorFormat,
		"share":      strconv.FormatBool(t.Model.Shared),
		"steps":      strconv.Itoa(t.Steps),
		"seed":       strconv.FormatUint(t.Seed, 10),
		"vocabulary": hash(words.Bytes()),
	})
	if err != nil {
		return fmt.Errorf("writing the towers: %w", err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := WriteFile(filepath.Join(dir, VocabularyFile), words.Bytes()); err != nil {
		return err
	}
	return WriteFile(filepath.Join(dir, ModelFile), tensors)
}

func extents(p *backsweep.Tensor) []uint64 {
	var out []uint64
	for _, d := range p.Shape() {
		out = append(out, uint64(d))
	}
	return out
}

func hash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// WriteFile writes a file that appears whole or not at all.
func WriteFile(name string, data []byte) (err error) {
	f, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+"-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
		}
	}()
	if _, err := f.Write(data); err != nil {
		return err
	}
	if err := f.Chmod(0o644); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}

// maxModelBytes bounds what Load reads: far above a vocabulary of a million words.
const maxModelBytes = 1 << 30

// Load reads what Save wrote, bit for bit. Where the folder has no towers the error is an fs.ErrNotExist; where it has
// something else, it says what is wrong.
func Load(dir string) (*Trained, error) {
	file := filepath.Join(dir, ModelFile)
	info, err := os.Stat(file)
	if err != nil {
		return nil, err
	}
	if info.Size() > maxModelBytes {
		return nil, fmt.Errorf("%s has %d bytes, which is more than any towers", file, info.Size())
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	t, vocabulary, err := parse(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	words, err := os.ReadFile(filepath.Join(dir, VocabularyFile))
	switch {
	case errors.Is(err, fs.ErrNotExist): // not to be taken for a folder without towers
		return nil, fmt.Errorf("%s: the vocabulary, %s, is not beside it", file, VocabularyFile)
	case err != nil:
		return nil, err
	case hash(words) != vocabulary:
		return nil, fmt.Errorf("%s is not the vocabulary of the towers beside it", filepath.Join(dir, VocabularyFile))
	}
	if t.Vocab, err = ReadVocab(bytes.NewReader(words)); err != nil {
		return nil, err
	}
	if rows := t.Model.Query.Words.Table.Dim(0); rows != t.Vocab.Len() {
		return nil, fmt.Errorf("%s: a table of %d rows for %d words", file, rows, t.Vocab.Len())
	}
	return t, nil
}

// parse reads the towers, and the hash of the vocabulary that they were trained with.
func parse(data []byte) (*Trained, string, error) {
	_, header, err := safetensors.ReadMetadata(data)
	if err != nil {
		return nil, "", err
	}
	meta := header.Metadata()
	if meta["format"] != tensorFormat {
		return nil, "", fmt.Errorf("its format is %q, not %q; these are no towers", meta["format"], tensorFormat)
	}
	t := &Trained{}
	share, err1 := strconv.ParseBool(meta["share"])
	seed, err2 := strconv.ParseUint(meta["seed"], 10, 64)
	steps, err3 := strconv.Atoi(meta["steps"])
	if err := errors.Join(err1, err2, err3); err != nil {
		return nil, "", err
	}
	t.Seed, t.Steps = seed, steps
	file, err := safetensors.Deserialize(data)
	if err != nil {
		return nil, "", err
	}
	table := "q.table"
	if share {
		table = "table"
	}
	view, ok := file.Tensor(table)
	if !ok || len(view.Shape()) != 2 {
		return nil, "", fmt.Errorf("there is no parameter %s of two axes", table)
	}
	t.Model = NewModel(int(view.Shape()[0]), share, seed)
	for _, p := range t.Model.Params() {
		if err := fill(p, file); err != nil {
			return nil, "", err
		}
	}
	return t, meta["vocabulary"], nil
}

// fill sets a parameter to the tensor of its name.
func fill(p *backsweep.Tensor, file safetensors.SafeTensors) error {
	view, ok := file.Tensor(p.Name())
	switch {
	case !ok:
		return fmt.Errorf("there is no parameter %s", p.Name())
	case view.DType() != safetensors.F32 || !slices.Equal(view.Shape(), extents(p)):
		return fmt.Errorf("parameter %s is %s%v, not F32%v", p.Name(), view.DType(), view.Shape(), p.Shape())
	}
	values := make([]float32, p.Len())
	for i := range values {
		values[i] = math.Float32frombits(binary.LittleEndian.Uint32(view.Data()[4*i:]))
	}
	backsweep.SetData(p, values)
	return nil
}
