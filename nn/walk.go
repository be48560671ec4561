package nn

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"unsafe"

	"github.com/backsweep/backsweep"
)

var tensorType = reflect.TypeFor[*backsweep.Tensor]()

// walker goes through a model and finds its tensors. It copies what leads to a
// tensor that was replaced, and nothing else. It recurses over the fields of a
// model, never over a graph.
type walker struct {
	tensor  func(path string, x *backsweep.Tensor) *backsweep.Tensor
	visited map[visit]reflect.Value // what a pointer, slice or map has become; itself while it is walked
}

type visit struct {
	at  unsafe.Pointer
	typ reflect.Type
	n   int
}

// walk returns v, or its copy.
func (w *walker) walk(path string, v reflect.Value) (reflect.Value, bool) {
	if !v.IsValid() {
		return v, false
	}
	if v.Type() == tensorType {
		if v.IsNil() {
			return v, false
		}
		x := v.Interface().(*backsweep.Tensor)
		y := w.tensor(path, x)
		return reflect.ValueOf(y), x != y
	}
	switch v.Kind() {
	case reflect.Interface:
		if v.IsNil() {
			return v, false
		}
		c, changed := w.walk(path, v.Elem())
		if !changed {
			return v, false
		}
		return c.Convert(v.Type()), true
	case reflect.Pointer:
		return w.once(v, 0, func(into reflect.Value) bool {
			c, changed := w.walk(path, v.Elem())
			if changed {
				into.Elem().Set(c)
			}
			return changed
		}, func() reflect.Value { p := reflect.New(v.Type().Elem()); p.Elem().Set(v.Elem()); return p })
	case reflect.Slice:
		return w.once(v, v.Len(), func(into reflect.Value) bool { return w.elements(path, v, into) },
			func() reflect.Value { return reflect.AppendSlice(reflect.MakeSlice(v.Type(), 0, v.Len()), v) })
	case reflect.Map:
		return w.once(v, v.Len(), func(into reflect.Value) bool { return w.entries(path, v, into) }, func() reflect.Value {
			m := reflect.MakeMap(v.Type())
			for _, k := range v.MapKeys() {
				m.SetMapIndex(k, v.MapIndex(k))
			}
			return m
		})
	case reflect.Array:
		c := addressable(v)
		return c, w.elements(path, v, c)
	case reflect.Struct:
		return w.fields(path, v)
	}
	return v, false
}

// once walks what a pointer, slice or map refers to, at its first encounter. A
// cycle ends where it closes, at the copy.
func (w *walker) once(v reflect.Value, n int, each func(into reflect.Value) bool, make func() reflect.Value) (reflect.Value, bool) {
	if v.IsNil() || !reaches(v.Type()) {
		return v, false
	}
	key := visit{v.UnsafePointer(), v.Type(), n}
	if c, ok := w.visited[key]; ok {
		return c, c.UnsafePointer() != v.UnsafePointer()
	}
	if w.visited == nil {
		w.visited = map[visit]reflect.Value{}
	}
	c := make()
	w.visited[key] = c
	if !each(c) {
		w.visited[key] = v
		return v, false
	}
	return c, true
}

// reaches reports whether a value of a type may lead to a tensor. What cannot,
// such as numbers or a generator's state, is not even read; nor are the library's
// own types, such as a Tape.
func reaches(t reflect.Type) bool { return leads(t, map[reflect.Type]bool{}) }

func leads(t reflect.Type, seen map[reflect.Type]bool) bool {
	if t == tensorType {
		return true
	}
	if seen[t] || t.PkgPath() == tensorType.Elem().PkgPath() {
		return false
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Interface:
		return true
	case reflect.Pointer, reflect.Slice, reflect.Map, reflect.Array:
		return leads(t.Elem(), seen)
	case reflect.Struct:
		for i := range t.NumField() {
			if leads(t.Field(i).Type, seen) {
				return true
			}
		}
	}
	return false
}

func (w *walker) elements(path string, v, into reflect.Value) (changed bool) {
	for i := range v.Len() {
		if c, ok := w.walk(join(path, fmt.Sprint(i)), v.Index(i)); ok {
			into.Index(i).Set(c)
			changed = true
		}
	}
	return changed
}

func (w *walker) entries(path string, v, into reflect.Value) (changed bool) {
	keys := make(map[string]reflect.Value, v.Len())
	for _, k := range v.MapKeys() {
		keys[fmt.Sprint(k)] = k
	}
	for _, name := range slices.Sorted(maps.Keys(keys)) {
		if c, ok := w.walk(join(path, name), v.MapIndex(keys[name])); ok {
			into.SetMapIndex(keys[name], c)
			changed = true
		}
	}
	return changed
}

func (w *walker) fields(path string, v reflect.Value) (reflect.Value, bool) {
	c := addressable(v)
	changed := false
	for i := range c.NumField() {
		f := c.Field(i)
		if !reaches(f.Type()) {
			continue
		}
		// Through its address, since an unexported field can be a layer too.
		f = reflect.NewAt(f.Type(), f.Addr().UnsafePointer()).Elem()
		if y, ok := w.walk(join(path, c.Type().Field(i).Name), f); ok {
			f.Set(y)
			changed = true
		}
	}
	return c, changed
}

// addressable copies a value to where its parts can be set.
func addressable(v reflect.Value) reflect.Value {
	c := reflect.New(v.Type()).Elem()
	c.Set(v)
	return c
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}
