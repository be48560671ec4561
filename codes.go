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

	opReciprocal
	opRsqrt
	opSin
	opCos
	opTan
	opAsin
	opAcos
	opAtan
	opSinh
	opCosh
	opAsinh
	opAcosh
	opAtanh
	opExpm1
	opLog1p
	opExp2
	opLog2
	opLog10
	opErf
	opErfc
	opLgamma
	opDigamma
	opPolygamma
	opSoftplus
	opLogSigmoid
	opSilu
	opGeluTanh
	opLeakyRelu
	opClamp
	opSign
	opFloor
	opCeil
	opRound
	opTrunc
	opNot
	opIsNaN

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
	opAtan2
	opLogAddExp
	opXLogY
	opMod
	opAnd
	opOr

	// products
	opMatMul
	opDot
	opLinear
	opEinsum
	opOuter
	opTensordot

	// matrices
	opSolve
	opSolveTriangular
	opCholesky
	opInverse
	opDet
	opSlogDet

	// windows
	opConv
	opConvTranspose
	opMaxPool
	opAvgPool

	// normalization
	opLayerNorm
	opRMSNorm
	opBatchNorm
	opDropout

	// recurrent cells
	opLSTMGates
	opGRUGates

	// reductions
	opSum
	opMean
	opMax
	opMin
	opLogSumExp
	opProd
	opVar
	opStd
	opNorm
	opNormalize
	opCosineSimilarity
	opSoftmax
	opLogSoftmax
	opCumSum
	opCumProd
	opLogCumSumExp

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
	opFlip
	opRoll
	opTile
	opTril
	opTriu
	opDiagonal
	opTrace
	opPad

	// rows and indices
	opTake
	opGather
	opScatterAdd
	opScatter
	opMaskedFill
	opMaskedSelect
	opSort
	opTopk
	opArgmax
	opArgmin
	opOneHot
	opEmbedding
	opEmbeddingBag

	// losses
	opCrossEntropy
	opWeightedCrossEntropy
	opMse
	opHuber
	opBceWithLogits
	opKlDiv

	// the user's
	opCustom

	// what gradient rules are written in
	opNegMul
	opAbsGrad
	opAsinhGrad
	opAtan2Grad
	opLogAddExpGrad
	opSoftplusGrad
	opSiluGrad
	opGeluTanhGrad
	opLeakyReluGrad
	opClampGrad
	opRecurrence
	opProdGrad
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
	opWeightedCrossEntropyGrad
	opClassMass
	opUnslice
	opEinsumSpread
	opUndiagonal
	opRowsSum
	opBagRows
	opRowsAdd
	opRowsDense
	opRowsFind
	opUntake
	opMaskedPut
	opLastWrite
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
	opCofactors

	numOps
)
