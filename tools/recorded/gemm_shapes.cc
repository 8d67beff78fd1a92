#include "tools/recorded/gemm_shapes.h"

#include <algorithm>

#include "tools/recorded/kernel_names.h"

namespace stagecraft {
namespace {

using Dims = std::vector<int64_t>;

struct Product {
  std::string_view name;
  size_t left = 0;  // which input is the left matrix; the right one follows
};
// aten/src/ATen/native: addmm(self, mat1, mat2), baddbmm(self, batch1, batch2).
constexpr Product kProducts[] = {
    {"aten::mm", 0},
    {"aten::bmm", 0},
    {"aten::addmm", 1},
    {"aten::baddbmm", 1},
    {"aten::matmul", 0},
    {"aten::_scaled_mm", 0},
    {"aten::_addmm_activation", 1},
};

constexpr int64_t kMostOfASize = int64_t{1} << 40;

bool IsMatrix(const Dims& dims) {
  return (dims.size() == 2 || dims.size() == 3) &&
         std::all_of(dims.begin(), dims.end(), [](int64_t n) { return n > 0 && n < kMostOfASize; });
}

// Returns nullptr for operators that multiply no matrices.
const Product* FindProduct(std::string_view name) {
  const auto found = std::find_if(std::begin(kProducts), std::end(kProducts),
                                  [&](const Product& product) { return product.name == name; });
  return found == std::end(kProducts) ? nullptr : found;
}

}  // namespace

std::optional<Op> GemmOfOperator(std::string_view name, std::span<const Dims> dims,
                                 std::span<const std::string> types) {
  const Product* const found = FindProduct(name);
  if (found == nullptr || types.size() <= found->left) return {};
  const std::optional<DType> dtype = TypeOf(types[found->left]).dtype;
  if (!dtype) return {};
  return GemmOfSizes(name, dims, *dtype);
}

std::optional<Op> GemmOfSizes(std::string_view name, std::span<const Dims> dims, DType dtype) {
  const Product* const found = FindProduct(name);
  if (found == nullptr || dims.size() < found->left + 2) return {};
  const Dims& left = dims[found->left];
  const Dims& right = dims[found->left + 1];
  if (!IsMatrix(left) || !IsMatrix(right) || left.size() < right.size()) return {};
  const int64_t k = left.back(), n = right.back();
  if (right[right.size() - 2] != k) return {};
  int64_t m = left[left.size() - 2], batch = 1;
  if (right.size() == 3) {
    if (left[0] != right[0]) return {};
    batch = left[0];
  } else if (left.size() == 3) {
    if (left[0] > kMostOfASize / m) return {};
    m *= left[0];  // a matrix of all rows
  }
  const Op op = Op::GemmOfRows(dtype, m, n, k, batch, {k, n});
  if (Operands(op) > kMostOperands) return {};
  return op;
}

}  // namespace stagecraft
