#include "runtime/cuda/stand_in/matrix.h"

#include <algorithm>
#include <numeric>

#include "runtime/cuda/stand_in/kernels.h"

namespace stagecraft::stand_in {

double LoadSlowness(const Layout& layout) {
  if (layout.type == CUDA_R_32F) return 1;  // vector units load one number at a time
  constexpr size_t kAlignedBytes = 16;
  const size_t element = SizeOf(layout.type);
  const size_t loaded = std::gcd(static_cast<size_t>(layout.stride) * element, kAlignedBytes);
  if (loaded == kAlignedBytes) return 1;
  const double elements = static_cast<double>(loaded) / static_cast<double>(element);
  return std::max(1.0, kFlopsPerNanosecond / (kUnalignedFlopsPerNanosecond * elements));
}

void Multiply(const Matrix& a, const Matrix& b, const Matrix& result, float scale) {
  for (int64_t batch = 0; batch < result.layout.batch; ++batch) {
    for (int64_t row = 0; row < result.rows(); ++row) {
      for (int64_t column = 0; column < result.columns(); ++column) {
        float sum = 0;
        for (int64_t k = 0; k < a.columns(); ++k) {
          sum += a.numbers.At(a.Index(batch, row, k)) * b.numbers.At(b.Index(batch, k, column));
        }
        result.numbers.Set(result.Index(batch, row, column), sum * scale);
      }
    }
  }
}

}  // namespace stagecraft::stand_in
