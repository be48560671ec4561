package record

import "fmt"

// PlaceError says what is wrong with a record, and where:
// "nodes[3].inputs[1]: tensor 9 does not exist yet".
type PlaceError struct {
	Place string // as a path into the JSON text, or "" for the record as a whole
	What  string
}

func (e *PlaceError) Error() string {
	if e.Place == "" {
		return "record: " + e.What
	}
	return "record: " + e.Place + ": " + e.What
}

// VersionError says that a record is of a version that this package does not
// read.
type VersionError struct{ Version int }

func (e *VersionError) Error() string {
	if e.Version > Version {
		return fmt.Sprintf("record: version: the record is of version %d, and this program reads up to %d; read it with a newer backsweep, or write it again with this one", e.Version, Version)
	}
	return fmt.Sprintf("record: version: there is no version %d, and this program reads version %d; write the record again with this program", e.Version, Version)
}

// LimitError says that a record is larger than the reader was told to take.
type LimitError struct {
	Limit int64
	Part  string // "the record", or the place of one part that is too large by itself
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("record: %s is larger than %s, unpacked; raise the limit with record.Limit if you trust where it comes from", e.Part, BytesText(e.Limit))
}
