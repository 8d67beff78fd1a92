// Matrix: numbers in memory as cuBLASLt lays them out.
#pragma once

#include <library_types.h>

#include <cstdint>
#include <utility>

#include "runtime/cuda/stand_in/numbers.h"

namespace stagecraft::stand_in {

struct Layout {
  cudaDataType type;
  int64_t rows, columns, stride, batch = 1, batch_stride = 0;
};
// One operand or result, as mathematics has it.
struct Matrix {
  Layout layout;
  Numbers numbers;
  bool is_transposed = false;

  Matrix(const void* memory, const Layout& own, bool transposed)
      : layout(own),
        numbers{const_cast<void*>(memory), own.rows * own.columns * own.batch, own.type},
        is_transposed(transposed) {}
  int64_t rows() const { return is_transposed ? layout.columns : layout.rows; }
  int64_t columns() const { return is_transposed ? layout.rows : layout.columns; }
  int64_t Index(int64_t batch, int64_t row, int64_t column) const {
    if (is_transposed) std::swap(row, column);
    return batch * layout.batch_stride + column * layout.stride + row;
  }
};

void Multiply(const Matrix& a, const Matrix& b, const Matrix& result, float scale);

}  // namespace stagecraft::stand_in
