package record

import (
	"fmt"
	"strconv"
	"strings"
)

// NodeName is the printed name of a node: its id and its op, as in "n9 matmul".
// An id that does not exist gives "n9" alone.
func (r *Record) NodeName(id int) string {
	if id < 0 || id >= len(r.Nodes) {
		return "n" + strconv.Itoa(id)
	}
	return "n" + strconv.Itoa(id) + " " + r.Nodes[id].Op
}

// TensorName is the printed name of a tensor: the name that it was given or,
// without one, its id, as in "t12".
func (r *Record) TensorName(id int) string {
	if id < 0 || id >= len(r.Tensors) || r.Tensors[id].Name == "" {
		return "t" + strconv.Itoa(id)
	}
	return r.Tensors[id].Name
}

// ScopePath is the path of a scope: the names from the root, joined by "/".
// The root's path is "".
func (r *Record) ScopePath(id int) string {
	var names []string
	// The count bounds the walk, so that a record that was never validated
	// cannot trap it in a loop.
	for steps := 0; id > 0 && id < len(r.Scopes) && steps <= len(r.Scopes); steps++ {
		names = append(names, r.Scopes[id].Name)
		id = r.Scopes[id].Parent
	}
	for i, j := 0, len(names)-1; i < j; i, j = i+1, j-1 {
		names[i], names[j] = names[j], names[i]
	}
	return strings.Join(names, "/")
}

// Loss is the tensor that the sweep starts from, Sweep.Roots[0]. Without a
// sweep it is the last output of the last node, which is what a program
// computes last; without nodes it is -1.
func (r *Record) Loss() int {
	if r.Sweep != nil && len(r.Sweep.Roots) > 0 {
		return r.Sweep.Roots[0]
	}
	for i := len(r.Nodes) - 1; i >= 0; i-- {
		if n := len(r.Nodes[i].Outputs); n > 0 {
			return r.Nodes[i].Outputs[n-1]
		}
	}
	return -1
}

// PayloadBytes is what a node keeps: the bytes of the distinct storages of its
// saves that no leaf owns. What a leaf owns would stay without the node too.
func (r *Record) PayloadBytes(node int) int64 {
	var sum int64
	saves := r.Nodes[node].Saves
	for i, s := range saves {
		st := r.Tensors[s.Tensor].Storage
		seen := r.Storages[st].Leaf
		for _, earlier := range saves[:i] {
			seen = seen || r.Tensors[earlier.Tensor].Storage == st
		}
		if !seen {
			sum += r.Storages[st].Bytes
		}
	}
	return sum
}

// ShapeText prints a shape as pictures show it: "128×64", and "scalar" for no
// axes.
func ShapeText(shape []int) string {
	if len(shape) == 0 {
		return "scalar"
	}
	var b strings.Builder
	for i, d := range shape {
		if i > 0 {
			b.WriteString("×")
		}
		b.WriteString(strconv.Itoa(d))
	}
	return b.String()
}

// BytesText prints a number of bytes in the largest binary unit that leaves at
// least one: "96 B", "1.5 KiB", "20 MiB".
func BytesText(n int64) string {
	if n < 1024 {
		return fmt.Sprintf("%d B", n)
	}
	units := []string{"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"}
	f := float64(n) / 1024
	u := 0
	// 1023.95 would be printed as 1024.0.
	for f >= 1023.95 && u < len(units)-1 {
		f /= 1024
		u++
	}
	if f >= 100 {
		return fmt.Sprintf("%.0f %s", f, units[u])
	}
	return strings.Replace(fmt.Sprintf("%.1f %s", f, units[u]), ".0 ", " ", 1)
}
