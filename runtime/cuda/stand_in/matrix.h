// Matrix: numbers in memory, in the layouts of cuBLASLt.
#pragma once

#include <library_types.h>

#include <cstdint>
#include <utility>

#include "runtime/cuda/stand_in/numbers.h"

namespace stagecraft::stand_in {

// A matrix, or a batch of equal ones, whose columns lie one after another. All sizes and distances
// are in elements.
struct Layout {
  cudaDataType type;
  int64_t rows, columns;
  int64_t stride;            // from one column to the next
  int64_t batch = 1;         // number of matrices
  int64_t batch_stride = 0;  // from one matrix to the next
};

// An operand or a result, with the rows and columns that it has in its GEMM: those of the layout,
// or the other way round if the GEMM takes it transposed.
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
  // Returns the index of an element in `numbers`.
  int64_t Index(int64_t batch, int64_t row, int64_t column) const {
    if (is_transposed) std::swap(row, column);
    return batch * layout.batch_stride + column * layout.stride + row;
  }
};

// Returns how many times longer a GEMM on tensor cores takes at most because the columns of this
// matrix do not begin at multiples of 16 bytes; 1 if they do.
double LoadSlowness(const Layout& layout);

// Writes scale * a * b into `result`, for each matrix of the batch. Sizes must fit: a.columns() is
// b.rows(), and the result has the rows of `a` and the columns of `b`.
void Multiply(const Matrix& a, const Matrix& b, const Matrix& result, float scale);

}  // namespace stagecraft::stand_in
