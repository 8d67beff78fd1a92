#include "runtime/cuda/cudnn_graph.h"

#include <utility>

namespace stagecraft {
namespace {

constexpr int64_t kTensorAlignment = 16;
constexpr int64_t kMostPlans = 8;

}  // namespace

Sizes PackedStrides(const Sizes& sizes) {
  Sizes strides(sizes.size(), 1);
  for (size_t i = sizes.size() - 1; i > 0; --i) strides[i - 1] = strides[i] * sizes[i];
  return strides;
}

CudnnGraph::Tensor CudnnGraph::Add(const Sizes& sizes, const Sizes& strides, cudnnDataType_t type,
                                   Home home) {
  const auto index = tensors_.size();
  Descriptor tensor = Make(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  tensor.Set(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, type)
      .Set(CUDNN_ATTR_TENSOR_DIMENSIONS, sizes)
      .Set(CUDNN_ATTR_TENSOR_STRIDES, strides)
      .Set(CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, static_cast<int64_t>(index) + 1)
      .Set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, kTensorAlignment)
      .Set(CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, home == Home::kVirtual)
      .Set(CUDNN_ATTR_TENSOR_IS_BY_VALUE, CUDNN_TYPE_BOOLEAN, home == Home::kValue)
      .Finalize();
  tensors_.push_back({sizes, std::move(tensor)});
  return index;
}

void CudnnGraph::Product(Tensor a, Tensor b, Tensor result) {
  Descriptor kind = Make(CUDNN_BACKEND_MATMUL_DESCRIPTOR);
  kind.Set(CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT).Finalize();
  Descriptor operation = Make(CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR);
  operation.Set(CUDNN_ATTR_OPERATION_MATMUL_ADESC, of(a))
      .Set(CUDNN_ATTR_OPERATION_MATMUL_BDESC, of(b))
      .Set(CUDNN_ATTR_OPERATION_MATMUL_CDESC, of(result))
      .Set(CUDNN_ATTR_OPERATION_MATMUL_DESC, kind)
      .Finalize();
  kinds_.push_back(std::move(kind));
  operations_.push_back(std::move(operation));
}

void CudnnGraph::Reduce(cudnnReduceTensorOp_t how, Tensor from, Tensor to) {
  Descriptor kind = Make(CUDNN_BACKEND_REDUCTION_DESCRIPTOR);
  kind.Set(CUDNN_ATTR_REDUCTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT)
      .Set(CUDNN_ATTR_REDUCTION_OPERATOR, CUDNN_TYPE_REDUCTION_OPERATOR_TYPE, how)
      .Finalize();
  Descriptor operation = Make(CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR);
  operation.Set(CUDNN_ATTR_OPERATION_REDUCTION_XDESC, of(from))
      .Set(CUDNN_ATTR_OPERATION_REDUCTION_YDESC, of(to))
      .Set(CUDNN_ATTR_OPERATION_REDUCTION_DESC, kind)
      .Finalize();
  kinds_.push_back(std::move(kind));
  operations_.push_back(std::move(operation));
}

void CudnnGraph::Pointwise(cudnnPointwiseMode_t mode, Tensor x, std::optional<Tensor> b,
                           std::optional<Tensor> t, Tensor result, int64_t axis,
                           cudnnDataType_t arithmetic) {
  Descriptor kind = Make(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
  kind.Set(CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, mode)
      .Set(CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, arithmetic);
  if (axis >= 0) kind.Set(CUDNN_ATTR_POINTWISE_AXIS, CUDNN_TYPE_INT64, axis);
  kind.Finalize();
  Descriptor operation = Make(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
  operation.Set(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, kind)
      .Set(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, of(x))
      .Set(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, of(result));
  if (b) operation.Set(CUDNN_ATTR_OPERATION_POINTWISE_BDESC, of(*b));
  if (t) operation.Set(CUDNN_ATTR_OPERATION_POINTWISE_TDESC, of(*t));
  operation.Finalize();
  kinds_.push_back(std::move(kind));
  operations_.push_back(std::move(operation));
}

void CudnnGraph::Reshape(Tensor from, Tensor to) {
  Descriptor operation = Make(CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR);
  operation.Set(CUDNN_ATTR_OPERATION_RESHAPE_XDESC, of(from))
      .Set(CUDNN_ATTR_OPERATION_RESHAPE_YDESC, of(to))
      .Finalize();
  operations_.push_back(std::move(operation));
}

std::vector<Descriptor> CudnnGraph::FindEngines(const Descriptor& device, int multiprocessors) {
  std::vector<void*> operations;
  for (const Descriptor& operation : operations_) operations.push_back(operation.get());
  graph_ = Make(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
  graph_
      ->SetArray(CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR,
                 static_cast<int64_t>(operations.size()), operations.data())
      .Finalize();
  if (multiprocessors > 0) {
    std::vector<Descriptor> engines = AskHeuristic(device, multiprocessors);
    if (!engines.empty()) return engines;
  }
  return AskHeuristic(device, 0);
}

std::vector<Descriptor> CudnnGraph::AskHeuristic(const Descriptor& device, int multiprocessors) {
  Descriptor heuristic = Make(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
  heuristic.Set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, *graph_)
      .Set(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, CUDNN_HEUR_MODE_A)
      .Set(CUDNN_ATTR_ENGINEHEUR_DEVICEPROP, device);
  std::vector<Descriptor> engines;
  const bool is_asked = multiprocessors == 0 ||
                        heuristic.TrySet(CUDNN_ATTR_ENGINEHEUR_SM_COUNT_TARGET, CUDNN_TYPE_INT32,
                                         static_cast<int32_t>(multiprocessors));
  if (!is_asked || !heuristic.TryFinalize()) return engines;
  std::vector<void*> raw;
  for (int64_t i = 0; i < kMostPlans; ++i) {
    engines.push_back(Make(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR));
    raw.push_back(engines.back().get());
  }
  int64_t found = 0;
  library_->Check(
      library_->BackendGetAttribute(heuristic.get(), CUDNN_ATTR_ENGINEHEUR_RESULTS,
                                    CUDNN_TYPE_BACKEND_DESCRIPTOR, kMostPlans, &found, raw.data()),
      "cudnnBackendGetAttribute");
  while (static_cast<int64_t>(engines.size()) > found) engines.pop_back();
  return engines;
}

std::optional<Descriptor> CudnnGraph::MakePlan(const Descriptor& device, int multiprocessors) {
  for (const Descriptor& engine : FindEngines(device, multiprocessors)) {
    Descriptor plan = Make(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
    plan.Set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, engine)
        .Set(CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP, device);
    if (plan.TryFinalize()) return plan;
  }
  return std::nullopt;
}

int64_t WorkspaceOf(const Cudnn& library, const Descriptor& plan) {
  int64_t bytes = 0, count = 0;
  library.Check(library.BackendGetAttribute(plan.get(), CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE,
                                            CUDNN_TYPE_INT64, 1, &count, &bytes),
                "cudnnBackendGetAttribute");
  return bytes;
}

}  // namespace stagecraft
