module github.com/backsweep/backsweep

go 1.26
