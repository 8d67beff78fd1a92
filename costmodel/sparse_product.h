// Products of sparse matrices: the two ways in which they run, and which of them is faster.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "costmodel/cost_model.h"
#include "costmodel/device.h"
#include "costmodel/op.h"

namespace stagecraft {

// A sparse product as dense ops, one after another. Forward, a kernel writes the entries into a
// dense matrix, with which a GEMM multiplies; backward, it picks the entries of the gradient that a
// GEMM has computed as a whole.
struct ExpandedProduct {
  Op move;
  Op gemm;
};
ExpandedProduct Expanded(const Op& sparse);

// A function that prices ops, in order.
using PriceOps = std::function<std::vector<Estimate>(std::span<const Op>)>;

// Returns what `price` says of ops, which it never sees sparse products in but such as run from
// their entries: an expanded one takes as long as its two ops, and for SparseProduct::kFaster the
// smaller of both times counts, that from the entries if they are equal. Calls `price` once.
std::vector<Estimate> PriceWithSparse(std::span<const Op> ops, const PriceOps& price);

// Returns how the sparse product takes the least time on all of these devices together.
SparseProduct FasterProduct(const Op& sparse, std::span<const Device> devices,
                            const CostModel& model);

}  // namespace stagecraft
