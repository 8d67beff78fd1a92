// StreamContext: makes the context of a stream the current one.
#pragma once

#include <cuda.h>
#include <cuda_runtime.h>

namespace stagecraft {

// The context is current until this object is destroyed, for the thread that made it. The stream of
// a part has a context of its own, which some libraries ask for; everything else here belongs to
// the primary context.
class StreamContext {
 public:
  // Throws Unsupported if the driver cannot tell the context of a stream.
  explicit StreamContext(cudaStream_t stream);
  ~StreamContext();
  CUcontext context() const { return context_; }
  StreamContext(const StreamContext&) = delete;
  StreamContext& operator=(const StreamContext&) = delete;

 private:
  CUcontext context_ = nullptr;
  CUresult (*pop_)(CUcontext*) = nullptr;
};

}  // namespace stagecraft
