package record

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
)

// Number is a float64 that JSON can carry: infinities and NaN are written as
// the strings "inf", "-inf" and "nan", and every other value as the shortest
// number that reads back to the same bits, -0 included. All NaNs are written
// alike.
type Number float64

// MarshalJSON writes the number.
func (n Number) MarshalJSON() ([]byte, error) {
	f := float64(n)
	switch {
	case math.IsNaN(f):
		return []byte(`"nan"`), nil
	case math.IsInf(f, 1):
		return []byte(`"inf"`), nil
	case math.IsInf(f, -1):
		return []byte(`"-inf"`), nil
	}
	return strconv.AppendFloat(nil, f, 'g', -1, 64), nil
}

// UnmarshalJSON reads what MarshalJSON writes. A number that overflows is an
// error, not an infinity.
func (n *Number) UnmarshalJSON(text []byte) error {
	switch {
	case bytes.Equal(text, []byte(`"nan"`)):
		*n = Number(math.NaN())
		return nil
	case bytes.Equal(text, []byte(`"inf"`)):
		*n = Number(math.Inf(1))
		return nil
	case bytes.Equal(text, []byte(`"-inf"`)):
		*n = Number(math.Inf(-1))
		return nil
	}
	f, err := strconv.ParseFloat(string(text), 64)
	if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
		return fmt.Errorf("%.40q is not a number; write a finite JSON number, \"nan\", \"inf\" or \"-inf\"", text)
	}
	*n = Number(f)
	return nil
}

// String is the number as MarshalJSON writes it, without quotes.
func (n Number) String() string {
	text, _ := n.MarshalJSON()
	return string(bytes.Trim(text, `"`))
}
