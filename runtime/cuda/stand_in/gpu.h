// Gpu: the state of CUDA, in a program that is linked with the stand-in for it.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/cuda/stand_in/handles.h"
#include "runtime/cuda/stand_in/heap.h"
#include "runtime/cuda/stand_in/stand_in_gpu.h"
#include "runtime/cuda/stand_in/virtual_time.h"

// The types to which CUDA's handles point, and which its headers leave undefined.
struct CUgreenCtx_st {
  int device = 0;
  std::vector<int> multiprocessors;
};
struct CUstream_st {
  int device = 0;
  CUgreenCtx part = nullptr;
  stagecraft::stand_in::MarkPointer last = {};
  bool is_capturing = false, is_capture_spoilt = false;
  std::vector<stagecraft::stand_in::WorkPointer> captured = {};
};
struct CUevent_st {
  bool has_time = true;
  stagecraft::stand_in::MarkPointer recorded = {};
};
struct CUgraph_st {
  std::vector<stagecraft::stand_in::WorkPointer> works;
};
struct CUgraphExec_st {
  std::vector<stagecraft::stand_in::WorkPointer> works;
  stagecraft::stand_in::MarkPointer last = {};
};
struct CUmemPoolHandle_st {
  int device = 0;
  size_t used = 0, most_used = 0, reserved = 0, threshold = 0;
};

namespace stagecraft::stand_in {

struct Gpu {
  // Returns the only one of this process.
  static Gpu& Get();
  explicit Gpu(StandInGpu described);

  // Counts a call of a function, which costs the host some time. Returns false if the call must
  // fail.
  bool Call(const char* function);
  // Counts a call that reads sensors. A thread of its own may make such calls, so they do not
  // advance the host's clock, which belongs to the main thread.
  bool CallOfSensors(const char* function);
  std::map<std::string, int> calls() const;  // by function

  // Whether the work does what it would do to memory on a GPU.
  bool DoesWork(const Work& work) const;
  // Queues the work in the stream, to begin after the mark `waited` if there is one, and returns
  // the mark of its end. A stream that is capturing keeps the work for its graph and returns
  // nullptr.
  MarkPointer Give(cudaStream_t stream, Work work, MarkPointer waited = nullptr);
  // Lets the host wait until the stream has done everything that it was given.
  void WaitFor(cudaStream_t stream);
  // Ends the program if the work, which is about to run in this stream, touches `unawaited` memory.
  // The default stream does its own work in order. Work that is being captured does not run yet: it
  // is checked at each launch of its graph.
  void CheckAwaited(cudaStream_t stream, const Work& work) const;
  // Takes memory of the GPU; returns false if too little is left.
  bool Reserve(int device, size_t bytes);
  // Returns the multiprocessors on which the stream's kernels run.
  std::vector<int> MultiprocessorsOf(cudaStream_t stream) const;
  std::vector<std::string> Leaks() const;

  const StandInGpu played;
  Heap heap;
  VirtualTime time;
  Handles<CUstream_st> streams;
  Handles<CUevent_st> events;
  Handles<CUgraph_st> graphs;
  Handles<CUgraphExec_st> executables;
  Handles<CUmemPoolHandle_st> pools;
  Handles<CUgreenCtx_st> parts;
  CUstream_st* const default_stream;  // the only one, for all GPUs
  int current_device = 0;
  std::vector<CUgreenCtx> contexts;  // those that the program pushed above the primary one
  cudaError_t last_error = cudaSuccess;
  std::vector<size_t> reserved;                  // by GPU
  std::map<const void*, cudaMemPool_t> pool_of;  // of memory that comes from a pool
  LibraryObjects of_libraries;
  // Memory that the default stream was given to write since the host last waited for it. Other
  // streams do not wait for that by themselves. That a stream may wait by an event of the default
  // stream is not modelled.
  std::vector<Range> unawaited;
  OperandCount operands;

 private:
  bool Count(const char* function);

  mutable std::mutex calls_mutex_;
  std::map<std::string, int, std::less<>> calls_;
};

}  // namespace stagecraft::stand_in
