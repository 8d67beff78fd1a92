#include "costmodel/sparse_product.h"

#include <algorithm>
#include <cstddef>

#include "costmodel/check.h"
#include "costmodel/units.h"

namespace stagecraft {
namespace {

// The estimate of two ops that run one after the other. It rests on the weaker basis of both.
Estimate Joined(const Estimate& a, const Estimate& b) {
  const double seconds = std::max(a.time + b.time, 1_ns).seconds();
  Estimate joined;
  joined.time = a.time + b.time;
  joined.basis = std::max(a.basis, b.basis);
  joined.spread = (a.time.seconds() * a.spread + b.time.seconds() * b.spread) / seconds;
  joined.host = a.host + b.host;
  return joined;
}

// Where the estimates of an op's ways are among those of all ops that are priced; -1: nowhere.
struct Ways {
  int entries = -1;  // of the op itself, if it is not sparse
  int expanded = -1;
};

}  // namespace

ExpandedProduct Expanded(const Op& sparse) {
  CHECK(sparse.kind == OpKind::kSparse);
  const bool is_forward = sparse.direction == Direction::kForward;
  Op dense = sparse;
  dense.product = SparseProduct::kExpanded;
  // The product reads the dense matrix, which the move writes, or the reverse.
  const Bytes matrix = TensorBytes(sparse.dtype, sparse.batch * sparse.k * sparse.n);
  const Bytes operands = TensorBytes(sparse.dtype, sparse.batch * sparse.m * (sparse.k + sparse.n));
  return {Op::Elementwise(dense.Traffic() - operands - matrix),
          is_forward ? Op::GemmOfRows(sparse.dtype, sparse.m, sparse.n, sparse.k, sparse.batch,
                                      {sparse.k, sparse.n})
                     : Op::GemmOfRows(sparse.dtype, sparse.n, sparse.k, sparse.m, sparse.batch,
                                      {sparse.k, sparse.n})};
}

std::vector<Estimate> PriceWithSparse(std::span<const Op> ops, const PriceOps& price) {
  const bool has_choice = std::any_of(ops.begin(), ops.end(), [](const Op& op) {
    return op.kind == OpKind::kSparse && op.product != SparseProduct::kFromEntries;
  });
  if (!has_choice) return price(ops);
  std::vector<Op> priced;
  std::vector<Ways> ways;
  for (const Op& op : ops) {
    Ways& own = ways.emplace_back();
    const bool is_sparse = op.kind == OpKind::kSparse;
    if (!is_sparse || op.product != SparseProduct::kExpanded) {
      own.entries = static_cast<int>(priced.size());
      priced.push_back(op);
      if (is_sparse) priced.back().product = SparseProduct::kFromEntries;
    }
    if (!is_sparse || op.product == SparseProduct::kFromEntries) continue;
    own.expanded = static_cast<int>(priced.size());
    const ExpandedProduct expanded = Expanded(op);
    priced.push_back(expanded.move);
    priced.push_back(expanded.gemm);
  }
  const std::vector<Estimate> known = price(priced);
  std::vector<Estimate> estimates;
  for (const Ways& own : ways) {
    if (own.expanded < 0) {
      estimates.push_back(known[own.entries]);
      continue;
    }
    const Estimate expanded = Joined(known[own.expanded], known[own.expanded + 1]);
    const bool takes_entries = own.entries >= 0 && known[own.entries].time <= expanded.time;
    estimates.push_back(takes_entries ? known[own.entries] : expanded);
  }
  return estimates;
}

SparseProduct FasterProduct(const Op& sparse, std::span<const Device> devices,
                            const CostModel& model) {
  Op ways[] = {sparse, sparse};
  ways[0].product = SparseProduct::kFromEntries;
  ways[1].product = SparseProduct::kExpanded;
  Duration from_entries, expanded;
  for (const Device& device : devices) {
    const std::vector<Estimate> estimates = model.Predict(ways, device);
    from_entries += estimates[0].time;
    expanded += estimates[1].time;
  }
  return expanded < from_entries ? SparseProduct::kExpanded : SparseProduct::kFromEntries;
}

}  // namespace stagecraft
