package data_test

import (
	"fmt"

	"github.com/backsweep/backsweep"
	"github.com/backsweep/backsweep/data"
)

func ExampleTable_Batches() {
	images := backsweep.New([]float32{0, 1, 2, 3, 4, 5}, 3, 2)
	labels := backsweep.New([]int64{7, 8, 9})
	train := data.Table{images, labels}
	for batch := range train.Batches(2) {
		fmt.Println(batch[0], batch[1])
	}
	// Output:
	// float32[2,2] [[0 1] [2 3]] int64[2] [7 8]
	// float32[1,2] [[4 5]] int64[1] [9]
}
