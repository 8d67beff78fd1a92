// cuDNN's backend interface: attention as a duration, and random numbers in what it writes.
#include <cudnn.h>

#include <cstring>
#include <map>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "runtime/cuda/stand_in/kernels.h"
#include "runtime/cuda/stand_in/library_functions.h"
#include "runtime/cuda/stand_in/numbers.h"
#include "runtime/cuda/stand_in/runtime_call.h"

using stagecraft::stand_in::LibraryFunction;
using stagecraft::stand_in::Numbers;
using stagecraft::stand_in::Work;

struct cudnnContext {
  CUgreenCtx part = nullptr;  // under which it was made
  cudaStream_t stream = nullptr;
};

namespace {

// A descriptor is what it was told, an attribute at a time; it keeps the others that it was told
// of. The program's handles point to pointers to it.
struct Described;
using DescribedPointer = std::shared_ptr<Described>;
struct Described {
  cudnnBackendDescriptorType_t type;
  bool is_final = false;
  std::map<cudnnBackendAttributeName_t, std::vector<int64_t>> numbers = {};
  std::map<cudnnBackendAttributeName_t, std::vector<void*>> pointers = {};
  std::map<cudnnBackendAttributeName_t, std::vector<DescribedPointer>> others = {};

  const Described& at(cudnnBackendAttributeName_t name) const { return *others.at(name)[0]; }
  int64_t number(cudnnBackendAttributeName_t name) const { return numbers.at(name)[0]; }
};

DescribedPointer& PointerOf(cudnnBackendDescriptor_t descriptor) {
  return *static_cast<DescribedPointer*>(descriptor);
}
Described& Of(cudnnBackendDescriptor_t descriptor) { return *PointerOf(descriptor); }

size_t SizeOf(cudnnBackendAttributeType_t type) {
  switch (type) {
    case CUDNN_TYPE_INT64:
    case CUDNN_TYPE_VOID_PTR:
    case CUDNN_TYPE_HANDLE:
    case CUDNN_TYPE_BACKEND_DESCRIPTOR:
      return sizeof(int64_t);
    case CUDNN_TYPE_BOOLEAN:
      return sizeof(bool);
    default:
      return sizeof(int32_t);  // enumerations
  }
}

bool IsPointer(cudnnBackendAttributeType_t type) {
  return type == CUDNN_TYPE_VOID_PTR || type == CUDNN_TYPE_HANDLE;
}

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

// What an operation reads and writes.
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

// Such as attention leaves: rows' logarithms of sums in 32 bits, shares of values.
void WriteAnything(const Numbers& output) {
  constexpr float kMostLogarithm = 8;
  uint32_t state = 1;
  for (int64_t i = 0; i < output.count; ++i) {
    state = state * 1664525u + 1013904223u;
    const float number = static_cast<float>(state >> 8) * 0x1.0p-24f;
    output.Set(i, output.type == CUDA_R_32F ? kMostLogarithm * number : number - 0.5f);
  }
}

// A graph with the memory of its tensors.
struct Bound {
  std::vector<Numbers> read, written;
  double flops = 0;
};
Bound Bind(const Described& graph, const Described& pack) {
  const std::vector<int64_t>& uids = pack.numbers.at(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS);
  std::map<int64_t, void*> given;
  for (size_t i = 0; i < uids.size(); ++i) {
    given[uids[i]] = pack.pointers.at(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS)[i];
  }
  const auto add = [&](const Described& tensor, std::vector<Numbers>& to) {
    if (Is(tensor, CUDNN_ATTR_TENSOR_IS_VIRTUAL)) return;
    const auto place = given.find(tensor.number(CUDNN_ATTR_TENSOR_UNIQUE_ID));
    if (place == given.end()) BreakContract("attention is not given one of its tensors");
    if (Is(tensor, CUDNN_ATTR_TENSOR_IS_BY_VALUE)) return;
    to.push_back({place->second, CountOf(tensor), TypeOf(tensor)});
  };
  Bound bound;
  for (const DescribedPointer& operation : graph.others.at(CUDNN_ATTR_OPERATIONGRAPH_OPS)) {
    const Operands operands = OperandsOf(*operation);
    for (const Described* input : operands.inputs) add(*input, bound.read);
    add(*operands.output, bound.written);
    bound.flops += FlopsOf(*operation);
  }
  return bound;
}

}  // namespace

#define ENTER_CUDNN() \
  if (!Gpu::Get().Call(__func__)) return CUDNN_STATUS_INTERNAL_ERROR

extern "C" {

cudnnStatus_t cudnnCreate(cudnnHandle_t* handle) {
  ENTER_CUDNN();
  const std::vector<CUgreenCtx>& contexts = Gpu::Get().contexts;
  *handle = new cudnnContext{.part = contexts.empty() ? nullptr : contexts.back()};
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnDestroy(cudnnHandle_t handle) {
  delete handle;
  return CUDNN_STATUS_SUCCESS;
}
size_t cudnnGetVersion() { return CUDNN_VERSION; }

cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t stream) {
  ENTER_CUDNN();
  if (Gpu::Get().board.cudnn_compares_contexts && StreamOf(stream)->part != handle->part) {
    return CUDNN_STATUS_BAD_PARAM_STREAM_MISMATCH;
  }
  handle->stream = StreamOf(stream);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendCreateDescriptor(cudnnBackendDescriptorType_t type,
                                           cudnnBackendDescriptor_t* made) {
  ENTER_CUDNN();
  *made = new DescribedPointer(std::make_shared<Described>(Described{.type = type}));
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t descriptor) {
  delete &PointerOf(descriptor);
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnBackendSetAttribute(cudnnBackendDescriptor_t descriptor,
                                       cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type, int64_t count,
                                       const void* values) {
  ENTER_CUDNN();
  Described& own = Of(descriptor);
  if (own.is_final) return CUDNN_STATUS_BAD_PARAM;
  const auto* from = static_cast<const std::byte*>(values);
  for (int64_t i = 0; i < count; ++i, from += SizeOf(type)) {
    int64_t number = 0;
    std::memcpy(&number, from, SizeOf(type));
    if (IsPointer(type))
      own.pointers[name].push_back(reinterpret_cast<void*>(number));
    else if (type == CUDNN_TYPE_BACKEND_DESCRIPTOR)
      own.others[name].push_back(PointerOf(reinterpret_cast<void*>(number)));
    else
      own.numbers[name].push_back(number);
  }
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnBackendFinalize(cudnnBackendDescriptor_t descriptor) {
  ENTER_CUDNN();
  Of(descriptor).is_final = true;
  return CUDNN_STATUS_SUCCESS;
}

// One engine, which needs no workspace; for a part of a device cuDNN 9.19 knows none.
cudnnStatus_t cudnnBackendGetAttribute(cudnnBackendDescriptor_t descriptor,
                                       cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t, int64_t wanted, int64_t* count,
                                       void* values) {
  ENTER_CUDNN();
  const Described& own = Of(descriptor);
  if (!own.is_final) return CUDNN_STATUS_BAD_PARAM;
  const auto target = own.numbers.find(CUDNN_ATTR_ENGINEHEUR_SM_COUNT_TARGET);
  const bool is_of_part =
      target != own.numbers.end() && target->second[0] != Gpu::Get().board.multiprocessors();
  *count = is_of_part ? 0 : std::min<int64_t>(wanted, 1);
  if (*count == 0) return CUDNN_STATUS_SUCCESS;
  if (name == CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE) {
    *static_cast<int64_t*>(values) = 0;
    return CUDNN_STATUS_SUCCESS;
  }
  if (name != CUDNN_ATTR_ENGINEHEUR_RESULTS) return CUDNN_STATUS_NOT_SUPPORTED;
  Described& engine = Of(*static_cast<void**>(values));
  engine.others = own.others;
  engine.numbers = own.numbers;
  engine.is_final = true;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendExecute(cudnnHandle_t handle, cudnnBackendDescriptor_t plan,
                                  cudnnBackendDescriptor_t pack) {
  ENTER_CUDNN();
  Gpu& gpu = Gpu::Get();
  const Described& engine = Of(plan).at(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG);
  const Bound bound = Bind(engine.at(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH), Of(pack));
  const auto own = static_cast<int>(gpu.MultiprocessorsOf(handle->stream).size());
  const int all = gpu.board.multiprocessors();
  const auto target = engine.numbers.find(CUDNN_ATTR_ENGINEHEUR_SM_COUNT_TARGET);
  const int chosen_for = target == engine.numbers.end() ? all : static_cast<int>(target->second[0]);
  Work work{.name = "attention",
            .duration = stagecraft::stand_in::TimeToCalculate(bound.flops, own, all, chosen_for)};
  for (const std::vector<Numbers>* tensors : {&bound.read, &bound.written}) {
    for (const Numbers& tensor : *tensors) work.touched.push_back(tensor.range());
  }
  work.effect = [bound] {
    for (const Numbers& operand : bound.read) stagecraft::stand_in::LookAt(operand);
    for (const Numbers& output : bound.written) WriteAnything(output);
  };
  gpu.Give(handle->stream, std::move(work));
  return CUDNN_STATUS_SUCCESS;
}

}  // extern "C"

namespace stagecraft::stand_in {

std::span<const LibraryFunction> CudnnFunctions() {
  static const LibraryFunction kFunctions[] = {
      LIBRARY_FUNCTION(cudnnBackendCreateDescriptor),
      LIBRARY_FUNCTION(cudnnBackendDestroyDescriptor),
      LIBRARY_FUNCTION(cudnnBackendSetAttribute),
      LIBRARY_FUNCTION(cudnnBackendGetAttribute),
      LIBRARY_FUNCTION(cudnnBackendFinalize),
      LIBRARY_FUNCTION(cudnnBackendExecute),
      LIBRARY_FUNCTION(cudnnCreate),
      LIBRARY_FUNCTION(cudnnDestroy),
      LIBRARY_FUNCTION(cudnnSetStream),
      LIBRARY_FUNCTION(cudnnGetVersion),
  };
  return kFunctions;
}

}  // namespace stagecraft::stand_in
