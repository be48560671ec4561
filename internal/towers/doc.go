// Package towers is the task of the command's demo: given the sentence that says what a function of the standard library
// does, find the function.
//
// Two towers learn to do it: one reads queries, one reads documents, and a query's own document should be the nearest
// among those of its batch (Model, Train).
//
// A corpus of pairs is read from the toolchain's own sources (Sources, ReadCorpus). A pair's document is everything about
// the function but that sentence; its query is that sentence without the function's name. One pair in ten is held out
// (NewSplit), the vocabulary comes from the others (TrainingVocab), and every held-out query is ranked against all
// documents (Evaluate), by the towers (Model.Index), by BM25 and by whatever else can score a document. Step sweeps one
// step in several orders and by several workers and compares every bit. Save and Load keep the towers in a folder.
package towers
