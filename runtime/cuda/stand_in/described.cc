#include "runtime/cuda/stand_in/described.h"

#include <functional>
#include <numeric>

#include "runtime/cuda/stand_in/heap.h"

namespace stagecraft::stand_in {
namespace {

bool Is(const Described& tensor, cudnnBackendAttributeName_t claim) {
  return tensor.number(claim) != 0;
}

cudaDataType TypeOf(const Described& tensor) {
  switch (tensor.number(CUDNN_ATTR_TENSOR_DATA_TYPE)) {
    case CUDNN_DATA_FLOAT:
      return CUDA_R_32F;
    case CUDNN_DATA_HALF:
      return CUDA_R_16F;
    default:
      return CUDA_R_16BF;
  }
}

int64_t CountOf(const Described& tensor) {
  const std::vector<int64_t>& sizes = tensor.numbers.at(CUDNN_ATTR_TENSOR_DIMENSIONS);
  return std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, std::multiplies<>());
}

// The tensors that an operation reads and writes.
struct Operands {
  std::vector<const Described*> inputs;
  const Described* output = nullptr;
};
Operands OperandsOf(const Described& operation) {
  constexpr cudnnBackendAttributeName_t kInputs[] = {
      CUDNN_ATTR_OPERATION_MATMUL_ADESC,    CUDNN_ATTR_OPERATION_MATMUL_BDESC,
      CUDNN_ATTR_OPERATION_REDUCTION_XDESC, CUDNN_ATTR_OPERATION_POINTWISE_XDESC,
      CUDNN_ATTR_OPERATION_POINTWISE_BDESC, CUDNN_ATTR_OPERATION_POINTWISE_TDESC,
      CUDNN_ATTR_OPERATION_RESHAPE_XDESC};
  constexpr cudnnBackendAttributeName_t kOutputs[] = {
      CUDNN_ATTR_OPERATION_MATMUL_CDESC, CUDNN_ATTR_OPERATION_REDUCTION_YDESC,
      CUDNN_ATTR_OPERATION_POINTWISE_YDESC, CUDNN_ATTR_OPERATION_RESHAPE_YDESC};
  Operands operands;
  for (const auto name : kInputs) {
    if (operation.others.contains(name)) operands.inputs.push_back(&operation.at(name));
  }
  for (const auto name : kOutputs) {
    if (operation.others.contains(name)) operands.output = &operation.at(name);
  }
  return operands;
}

double FlopsOf(const Described& operation) {
  if (operation.type != CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR) return 0;
  const Operands operands = OperandsOf(operation);
  const int64_t depth = operands.inputs[0]->numbers.at(CUDNN_ATTR_TENSOR_DIMENSIONS).back();
  return 2.0 * static_cast<double>(CountOf(*operands.output) * depth);
}

}  // namespace

Bound Bind(const Described& graph, const Described& pack) {
  const std::vector<int64_t>& uids = pack.numbers.at(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS);
  std::map<int64_t, void*> given;
  for (size_t i = 0; i < uids.size(); ++i) {
    given[uids[i]] = pack.pointers.at(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS)[i];
  }
  Bound bound;
  const auto add = [&](const Described& tensor, std::vector<Numbers>& to) {
    if (Is(tensor, CUDNN_ATTR_TENSOR_IS_VIRTUAL)) return;
    const auto place = given.find(tensor.number(CUDNN_ATTR_TENSOR_UNIQUE_ID));
    if (place == given.end()) BreakContract("attention is not given one of its tensors");
    if (Is(tensor, CUDNN_ATTR_TENSOR_IS_BY_VALUE)) return;
    to.push_back({place->second, CountOf(tensor), TypeOf(tensor)});
    const auto alignment = static_cast<uint64_t>(tensor.number(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT));
    if (reinterpret_cast<uint64_t>(place->second) % alignment != 0) bound.is_aligned = false;
  };
  for (const DescribedPointer& operation : graph.others.at(CUDNN_ATTR_OPERATIONGRAPH_OPS)) {
    const Operands operands = OperandsOf(*operation);
    for (const Described* input : operands.inputs) add(*input, bound.read);
    add(*operands.output, bound.written);
    bound.flops += FlopsOf(*operation);
  }
  return bound;
}

}  // namespace stagecraft::stand_in
