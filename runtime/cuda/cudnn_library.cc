#include "runtime/cuda/cudnn_library.h"

#include <array>

namespace stagecraft {

Cudnn::~Cudnn() {
  for (const auto& [context, handle] : handles_) Destroy(handle);
}

// Returns the handle for the current context, which must be `context`, or the device's primary one
// if that is nullptr. The handle is made at the first call for its context. If none can be made for
// the primary context, the library is treated as missing, and the failure does not count as a
// refusal of attention.
cudnnHandle_t Cudnn::HandleOf(CUcontext context) {
  const auto made = handles_.find(context);
  if (made != handles_.end()) return made->second;
  cudnnHandle_t handle = nullptr;
  const cudnnStatus_t status = Create(&handle);
  if (status != CUDNN_STATUS_SUCCESS && context == nullptr) {
    throw Unsupported(Refusal(status, "cudnnCreate"));
  }
  Check(status, "cudnnCreate");
  return handles_[context] = handle;
}

void Cudnn::Check(cudnnStatus_t status, const char* call) const {
  if (status != CUDNN_STATUS_SUCCESS) throw AttentionUnsupported(Refusal(status, call));
}

std::string Cudnn::Refusal(cudnnStatus_t status, const char* call) const {
  const std::string details = LastError();
  return std::string(call) + " refuses with " + StatusText(get_name_, status) +
         (details.empty() ? "" : ": " + details);
}

// Returns the first line of the library's message about its last error, which the library then
// forgets.
std::string Cudnn::LastError() const {
  std::array<char, 512> text = {};
  if (get_last_error_ != nullptr) get_last_error_(text.data(), text.size() - 1);
  const std::string all = text.data();
  return all.substr(0, all.find('\n'));
}

CudnnStream::CudnnStream(Cudnn& library, cudaStream_t stream) {
  if (!library.wants_contexts_) {
    handle_ = library.HandleOf(nullptr);
    const cudnnStatus_t status = library.SetStream(handle_, stream);
    if (status == CUDNN_STATUS_SUCCESS) return;
    if (status != CUDNN_STATUS_BAD_PARAM_STREAM_MISMATCH) library.Check(status, "cudnnSetStream");
    library.wants_contexts_ = true;
    library.ForgetErrors();
  }
  own_.emplace(stream);
  handle_ = library.HandleOf(own_->context());
  library.Check(library.SetStream(handle_, stream), "cudnnSetStream");
}

}  // namespace stagecraft
