// cuBLASLt: products as durations; small ones are calculated.
#include <cublasLt.h>

#include <cstring>
#include <utility>

#include "runtime/cuda/stand_in/kernels.h"
#include "runtime/cuda/stand_in/library_functions.h"
#include "runtime/cuda/stand_in/numbers.h"
#include "runtime/cuda/stand_in/runtime_call.h"

using stagecraft::stand_in::LibraryFunction;
using stagecraft::stand_in::LookAt;
using stagecraft::stand_in::Numbers;
using stagecraft::stand_in::TimeToCalculate;
using stagecraft::stand_in::Work;

struct cublasLtContext {};

namespace {

constexpr int64_t kMostCalculated = int64_t{1} << 22;  // multiplications

// What the opaque structs of cuBLASLt's headers hold here.
struct Layout {
  cudaDataType type;
  int64_t rows, columns, stride, batch = 1, batch_stride = 0;
};
struct Product {
  int32_t transposes[2] = {CUBLAS_OP_N, CUBLAS_OP_N};
  const float* scales[2] = {};
  int32_t multiprocessors = 0;
};

template <typename Value, typename Opaque>
Value& In(Opaque* opaque) {
  static_assert(sizeof(Value) <= sizeof(Opaque));
  return *reinterpret_cast<Value*>(opaque);
}

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

}  // namespace

#define ENTER_CUBLAS() \
  if (!Gpu::Get().Call(__func__)) return CUBLAS_STATUS_EXECUTION_FAILED

extern "C" {

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  ENTER_CUBLAS();
  *handle = new cublasLtContext;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
  delete handle;
  return CUBLAS_STATUS_SUCCESS;
}
size_t cublasLtGetVersion() { return CUBLAS_VERSION; }
const char* cublasLtGetStatusName(cublasStatus_t status) {
  return status == CUBLAS_STATUS_NOT_SUPPORTED ? "CUBLAS_STATUS_NOT_SUPPORTED"
                                               : "CUBLAS_STATUS_EXECUTION_FAILED";
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* made, cublasComputeType_t,
                                        cudaDataType_t) {
  ENTER_CUBLAS();
  *made = new cublasLtMatmulDescOpaque_t;
  In<Product>(*made) = {};
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t made) {
  delete made;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t made,
                                              cublasLtMatmulDescAttributes_t attribute,
                                              const void* value, size_t bytes) {
  ENTER_CUBLAS();
  Product& product = In<Product>(made);
  const auto set = [&](auto& field) {
    if (bytes != sizeof field) return CUBLAS_STATUS_INVALID_VALUE;
    std::memcpy(&field, value, bytes);
    return CUBLAS_STATUS_SUCCESS;
  };
  switch (attribute) {
    case CUBLASLT_MATMUL_DESC_TRANSA:
      return set(product.transposes[0]);
    case CUBLASLT_MATMUL_DESC_TRANSB:
      return set(product.transposes[1]);
    case CUBLASLT_MATMUL_DESC_A_SCALE_POINTER:
      return set(product.scales[0]);
    case CUBLASLT_MATMUL_DESC_B_SCALE_POINTER:
      return set(product.scales[1]);
    case CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET:
      return set(product.multiprocessors);
    case CUBLASLT_MATMUL_DESC_FAST_ACCUM: {
      int8_t ignored = 0;
      return set(ignored);
    }
    default:
      return CUBLAS_STATUS_NOT_SUPPORTED;
  }
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* made, cudaDataType type,
                                          uint64_t rows, uint64_t columns, int64_t stride) {
  ENTER_CUBLAS();
  if (stride < static_cast<int64_t>(rows)) return CUBLAS_STATUS_INVALID_VALUE;
  *made = new cublasLtMatrixLayoutOpaque_t;
  In<Layout>(*made) = {type, static_cast<int64_t>(rows), static_cast<int64_t>(columns), stride};
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t made) {
  delete made;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t made,
                                                cublasLtMatrixLayoutAttribute_t attribute,
                                                const void* value, size_t bytes) {
  ENTER_CUBLAS();
  Layout& layout = In<Layout>(made);
  if (attribute == CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT && bytes == sizeof(int32_t)) {
    layout.batch = *static_cast<const int32_t*>(value);
  } else if (attribute == CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET && bytes == sizeof(int64_t)) {
    layout.batch_stride = *static_cast<const int64_t*>(value);
  } else {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* made) {
  ENTER_CUBLAS();
  *made = new cublasLtMatmulPreferenceOpaque_t;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t made) {
  delete made;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t,
                                                    cublasLtMatmulPreferenceAttributes_t attribute,
                                                    const void*, size_t bytes) {
  ENTER_CUBLAS();
  const bool is_known =
      attribute == CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES && bytes == sizeof(size_t);
  return is_known ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t, cublasLtMatmulDesc_t,
                                              cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
                                              cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
                                              cublasLtMatmulPreference_t, int wanted,
                                              cublasLtMatmulHeuristicResult_t* results,
                                              int* found) {
  ENTER_CUBLAS();
  *found = std::min(wanted, 1);
  results[0] = {};
  results[0].state = CUBLAS_STATUS_SUCCESS;
  return CUBLAS_STATUS_SUCCESS;
}

// alpha is 1 and beta 0, as everywhere here.
cublasStatus_t cublasLtMatmul(cublasLtHandle_t, cublasLtMatmulDesc_t described, const void*,
                              const void* a, cublasLtMatrixLayout_t a_layout, const void* b,
                              cublasLtMatrixLayout_t b_layout, const void*, const void*,
                              cublasLtMatrixLayout_t, void* d, cublasLtMatrixLayout_t d_layout,
                              const cublasLtMatmulAlgo_t*, void* workspace, size_t workspace_bytes,
                              cudaStream_t stream) {
  ENTER_CUBLAS();
  Gpu& gpu = Gpu::Get();
  const Product product = In<Product>(described);
  const Matrix left(a, In<Layout>(a_layout), product.transposes[0] == CUBLAS_OP_T);
  const Matrix right(b, In<Layout>(b_layout), product.transposes[1] == CUBLAS_OP_T);
  const Matrix result(d, In<Layout>(d_layout), false);
  if (left.columns() != right.rows() || left.rows() != result.rows() ||
      right.columns() != result.columns()) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  const int64_t multiplications =
      result.layout.batch * result.rows() * result.columns() * left.columns();
  const auto own = static_cast<int>(gpu.MultiprocessorsOf(StreamOf(stream)).size());
  const int all = gpu.board.multiprocessors();
  Work work{
      .name = "a product",
      .duration = TimeToCalculate(2.0 * static_cast<double>(multiplications), own, all,
                                  product.multiprocessors > 0 ? product.multiprocessors : all),
      .touched = {left.numbers.range(),
                  right.numbers.range(),
                  result.numbers.range(),
                  {static_cast<const std::byte*>(workspace), workspace_bytes}}};
  work.effect = [=] {
    LookAt(left.numbers);
    LookAt(right.numbers);
    if (multiplications > kMostCalculated) return;
    float scale = 1;
    for (const float* one : product.scales) scale *= one == nullptr ? 1 : *one;
    Multiply(left, right, result, scale);
  };
  gpu.Give(StreamOf(stream), std::move(work));
  return CUBLAS_STATUS_SUCCESS;
}

}  // extern "C"

namespace stagecraft::stand_in {

std::span<const LibraryFunction> CublasFunctions() {
  static const LibraryFunction kFunctions[] = {
      LIBRARY_FUNCTION(cublasLtCreate),
      LIBRARY_FUNCTION(cublasLtDestroy),
      LIBRARY_FUNCTION(cublasLtGetStatusName),
      LIBRARY_FUNCTION(cublasLtGetVersion),
      LIBRARY_FUNCTION(cublasLtMatmul),
      LIBRARY_FUNCTION(cublasLtMatmulAlgoGetHeuristic),
      LIBRARY_FUNCTION(cublasLtMatmulDescCreate),
      LIBRARY_FUNCTION(cublasLtMatmulDescDestroy),
      LIBRARY_FUNCTION(cublasLtMatmulDescSetAttribute),
      LIBRARY_FUNCTION(cublasLtMatrixLayoutCreate),
      LIBRARY_FUNCTION(cublasLtMatrixLayoutDestroy),
      LIBRARY_FUNCTION(cublasLtMatrixLayoutSetAttribute),
      LIBRARY_FUNCTION(cublasLtMatmulPreferenceCreate),
      LIBRARY_FUNCTION(cublasLtMatmulPreferenceDestroy),
      LIBRARY_FUNCTION(cublasLtMatmulPreferenceSetAttribute),
  };
  return kFunctions;
}

}  // namespace stagecraft::stand_in
