#include "runtime/cuda/stand_in/matrix.h"

namespace stagecraft::stand_in {

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
