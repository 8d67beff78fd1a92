// cuBLASLt: GEMMs take their time; only small ones are calculated.
#include <cublasLt.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "runtime/cuda/stand_in/kernels.h"
#include "runtime/cuda/stand_in/library_functions.h"
#include "runtime/cuda/stand_in/matrix.h"
#include "runtime/cuda/stand_in/numbers.h"
#include "runtime/cuda/stand_in/runtime_call.h"

using stagecraft::stand_in::Layout;
using stagecraft::stand_in::LibraryFunction;
using stagecraft::stand_in::LoadSlowness;
using stagecraft::stand_in::LookAt;
using stagecraft::stand_in::Matrix;
using stagecraft::stand_in::Range;
using stagecraft::stand_in::TimeToCalculate;
using stagecraft::stand_in::Work;

struct cublasLtContext {};

namespace {

constexpr int64_t kMostCalculated = int64_t{1} << 22;  // multiplications

// Besides Layout, what the opaque structs of cuBLASLt's headers contain here.
struct Product {
  int32_t transposes[2] = {CUBLAS_OP_N, CUBLAS_OP_N};
  const float* scales[2] = {};
  int32_t multiprocessors = 0;
};

constexpr const char* kHandle = "cuBLASLt handle";
constexpr const char* kProduct = "cuBLASLt product descriptor";
constexpr const char* kLayout = "cuBLASLt layout";
constexpr const char* kPreference = "cuBLASLt preference";

template <typename Object>
void Make(Object** made, const char* what) {
  *made = Gpu::Get().of_libraries.Make(Object(), what);
}
void Check(const void* object, const char* what) { Gpu::Get().of_libraries.Check(object, what); }
void Destroy(const void* object, const char* what) {
  Gpu::Get().of_libraries.Destroy(object, what);
}

template <typename Value, typename Opaque>
Value& In(Opaque* opaque, const char* what) {
  static_assert(sizeof(Value) <= sizeof(Opaque));
  Check(opaque, what);
  return *reinterpret_cast<Value*>(opaque);
}
Product& ProductIn(cublasLtMatmulDesc_t described) { return In<Product>(described, kProduct); }
Layout& LayoutIn(cublasLtMatrixLayout_t layout) { return In<Layout>(layout, kLayout); }

// Operands and results are aligned to this many bytes if the program states no other preference.
constexpr uint64_t kUsualAlignment = 256;
bool IsAligned(const void* matrix) {
  return reinterpret_cast<uint64_t>(matrix) % kUsualAlignment == 0;
}

Range RangeOfScale(const float* scale) {
  return {reinterpret_cast<const std::byte*>(scale), sizeof *scale};
}

}  // namespace

#define RESULT_OF_CUBLAS() \
  (Gpu::Get().Call(__func__) ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED)
#define ENTER_CUBLAS() \
  if (RESULT_OF_CUBLAS() != CUBLAS_STATUS_SUCCESS) return CUBLAS_STATUS_EXECUTION_FAILED

extern "C" {

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  ENTER_CUBLAS();
  Make(handle, kHandle);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
  const cublasStatus_t result = RESULT_OF_CUBLAS();
  Destroy(handle, kHandle);
  return result;
}
size_t cublasLtGetVersion() { return CUBLAS_VERSION; }
const char* cublasLtGetStatusName(cublasStatus_t status) {
  return status == CUBLAS_STATUS_NOT_SUPPORTED ? "CUBLAS_STATUS_NOT_SUPPORTED"
                                               : "CUBLAS_STATUS_EXECUTION_FAILED";
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* made, cublasComputeType_t,
                                        cudaDataType_t) {
  ENTER_CUBLAS();
  Make(made, kProduct);
  ProductIn(*made) = {};
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t made) {
  const cublasStatus_t result = RESULT_OF_CUBLAS();
  Destroy(made, kProduct);
  return result;
}
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t made,
                                              cublasLtMatmulDescAttributes_t attribute,
                                              const void* value, size_t bytes) {
  ENTER_CUBLAS();
  Product& product = ProductIn(made);
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
  Make(made, kLayout);
  LayoutIn(*made) = {type, static_cast<int64_t>(rows), static_cast<int64_t>(columns), stride};
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t made) {
  const cublasStatus_t result = RESULT_OF_CUBLAS();
  Destroy(made, kLayout);
  return result;
}
cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t made,
                                                cublasLtMatrixLayoutAttribute_t attribute,
                                                const void* value, size_t bytes) {
  ENTER_CUBLAS();
  Layout& layout = LayoutIn(made);
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
  Make(made, kPreference);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t made) {
  const cublasStatus_t result = RESULT_OF_CUBLAS();
  Destroy(made, kPreference);
  return result;
}
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t made,
                                                    cublasLtMatmulPreferenceAttributes_t attribute,
                                                    const void*, size_t bytes) {
  ENTER_CUBLAS();
  Check(made, kPreference);
  const bool is_known =
      attribute == CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES && bytes == sizeof(size_t);
  return is_known ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t handle, cublasLtMatmulDesc_t product,
                                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t preference, int wanted,
                                              cublasLtMatmulHeuristicResult_t* results,
                                              int* found) {
  ENTER_CUBLAS();
  Check(handle, kHandle);
  Check(product, kProduct);
  for (const cublasLtMatrixLayout_t layout : {a, b, c, d}) Check(layout, kLayout);
  Check(preference, kPreference);
  *found = std::min(wanted, 1);
  results[0] = {};
  results[0].state = CUBLAS_STATUS_SUCCESS;
  return CUBLAS_STATUS_SUCCESS;
}

// Assumes that alpha is 1 and beta 0, as in all our calls.
cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t described, const void*,
                              const void* a, cublasLtMatrixLayout_t a_layout, const void* b,
                              cublasLtMatrixLayout_t b_layout, const void*, const void*,
                              cublasLtMatrixLayout_t, void* d, cublasLtMatrixLayout_t d_layout,
                              const cublasLtMatmulAlgo_t*, void* workspace, size_t workspace_bytes,
                              cudaStream_t stream) {
  ENTER_CUBLAS();
  Gpu& gpu = Gpu::Get();
  Check(handle, kHandle);
  const Product product = ProductIn(described);
  const Matrix left(a, LayoutIn(a_layout), product.transposes[0] == CUBLAS_OP_T);
  const Matrix right(b, LayoutIn(b_layout), product.transposes[1] == CUBLAS_OP_T);
  const Matrix result(d, LayoutIn(d_layout), false);
  if (left.columns() != right.rows() || left.rows() != result.rows() ||
      right.columns() != result.columns()) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  for (const void* matrix : {a, b, static_cast<const void*>(d)}) {
    if (!IsAligned(matrix)) return CUBLAS_STATUS_NOT_SUPPORTED;
  }
  const int64_t multiplications =
      result.layout.batch * result.rows() * result.columns() * left.columns();
  const double slowness = std::max(
      {LoadSlowness(left.layout), LoadSlowness(right.layout), LoadSlowness(result.layout)});
  const auto own = static_cast<int>(gpu.MultiprocessorsOf(StreamOf(stream)).size());
  const int all = gpu.played.multiprocessors();
  Work work{
      .name = "a product",
      .duration = TimeToCalculate(2.0 * slowness * static_cast<double>(multiplications), own, all,
                                  product.multiprocessors > 0 ? product.multiprocessors : all),
      .touched = {left.numbers.range(),
                  right.numbers.range(),
                  result.numbers.range(),
                  {static_cast<const std::byte*>(workspace), workspace_bytes}}};
  for (const float* scale : product.scales) {
    if (scale != nullptr) work.touched.push_back(RangeOfScale(scale));
  }
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
