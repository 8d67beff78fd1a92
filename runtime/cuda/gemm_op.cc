#include "runtime/cuda/gemm_op.h"

#include <functional>
#include <string>
#include <utility>

#include "runtime/cuda/cublas_lt.h"
#include "runtime/cuda/random_fill.h"

namespace stagecraft {
namespace {

struct Formats {
  cudaDataType_t operands, result;
  cublasComputeType_t compute;
};

Formats FormatsOf(DType dtype) {
  switch (dtype) {
    case DType::kFp32:
      return {CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F};
    case DType::kTf32:
      return {CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32};
    case DType::kFp16:
      return {CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_32F};
    case DType::kBf16:
      return {CUDA_R_16BF, CUDA_R_16BF, CUBLAS_COMPUTE_32F};
    case DType::kFp8:
    case DType::kNvfp4:  // refused by GemmOp
      break;
  }
  return {CUDA_R_8F_E4M3, CUDA_R_16BF, CUBLAS_COMPUTE_32F};
}

// Returns the size in bytes of an element of the result: results of 8-bit GEMMs have 16 bits.
size_t ResultSize(DType dtype) { return static_cast<size_t>(ElementBits(WorkingType(dtype)) / 8); }

// cuBLAS stores matrices by columns: an (m,n) result that is stored by rows is an n x m matrix to
// cuBLAS, and the right operand is its first.
class GemmOp final : public DeviceOp {
 public:
  GemmOp(const ProfileCase& one, std::shared_ptr<CublasLt> library, const GemmOptions& options)
      : op_(one.op), library_(std::move(library)), options_(options) {
    transposes_right_ = one.kernel == kLinear;
    transposes_left_ = one.kernel == kLinearWeightGradient;
    if (op_.dtype == DType::kNvfp4) throw Unsupported("4-bit GEMMs");
    if (op_.dtype == DType::kFp8 && !transposes_right_) {
      throw Unsupported("8-bit GEMMs in other layouts than that of a linear layer's forward");
    }
    Describe();
    Choose();
  }

  size_t operand_bytes() const override {
    return result_offset() + (options_.results ? 0 : ResultBytes(op_));
  }

  void Fill(std::byte* operands, cudaStream_t stream) override {
    FillRandom(operands, static_cast<int64_t>(Count(op_.m, op_.k)), op_.dtype, 1, stream);
    FillRandom(operands + right_offset(), static_cast<int64_t>(Count(op_.k, op_.n)), op_.dtype, 2,
               stream);
  }

  void Launch(std::byte* operands, cudaStream_t stream) override {
    const float one = 1, zero = 0;
    std::byte* const result =
        options_.results ? options_.results(ResultBytes(op_)) : operands + result_offset();
    library_->Check(library_->Matmul(library_->handle, product_.get(), &one,
                                     operands + right_offset(), right_.get(), operands, left_.get(),
                                     &zero, result, result_.get(), result, result_.get(),
                                     &chosen_.algo, library_->workspace.get(), kWorkspace, stream));
  }

 private:
  using Layout =
      std::unique_ptr<cublasLtMatrixLayoutOpaque_t, std::function<void(cublasLtMatrixLayout_t)>>;
  using Product =
      std::unique_ptr<cublasLtMatmulDescOpaque_t, std::function<void(cublasLtMatmulDesc_t)>>;

  size_t Count(int64_t rows, int64_t columns) const {
    return static_cast<size_t>(op_.batch * rows * columns);
  }
  size_t ElementBytes() const { return static_cast<size_t>(ElementBits(op_.dtype) / 8); }
  size_t right_offset() const { return Aligned(Count(op_.m, op_.k) * ElementBytes()); }
  size_t result_offset() const {
    return right_offset() + Aligned(Count(op_.k, op_.n) * ElementBytes());
  }

  // Describes a matrix as cuBLAS sees it, with contiguous columns.
  Layout MakeLayout(cudaDataType_t type, int64_t rows, int64_t columns) const {
    cublasLtMatrixLayout_t layout = nullptr;
    library_->Check(library_->MatrixLayoutCreate(&layout, type, static_cast<uint64_t>(rows),
                                                 static_cast<uint64_t>(columns), rows));
    Layout owned(layout, library_->MatrixLayoutDestroy);
    const int32_t batch = static_cast<int32_t>(op_.batch);
    const int64_t stride = rows * columns;
    library_->Check(library_->MatrixLayoutSetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT,
                                                       &batch, sizeof batch));
    library_->Check(library_->MatrixLayoutSetAttribute(
        layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride, sizeof stride));
    return owned;
  }

  template <typename Value>
  void Set(cublasLtMatmulDescAttributes_t attribute, Value value) {
    library_->Check(
        library_->MatmulDescSetAttribute(product_.get(), attribute, &value, sizeof value));
  }

  void Describe() {
    const Formats formats = FormatsOf(op_.dtype);
    cublasLtMatmulDesc_t product = nullptr;
    library_->Check(library_->MatmulDescCreate(&product, formats.compute, CUDA_R_32F));
    product_ = Product(product, library_->MatmulDescDestroy);
    Set(CUBLASLT_MATMUL_DESC_TRANSA, transposes_right_ ? CUBLAS_OP_T : CUBLAS_OP_N);
    Set(CUBLASLT_MATMUL_DESC_TRANSB, transposes_left_ ? CUBLAS_OP_T : CUBLAS_OP_N);
    right_ = transposes_right_ ? MakeLayout(formats.operands, op_.k, op_.n)
                               : MakeLayout(formats.operands, op_.n, op_.k);
    left_ = transposes_left_ ? MakeLayout(formats.operands, op_.m, op_.k)
                             : MakeLayout(formats.operands, op_.k, op_.m);
    result_ = MakeLayout(formats.result, op_.n, op_.m);
    if (op_.dtype == DType::kFp8) ScaleOperands();
    if (options_.multiprocessors > 0) {
      Set(CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET, static_cast<int32_t>(options_.multiprocessors));
    }
  }

  // Sets one scale for each tensor, as in training recipes; sums are kept as in the forward passes
  // of Transformer Engine.
  void ScaleOperands() {
    scales_ = DeviceMemory(2 * sizeof(float));
    const float scales[2] = {0.5f, 0.25f};
    CHECK_CUDA(cudaMemcpy(scales_.get(), scales, sizeof scales, cudaMemcpyHostToDevice));
    // The copy from memory that is not pinned may still be in flight, and the streams here wait for
    // no other stream.
    CHECK_CUDA(cudaDeviceSynchronize());
    const void* const first = scales_.get();
    const void* const second = scales_.get() + sizeof(float);
    Set(CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, first);
    Set(CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, second);
    Set(CUBLASLT_MATMUL_DESC_FAST_ACCUM, int8_t{1});
  }

  void Choose() {
    cublasLtMatmulPreference_t preference = nullptr;
    library_->Check(library_->MatmulPreferenceCreate(&preference));
    const std::unique_ptr<cublasLtMatmulPreferenceOpaque_t,
                          std::function<void(cublasLtMatmulPreference_t)>>
        owned(preference, library_->MatmulPreferenceDestroy);
    const size_t most = kWorkspace;
    library_->Check(library_->MatmulPreferenceSetAttribute(
        preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &most, sizeof most));
    int found = 0;
    const cublasStatus_t status = library_->MatmulAlgoGetHeuristic(
        library_->handle, product_.get(), right_.get(), left_.get(), result_.get(), result_.get(),
        preference, 1, &chosen_, &found);
    if (status == CUBLAS_STATUS_SUCCESS && found > 0) return library_->Check(chosen_.state);
    throw Unsupported(std::string("cuBLASLt has no algorithm for ") + Name(op_.dtype) +
                      " GEMMs of some sizes");
  }

  Op op_;
  std::shared_ptr<CublasLt> library_;
  GemmOptions options_;
  bool transposes_right_ = false, transposes_left_ = false;
  Product product_;
  Layout right_, left_, result_;
  DeviceMemory scales_;
  cublasLtMatmulHeuristicResult_t chosen_ = {};
};

}  // namespace

std::shared_ptr<CublasLt> LoadCublasLt() { return std::make_shared<CublasLt>(); }

std::string VersionOf(const CublasLt& library) {
  const size_t version = library.GetVersion();
  return "cublasLt " + std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) +
         "." + std::to_string(version % 100);
}

std::unique_ptr<DeviceOp> MakeGemmOp(const ProfileCase& one, std::shared_ptr<CublasLt> library,
                                     const GemmOptions& options) {
  return std::make_unique<GemmOp>(one, std::move(library), options);
}

size_t ResultBytes(const Op& product) {
  return Aligned(static_cast<size_t>(product.batch * product.m * product.n) *
                 ResultSize(product.dtype));
}

}  // namespace stagecraft
