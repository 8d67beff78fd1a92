// The functions of cuDNN that are used here, and its descriptors as values.
#pragma once

#include <cuda.h>
#include <cudnn.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/cuda/device_op.h"
#include "runtime/cuda/shared_library.h"
#include "runtime/cuda/stream_context.h"

namespace stagecraft {

#define STAGECRAFT_CUDNN_TEXT_OF(x) #x
#define STAGECRAFT_CUDNN_TEXT(x) STAGECRAFT_CUDNN_TEXT_OF(x)
#define STAGECRAFT_CUDNN_FUNCTION(name) decltype(&::cudnn##name) name = library["cudnn" #name]

// The loaded library cuDNN, with the handles that it made: one for the device that is current when
// it is first used, or one for each context (CudnnStream). They are destroyed with this object.
// Only one thread may use a Cudnn and what belongs to it: a handle has one stream at a time, and
// the library keeps one last error.
class Cudnn {
 public:
  SharedLibrary library{"libcudnn.so." STAGECRAFT_CUDNN_TEXT(CUDNN_MAJOR)};
  STAGECRAFT_CUDNN_FUNCTION(BackendCreateDescriptor);
  STAGECRAFT_CUDNN_FUNCTION(BackendDestroyDescriptor);
  STAGECRAFT_CUDNN_FUNCTION(BackendSetAttribute);
  STAGECRAFT_CUDNN_FUNCTION(BackendGetAttribute);
  STAGECRAFT_CUDNN_FUNCTION(BackendFinalize);
  STAGECRAFT_CUDNN_FUNCTION(BackendExecute);
  STAGECRAFT_CUDNN_FUNCTION(Create);
  STAGECRAFT_CUDNN_FUNCTION(Destroy);
  STAGECRAFT_CUDNN_FUNCTION(SetStream);
  STAGECRAFT_CUDNN_FUNCTION(GetVersion);

  Cudnn() = default;
  ~Cudnn();
  Cudnn(const Cudnn&) = delete;
  Cudnn& operator=(const Cudnn&) = delete;

  // Throws AttentionUnsupported unless the status, which `call` returned, says success. This
  // refuses a single op; others may run.
  void Check(cudnnStatus_t status, const char* call) const;
  // Call this after a call that was allowed to fail and did, so that what the library says about it
  // is not taken for the reason of a later failure.
  void ForgetErrors() const { LastError(); }

 private:
  friend class CudnnStream;

  cudnnHandle_t HandleOf(CUcontext context);
  std::string Refusal(cudnnStatus_t status, const char* call) const;
  std::string LastError() const;

  // Functions that tell what went wrong; nullptr if the library does not have them.
  decltype(&::cudnnGetErrorString) get_name_ = library.Find("cudnnGetErrorString");
  decltype(&::cudnnGetLastErrorString) get_last_error_ = library.Find("cudnnGetLastErrorString");
  std::map<CUcontext, cudnnHandle_t> handles_;  // by context; nullptr: the device's primary one
  // Whether cuDNN has refused a stream of another context than its handle's, so that each context
  // needs a handle of its own.
  bool wants_contexts_ = false;
};

// A stream into which cuDNN is about to launch, and the handle that is set to it, which belongs to
// the library. One handle serves all streams of a device, also those of its parts, unless cuDNN
// refuses a stream of another context than its handle's. From then on each context has a handle of
// its own, and the context of the stream is the current one of this thread for as long as this
// object lives: the thread that made it must destroy it before it makes the next.
class CudnnStream {
 public:
  // `stream` may be nullptr, the default stream. Throws AttentionUnsupported if cuDNN refuses the
  // stream under every context.
  CudnnStream(Cudnn& library, cudaStream_t stream);
  cudnnHandle_t handle() const { return handle_; }
  // Returns the context of the handle; nullptr: the one handle of the device. Streams with equal
  // contexts share their handle, and what was compiled for it.
  CUcontext context() const { return own_ ? own_->context() : nullptr; }

 private:
  std::optional<StreamContext> own_;
  cudnnHandle_t handle_ = nullptr;
};

#undef STAGECRAFT_CUDNN_FUNCTION

// A descriptor of cuDNN's graph interface. Call Set() for what it needs, then Finalize().
class Descriptor {
 public:
  Descriptor(const Cudnn& library, cudnnBackendDescriptorType_t type) : library_(&library) {
    cudnnBackendDescriptor_t made = nullptr;
    library.Check(library.BackendCreateDescriptor(type, &made), "cudnnBackendCreateDescriptor");
    descriptor_ = {made, Destroyer{&library}};
  }

  void* get() const { return descriptor_.get(); }

  template <typename Value>
  Descriptor& Set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                  const Value& value) {
    return SetArray(name, type, 1, &value);
  }
  Descriptor& Set(cudnnBackendAttributeName_t name, const std::vector<int64_t>& values) {
    return SetArray(name, CUDNN_TYPE_INT64, static_cast<int64_t>(values.size()), values.data());
  }
  Descriptor& Set(cudnnBackendAttributeName_t name, const Descriptor& other) {
    void* const descriptor = other.get();
    return SetArray(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &descriptor);
  }
  // Sets an attribute, and returns true; false if the library does not know the attribute.
  template <typename Value>
  bool TrySet(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
              const Value& value) {
    return Try(library_->BackendSetAttribute(get(), name, type, 1, &value));
  }
  Descriptor& SetArray(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                       int64_t count, const void* values) {
    library_->Check(library_->BackendSetAttribute(get(), name, type, count, values),
                    "cudnnBackendSetAttribute");
    return *this;
  }
  void Finalize() { library_->Check(library_->BackendFinalize(get()), "cudnnBackendFinalize"); }
  bool TryFinalize() { return Try(library_->BackendFinalize(get())); }

 private:
  bool Try(cudnnStatus_t status) const {
    if (status != CUDNN_STATUS_SUCCESS) library_->ForgetErrors();
    return status == CUDNN_STATUS_SUCCESS;
  }

  struct Destroyer {
    const Cudnn* library;
    void operator()(void* descriptor) const { library->BackendDestroyDescriptor(descriptor); }
  };
  const Cudnn* library_;
  std::unique_ptr<void, Destroyer> descriptor_{nullptr, Destroyer{nullptr}};
};

}  // namespace stagecraft
