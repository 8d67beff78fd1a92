// cuDNN's backend interface: attention takes its time, and writes random numbers.
#include <cudnn.h>

#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/cuda/stand_in/described.h"
#include "runtime/cuda/stand_in/kernels.h"
#include "runtime/cuda/stand_in/library_functions.h"
#include "runtime/cuda/stand_in/numbers.h"
#include "runtime/cuda/stand_in/runtime_call.h"

using stagecraft::stand_in::Bind;
using stagecraft::stand_in::Bound;
using stagecraft::stand_in::Described;
using stagecraft::stand_in::DescribedPointer;
using stagecraft::stand_in::LibraryFunction;
using stagecraft::stand_in::Numbers;
using stagecraft::stand_in::Work;

struct cudnnContext {
  CUgreenCtx part = nullptr;  // the part whose context was current when it was made
  cudaStream_t stream = nullptr;
};

namespace {

constexpr const char* kHandle = "cuDNN handle";
constexpr const char* kDescriptor = "cuDNN descriptor";

DescribedPointer& PointerOf(cudnnBackendDescriptor_t descriptor) {
  Gpu::Get().of_libraries.Check(descriptor, kDescriptor);
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
      return sizeof(int32_t);  // enumerators
  }
}

bool IsPointer(cudnnBackendAttributeType_t type) {
  return type == CUDNN_TYPE_VOID_PTR || type == CUDNN_TYPE_HANDLE;
}

// Writes numbers that attention may leave: for 32-bit outputs logarithms of sums, for others
// weighted values.
void WriteAnything(const Numbers& output) {
  constexpr float kMostLogarithm = 8;
  uint32_t state = 1;
  for (int64_t i = 0; i < output.count; ++i) {
    state = state * 1664525u + 1013904223u;
    const float number = static_cast<float>(state >> 8) * 0x1.0p-24f;
    output.Set(i, output.type == CUDA_R_32F ? kMostLogarithm * number : number - 0.5f);
  }
}

// The message of cudnnGetLastErrorString() about the last call that failed.
thread_local std::string last_error;

}  // namespace

#define RESULT_OF_CUDNN() \
  (Gpu::Get().Call(__func__) ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_INTERNAL_ERROR)
#define ENTER_CUDNN() \
  if (RESULT_OF_CUDNN() != CUDNN_STATUS_SUCCESS) return CUDNN_STATUS_INTERNAL_ERROR

extern "C" {

cudnnStatus_t cudnnCreate(cudnnHandle_t* handle) {
  ENTER_CUDNN();
  const std::vector<CUgreenCtx>& contexts = Gpu::Get().contexts;
  *handle = Gpu::Get().of_libraries.Make(
      cudnnContext{.part = contexts.empty() ? nullptr : contexts.back()}, kHandle);
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnDestroy(cudnnHandle_t handle) {
  const cudnnStatus_t result = RESULT_OF_CUDNN();
  Gpu::Get().of_libraries.Destroy(handle, kHandle);
  return result;
}
size_t cudnnGetVersion() { return CUDNN_VERSION; }
const char* cudnnGetErrorString(cudnnStatus_t status) {
  switch (status) {
    case CUDNN_STATUS_BAD_PARAM_STREAM_MISMATCH:
      return "CUDNN_STATUS_BAD_PARAM_STREAM_MISMATCH";
    case CUDNN_STATUS_NOT_SUPPORTED:
      return "CUDNN_STATUS_NOT_SUPPORTED";
    default:
      return "CUDNN_STATUS_INTERNAL_ERROR";
  }
}
// Like cuDNN's, tells the last error once and then forgets it.
void cudnnGetLastErrorString(char* message, size_t most) {
  std::snprintf(message, most, "%s", std::exchange(last_error, {}).c_str());
}

cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t stream) {
  ENTER_CUDNN();
  Gpu::Get().of_libraries.Check(handle, kHandle);
  const stagecraft::StandInGpu& played = Gpu::Get().played;
  const CUgreenCtx part = StreamOf(stream)->part;
  if ((played.cudnn_compares_contexts && part != handle->part) ||
      (played.cudnn_refuses_parts && part != nullptr)) {
    last_error = "the stream and the handle belong to different contexts";
    return CUDNN_STATUS_BAD_PARAM_STREAM_MISMATCH;
  }
  handle->stream = StreamOf(stream);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendCreateDescriptor(cudnnBackendDescriptorType_t type,
                                           cudnnBackendDescriptor_t* made) {
  ENTER_CUDNN();
  *made = Gpu::Get().of_libraries.Make(std::make_shared<Described>(Described{.type = type}),
                                       kDescriptor);
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t descriptor) {
  const cudnnStatus_t result = RESULT_OF_CUDNN();
  Gpu::Get().of_libraries.Destroy(descriptor, kDescriptor);
  return result;
}
cudnnStatus_t cudnnBackendSetAttribute(cudnnBackendDescriptor_t descriptor,
                                       cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type, int64_t count,
                                       const void* values) {
  ENTER_CUDNN();
  Described& own = Of(descriptor);
  if (own.is_final) return CUDNN_STATUS_BAD_PARAM;
  if (name == CUDNN_ATTR_ENGINEHEUR_SM_COUNT_TARGET && !Gpu::Get().played.cudnn_knows_parts) {
    last_error = "the attribute is not known";
    return CUDNN_STATUS_NOT_SUPPORTED;
  }
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

// Returns the only engine, which needs no workspace; none for a part of a device, like cuDNN 9.19.
cudnnStatus_t cudnnBackendGetAttribute(cudnnBackendDescriptor_t descriptor,
                                       cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t, int64_t wanted, int64_t* count,
                                       void* values) {
  ENTER_CUDNN();
  const Described& own = Of(descriptor);
  if (!own.is_final) return CUDNN_STATUS_BAD_PARAM;
  const auto target = own.numbers.find(CUDNN_ATTR_ENGINEHEUR_SM_COUNT_TARGET);
  const bool is_of_part =
      target != own.numbers.end() && target->second[0] != Gpu::Get().played.multiprocessors();
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
  gpu.of_libraries.Check(handle, kHandle);
  const Described& engine = Of(plan).at(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG);
  const Bound bound = Bind(engine.at(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH), Of(pack));
  if (!bound.is_aligned) return CUDNN_STATUS_BAD_PARAM_MISALIGNED_POINTER;
  const auto own = static_cast<int>(gpu.MultiprocessorsOf(handle->stream).size());
  const int all = gpu.played.multiprocessors();
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
      LIBRARY_FUNCTION(cudnnGetErrorString),
      LIBRARY_FUNCTION(cudnnGetLastErrorString),
      LIBRARY_FUNCTION(cudnnGetVersion),
  };
  return kFunctions;
}

}  // namespace stagecraft::stand_in
