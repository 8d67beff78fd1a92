// Gpu: all that CUDA's functions know of, in a program that has the stand-in for them.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runtime/cuda/stand_in/board.h"
#include "runtime/cuda/stand_in/heap.h"
#include "runtime/cuda/stand_in/virtual_time.h"

// CUDA's handles point to these, which its headers leave open.
struct CUgreenCtx_st {
  int board = 0;
  std::vector<int> multiprocessors;
};
struct CUstream_st {
  int board = 0;
  CUgreenCtx part = nullptr;
  stagecraft::stand_in::MarkPointer last = {};
  bool is_capturing = false, is_capture_spoilt = false;
  std::vector<stagecraft::stand_in::WorkPointer> captured = {};
};
struct CUevent_st {
  bool has_time = true, is_of_default_stream = false;
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
  int board = 0;
  size_t used = 0, most_used = 0, reserved = 0, threshold = 0;
};

namespace stagecraft::stand_in {

// The handles that are alive.
template <typename Object>
class Handles {
 public:
  Object* Make(Object object) {
    auto made = std::make_unique<Object>(std::move(object));
    Object* const handle = made.get();
    alive_.emplace(handle, std::move(made));
    return handle;
  }
  // Ends the program where it is not alive.
  Object& Get(Object* handle, const char* what) const {
    if (!alive_.contains(handle)) {
      BreakContract(std::string(what) + " is used that is not there, or no more");
    }
    return *handle;
  }
  void Destroy(Object* handle, const char* what) {
    Get(handle, what);
    alive_.erase(handle);
  }
  size_t count() const { return alive_.size(); }

 private:
  std::map<const Object*, std::unique_ptr<Object>> alive_;
};

// What libraries made for the program, which knows it by its address.
class LibraryObjects {
 public:
  template <typename Object>
  Object* Add(Object* made, const char* what) {
    alive_[made] = what;
    return made;
  }
  // End the program where it is not alive, or something else.
  void Check(const void* object, const char* what) const;
  void Remove(const void* object, const char* what);
  // How many of each kind are alive.
  std::map<std::string, size_t> counts() const;

 private:
  std::unordered_map<const void*, const char*> alive_;
};

struct Gpu {
  // The one of this process.
  static Gpu& Get();
  explicit Gpu(StandInBoard played);

  // A call of a function: counted, and so is its time. False where it is to fail.
  bool Call(const char* function);
  // The same of sensors, which a thread of their own may ask: it takes no time of the host's.
  bool CallOfSensors(const char* function);
  std::map<std::string, int> calls() const;

  // Whether what it would leave in memory is there afterwards.
  bool DoesWork(const Work& work) const;
  // Queues, or adds to what the stream captures; nullptr there.
  MarkPointer Give(cudaStream_t stream, Work work, MarkPointer waited = nullptr);
  void WaitFor(cudaStream_t stream);
  // Ends the program where a work of another stream touches what is not awaited.
  void CheckAwaited(const Work& work) const;
  // Takes memory of the board; false where too little is left.
  bool Reserve(int board_index, size_t bytes);
  // On which the stream's kernels run.
  std::vector<int> MultiprocessorsOf(cudaStream_t stream) const;
  std::vector<std::string> Leaks() const;

  const StandInBoard board;
  Heap heap;
  VirtualTime time;
  Handles<CUstream_st> streams;
  Handles<CUevent_st> events;
  Handles<CUgraph_st> graphs;
  Handles<CUgraphExec_st> executables;
  Handles<CUmemPoolHandle_st> pools;
  Handles<CUgreenCtx_st> parts;
  CUstream_st* const default_stream;  // one for all boards
  int current_board = 0;
  std::vector<CUgreenCtx> contexts;  // pushed by the program above the primary one
  cudaError_t last_error = cudaSuccess;
  std::vector<size_t> reserved;                  // by board
  std::map<const void*, cudaMemPool_t> pool_of;  // of memory that is from one
  LibraryObjects of_libraries;
  // What the default stream was given to write since anybody last waited for it: no other stream
  // does so by itself.
  std::vector<Range> unawaited;
  OperandCount operands;

 private:
  bool Count(const char* function);

  mutable std::mutex calls_mutex_;
  std::map<std::string, int, std::less<>> calls_;  // how often, by function
};

}  // namespace stagecraft::stand_in
