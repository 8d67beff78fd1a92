// The functions of cuDNN that we call, and its descriptors as values.
#pragma once

#include <cudnn.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/cuda/device_op.h"
#include "runtime/cuda/shared_library.h"
#include "runtime/cuda/stream_context.h"

namespace stagecraft {

#define STAGECRAFT_CUDNN_TEXT_OF(x) #x
#define STAGECRAFT_CUDNN_TEXT(x) STAGECRAFT_CUDNN_TEXT_OF(x)
#define STAGECRAFT_CUDNN_FUNCTION(name) decltype(&::cudnn##name) name = library["cudnn" #name]

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
  ~Cudnn() {
    if (handle_ != nullptr) Destroy(handle_);
  }
  Cudnn(const Cudnn&) = delete;
  Cudnn& operator=(const Cudnn&) = delete;

  // The handle for the part of the current device that the stream belongs to, or for the whole
  // device if the stream is nullptr. It is made at the first call for that part, and under the
  // stream's own context if the library refuses streams of a context other than its handle's.
  cudnnHandle_t HandleFor(cudaStream_t stream) {
    if (handle_ != nullptr) return handle_;
    Check(Create(&handle_), "cudnnCreate");
    if (SetStream(handle_, stream) != CUDNN_STATUS_BAD_PARAM_STREAM_MISMATCH) return handle_;
    Destroy(std::exchange(handle_, nullptr));
    wants_context_ = true;
    const StreamContext own(stream);
    Check(Create(&handle_), "cudnnCreate");
    return handle_;
  }
  // Queues a plan with its arguments.
  void Execute(void* plan, void* arguments, cudaStream_t stream) {
    const cudnnHandle_t handle = HandleFor(stream);
    std::optional<StreamContext> own;
    if (wants_context_) own.emplace(stream);
    Check(SetStream(handle, stream), "cudnnSetStream");
    Check(BackendExecute(handle, plan, arguments), "cudnnBackendExecute");
  }

  // A status refuses one op: others may do.
  void Check(cudnnStatus_t status, const char* call) const {
    if (status == CUDNN_STATUS_SUCCESS) return;
    throw Unsupported(std::string(call) + " refuses with status " + std::to_string(status));
  }

 private:
  cudnnHandle_t handle_ = nullptr;
  bool wants_context_ = false;  // of the stream's, to be current
};

#undef STAGECRAFT_CUDNN_FUNCTION

// A descriptor of cuDNN's graph interface. Set() what it needs, then Finalize().
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
  Descriptor& SetArray(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                       int64_t count, const void* values) {
    library_->Check(library_->BackendSetAttribute(get(), name, type, count, values),
                    "cudnnBackendSetAttribute");
    return *this;
  }
  void Finalize() { library_->Check(library_->BackendFinalize(get()), "cudnnBackendFinalize"); }
  bool TryFinalize() { return library_->BackendFinalize(get()) == CUDNN_STATUS_SUCCESS; }

 private:
  struct Destroyer {
    const Cudnn* library;
    void operator()(void* descriptor) const { library->BackendDestroyDescriptor(descriptor); }
  };
  const Cudnn* library_;
  std::unique_ptr<void, Destroyer> descriptor_{nullptr, Destroyer{nullptr}};
};

}  // namespace stagecraft
