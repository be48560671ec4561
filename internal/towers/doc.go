// Package towers is the task of the command's demo: given the sentence that says what a function of the standard library
// does, find the function.
//
// A corpus of pairs is read from the toolchain's own sources (Sources, ReadCorpus). A pair's document is everything about
// the function but that sentence; its query is that sentence without the function's name. One pair in ten is held out
// (NewSplit), the vocabulary comes from the others (TrainingVocab), and every held-out query is ranked against all
// documents (Evaluate), by BM25 and by whatever else can score a document.
package towers
