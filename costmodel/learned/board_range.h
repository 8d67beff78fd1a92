// What the numbers of a board in a cost model can be.
#pragma once

#include <string>

#include "costmodel/learned/kernel_family.h"
#include "costmodel/learned/known_boards.h"

namespace stagecraft {

// Throws InputError that opens with `place` where a constant is more than a thousand times, or
// less than a thousandth of, what its family starts a fit from, where the offset is of more than
// that factor, or where a share is not from 0 to 1: "model.pb: families[0].boards[2].constants[4]:
// got 1e+21, want from 0.01 to 10000 (edge of tensor_gemm)". The board has as many constants as
// the family.
void CheckBoard(const KnownBoard& board, const KernelFamily& family, const std::string& place);

}  // namespace stagecraft
