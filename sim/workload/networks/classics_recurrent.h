// Recurrent layers of a NetworkBuilder, in one direction: one GEMM for the inputs of all rows of a
// sample, then, row by row, the GEMM with the output of the row before and the cell. Both GEMMs
// have biases, as in cuDNN.
#pragma once

#include <cstdint>

#include "sim/workload/networks/classics_builder.h"

namespace stagecraft {

// Hochreiter, Schmidhuber 1997: four gates and a cell.
Tensor Lstm(NetworkBuilder& net, Tensor in, int64_t hidden);

// Cho et al. 2014, with the reset gate behind the recurrent GEMM, as in cuDNN and in Deep Speech 2,
// so that this is one GEMM for the two gates and the candidate.
Tensor Gru(NetworkBuilder& net, Tensor in, int64_t hidden);

}  // namespace stagecraft
