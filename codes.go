package backsweep

// The rows of the op table. A row is defined next to its method; the list here
// only numbers them.
const (
	// elementwise, one operand
	opNeg opcode = iota
	opAbs
	opExp
	opLog
	opSqrt
	opSquare
	opTanh
	opSigmoid
	opRelu
	opGelu
	opAddScalar
	opMulScalar
	opPowScalar
	opCast
	opDetach

	// elementwise, two or three operands
	opAdd
	opSub
	opMul
	opDiv
	opPow
	opMaximum
	opMinimum
	opWhere
	opGt
	opGe
	opLt
	opLe
	opEq
	opNe

	// products
	opMatMul
	opDot
	opLinear

	opConv
	opConvTranspose
	opMaxPool
	opAvgPool

	// normalization
	opLayerNorm
	opRMSNorm
	opBatchNorm

	// recurrent cells
	opLSTMGates
	opGRUGates

	// reductions
	opSum
	opMean
	opMax
	opMin
	opLogSumExp
	opSoftmax
	opLogSoftmax

	// shape
	opReshape
	opTranspose
	opBroadcastTo
	opSlice
	opSplit
	opConcat
	opStack
	opSqueeze
	opUnsqueeze

	// rows and indices
	opTake
	opGather
	opScatterAdd
	opEmbedding
	opEmbeddingBag

	// losses
	opCrossEntropy

	// what gradient rules are written in
	opNegMul
	opAbsGrad
	opTanhGrad
	opSigmoidGrad
	opReluGrad
	opGeluGrad
	opPowGradBase
	opPowGradExp
	opShare
	opSumTo
	opExtremeGrad
	opSoftmaxGrad
	opLogSoftmaxGrad
	opCrossEntropyGrad
	opUnslice
	opRowsSum
	opBagRows
	opRowsAdd
	opRowsDense
	opRowsFind
	opUntake
	opConvWeightGrad
	opPoolTake
	opPoolPut
	opSumPool
	opSpreadPool
	opLayerNormGrad
	opRMSNormGrad
	opBatchNormGrad
	opLSTMGatesGrad
	opGRUGatesGrad

	numOps
)
