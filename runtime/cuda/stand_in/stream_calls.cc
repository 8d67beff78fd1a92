// CUDA's runtime: devices, streams, events and graphs.
#include <cstdio>
#include <cstring>

#include "runtime/cuda/stand_in/merged_works.h"
#include "runtime/cuda/stand_in/runtime_call.h"

using stagecraft::stand_in::MarkPointer;
using stagecraft::stand_in::Work;
using stagecraft::stand_in::WorkPointer;

namespace {

constexpr const char* kEvent = "an event";
constexpr const char* kGraph = "a graph";
// The time between the end of what precedes a graph in its stream and the graph's first work.
constexpr stagecraft::stand_in::Nanoseconds kGraphStart = 3'000;
constexpr int kBlackDie = 9;  // major compute capability of Hopper

bool IsDevice(int device) { return device >= 0 && device < Gpu::Get().played.gpus; }

// Waits for a stream; it is an error to wait for one that is being captured.
cudaError_t WaitFor(cudaStream_t stream) {
  if (stream->is_capturing) return Spoil(stream);
  Gpu::Get().WaitFor(stream);
  return cudaSuccess;
}

void Record(cudaEvent_t event, cudaStream_t stream) {
  event->recorded = Gpu::Get().Give(stream, {.name = kEvent});
}

}  // namespace

extern "C" {

cudaError_t cudaGetLastError() { return std::exchange(Gpu::Get().last_error, cudaSuccess); }
const char* cudaGetErrorString(cudaError_t status) {
  switch (status) {
    case cudaSuccess:
      return "no error";
    case cudaErrorMemoryAllocation:
      return "out of memory";
    case cudaErrorInsufficientDriver:
      return "CUDA driver version is insufficient for CUDA runtime version";
    case cudaErrorNoDevice:
      return "no CUDA-capable device is detected";
    default:
      return "an error of the stand-in";
  }
}
cudaError_t cudaRuntimeGetVersion(int* version) {
  ENTER(cudaErrorUnknown);
  *version = CUDART_VERSION;
  return cudaSuccess;
}
cudaError_t cudaDriverGetVersion(int* version) {
  ENTER(cudaErrorUnknown);
  *version = CUDART_VERSION;
  return cudaSuccess;
}

cudaError_t cudaGetDeviceCount(int* count) {
  ENTER(cudaErrorUnknown);
  if (Gpu::Get().played.driver_is_old) return Fail(cudaErrorInsufficientDriver);
  *count = Gpu::Get().played.gpus;
  return *count == 0 ? Fail(cudaErrorNoDevice) : cudaSuccess;
}
cudaError_t cudaGetDevice(int* device) {
  ENTER(cudaErrorUnknown);
  *device = Gpu::Get().current_device;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int device) {
  ENTER(cudaErrorUnknown);
  if (!IsDevice(device)) return Fail(cudaErrorInvalidDevice);
  Gpu::Get().current_device = device;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  ENTER(cudaErrorUnknown);
  if (!IsDevice(device)) return Fail(cudaErrorInvalidDevice);
  const stagecraft::StandInGpu& played = Gpu::Get().played;
  *properties = {};
  std::snprintf(properties->name, sizeof properties->name, "%s", played.name.c_str());
  properties->multiProcessorCount = played.multiprocessors();
  properties->l2CacheSize = static_cast<int>(played.cache);
  properties->totalGlobalMem = played.memory;
  properties->pciBusID = device + 1;
  properties->major = kBlackDie;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  ENTER(cudaErrorUnknown);
  if (!IsDevice(device)) return Fail(cudaErrorInvalidDevice);
  const stagecraft::StandInGpu& played = Gpu::Get().played;
  if (attribute == cudaDevAttrMultiProcessorCount)
    *value = played.multiprocessors();
  else if (attribute == cudaDevAttrL2CacheSize)
    *value = static_cast<int>(played.cache);
  else
    return Fail(cudaErrorNotSupported);
  return cudaSuccess;
}
cudaError_t cudaDeviceGetPCIBusId(char* bus, int length, int device) {
  ENTER(cudaErrorUnknown);
  if (!IsDevice(device)) return Fail(cudaErrorInvalidDevice);
  std::snprintf(bus, static_cast<size_t>(length), "0000:%02x:00.0", device + 1);
  return cudaSuccess;
}
cudaError_t cudaDeviceSynchronize() {
  ENTER(cudaErrorUnknown);
  Gpu::Get().time.WaitForAll();
  Gpu::Get().unawaited.clear();
  return cudaSuccess;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  ENTER(cudaErrorUnknown);
  *stream = Gpu::Get().streams.Make({.device = Gpu::Get().current_device});
  return cudaSuccess;
}
// Work that was queued on the stream is still done.
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  const cudaError_t result = RESULT_OF_RELEASE(cudaErrorUnknown);
  Gpu& gpu = Gpu::Get();
  const CUgreenCtx part = gpu.streams.Get(stream, "a stream").part;
  if (part != nullptr) gpu.parts.Get(part, "the green context of a stream that is destroyed");
  gpu.streams.Destroy(stream, "a stream");
  return result;
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  ENTER(cudaErrorUnknown);
  return WaitFor(StreamOf(stream));
}
cudaError_t cudaStreamQuery(cudaStream_t stream) {
  ENTER(cudaErrorUnknown);
  stream = StreamOf(stream);
  if (stream->is_capturing) return Spoil(stream);
  const bool is_over = stream->last == nullptr || Gpu::Get().time.IsOver(*stream->last);
  return is_over ? cudaSuccess : cudaErrorNotReady;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  ENTER(cudaErrorUnknown);
  const MarkPointer recorded = Gpu::Get().events.Get(event, kEvent).recorded;
  stream = StreamOf(stream);
  // A graph here may not contain work of other streams, let alone a wait for an event that was
  // never recorded.
  if (stream->is_capturing) return Spoil(stream);
  if (recorded != nullptr) Gpu::Get().Give(stream, {.name = "a wait"}, recorded);
  return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  ENTER(cudaErrorUnknown);
  *event = Gpu::Get().events.Make({.has_time = (flags & cudaEventDisableTiming) == 0});
  return cudaSuccess;
}
cudaError_t cudaEventCreate(cudaEvent_t* event) {
  ENTER(cudaErrorUnknown);
  *event = Gpu::Get().events.Make({});
  return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  const cudaError_t result = RESULT_OF_RELEASE(cudaErrorUnknown);
  Gpu::Get().events.Destroy(event, kEvent);
  return result;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  ENTER(cudaErrorUnknown);
  stream = StreamOf(stream);
  Gpu::Get().events.Get(event, kEvent);
  if (stream->is_capturing) return Spoil(stream);
  Record(event, stream);
  return cudaSuccess;
}
cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags) {
  ENTER(cudaErrorUnknown);
  stream = StreamOf(stream);
  Gpu::Get().events.Get(event, kEvent);
  if (!stream->is_capturing) {
    Record(event, stream);
    return cudaSuccess;
  }
  if ((flags & cudaEventRecordExternal) == 0) return Spoil(stream);
  Gpu::Get().Give(stream, {.name = kEvent, .records = event});
  return cudaSuccess;
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  ENTER(cudaErrorUnknown);
  const MarkPointer recorded = Gpu::Get().events.Get(event, kEvent).recorded;
  if (recorded != nullptr) Gpu::Get().time.WaitFor(*recorded);
  return cudaSuccess;
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
  ENTER(cudaErrorUnknown);
  const MarkPointer recorded = Gpu::Get().events.Get(event, kEvent).recorded;
  const bool is_over = recorded == nullptr || Gpu::Get().time.IsOver(*recorded);
  return is_over ? cudaSuccess : cudaErrorNotReady;
}
cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t begin, cudaEvent_t end) {
  ENTER(cudaErrorUnknown);
  constexpr double kNanosecondsPerMillisecond = 1e6;
  Gpu& gpu = Gpu::Get();
  for (const cudaEvent_t event : {begin, end}) {
    const CUevent_st& own = gpu.events.Get(event, kEvent);
    if (!own.has_time || own.recorded == nullptr) return Fail(cudaErrorInvalidResourceHandle);
    if (!gpu.time.IsOver(*own.recorded)) return Fail(cudaErrorNotReady);
  }
  *ms = static_cast<float>(static_cast<double>(end->recorded->at - begin->recorded->at) /
                           kNanosecondsPerMillisecond);
  return cudaSuccess;
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
  ENTER(cudaErrorStreamCaptureUnsupported);
  stream = StreamOf(stream);
  if (stream->is_capturing || stream == Gpu::Get().default_stream) {
    return Fail(cudaErrorStreamCaptureUnsupported);
  }
  stream->is_capturing = true;
  return cudaSuccess;
}
// Ends the capture even if the call fails.
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  stream = StreamOf(stream);
  *graph = nullptr;
  const bool is_spoilt = std::exchange(stream->is_capture_spoilt, false);
  if (!std::exchange(stream->is_capturing, false)) return Fail(cudaErrorIllegalState);
  std::vector<WorkPointer> works = std::exchange(stream->captured, {});
  ENTER(cudaErrorStreamCaptureInvalidated);
  if (is_spoilt) return Fail(cudaErrorStreamCaptureInvalidated);
  *graph = Gpu::Get().graphs.Make({.works = std::move(works)});
  return cudaSuccess;
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  const cudaError_t result = RESULT_OF_RELEASE(cudaErrorUnknown);
  Gpu::Get().graphs.Destroy(graph, kGraph);
  return result;
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph,
                                 unsigned long long) {
  ENTER(cudaErrorMemoryAllocation);
  Gpu& gpu = Gpu::Get();
  *executable =
      gpu.executables.Make({.works = Merge(gpu.graphs.Get(graph, kGraph).works, gpu.heap)});
  return cudaSuccess;
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
  const cudaError_t result = RESULT_OF_RELEASE(cudaErrorUnknown);
  Gpu::Get().executables.Destroy(executable, "an executable graph");
  return result;
}
cudaError_t cudaGraphUpload(cudaGraphExec_t executable, cudaStream_t stream) {
  ENTER(cudaErrorMemoryAllocation);
  Gpu::Get().executables.Get(executable, "an executable graph");
  if (StreamOf(stream)->is_capturing) return Spoil(stream);
  return cudaSuccess;
}
// Launches a graph, which waits for the end of its own last launch, in whatever stream that was.
cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream) {
  ENTER(cudaErrorUnknown);
  Gpu& gpu = Gpu::Get();
  CUgraphExec_st& own = gpu.executables.Get(executable, "an executable graph");
  stream = StreamOf(stream);
  if (stream->is_capturing) return Spoil(stream);
  stream->last =
      gpu.time.Queue(std::make_shared<const Work>(Work{.name = kGraph, .duration = kGraphStart}),
                     stream->last, nullptr);
  MarkPointer before = own.last;
  for (const WorkPointer& work : own.works) {
    gpu.CheckAwaited(stream, *work);
    if (work->records != nullptr) {
      Record(&gpu.events.Get(work->records, kEvent), stream);
      continue;
    }
    stream->last = gpu.time.Queue(work, stream->last, std::exchange(before, nullptr));
  }
  own.last = stream->last;
  return cudaSuccess;
}

}  // extern "C"
