// DeviceOps: makes the ops of one device, and loads the vendor's libraries that they need.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "runtime/cuda/attention_op.h"
#include "runtime/cuda/device_op.h"
#include "runtime/cuda/gemm_op.h"
#include "runtime/profile/profile_case.h"

namespace stagecraft {

// One of the vendor's libraries. It is loaded for the first op that needs it, and not looked for
// again if it was missing. The ops that use it own it, too.
template <typename Library, std::shared_ptr<Library> (*load)()>
class Lazy {
 public:
  // Returns the library; throws Unsupported if it is missing.
  std::shared_ptr<Library> Get() {
    if (library_ == nullptr && reason_.empty()) {
      try {
        library_ = load();
      } catch (const Unsupported& missing) {
        reason_ = missing.what();
      }
    }
    if (library_ == nullptr) throw Unsupported(reason_);
    return library_;
  }

 private:
  std::shared_ptr<Library> library_;
  std::string reason_;
};

// The library of fused attention. Several DeviceOps of one device may share it, with what it has
// compiled: pass the same object to all of them. One thread must use them all.
using LazyAttentionLibrary = Lazy<AttentionLibrary, LoadAttentionLibrary>;

// Makes ops for the device that was current when this object was constructed. GEMMs share one
// workspace, so they must run one after another.
class DeviceOps {
 public:
  explicit DeviceOps(
      const GemmOptions& products = {}, const AttentionOptions& attention = {},
      std::shared_ptr<LazyAttentionLibrary> library = std::make_shared<LazyAttentionLibrary>())
      : products_(products), attention_(attention), attention_library_(std::move(library)) {}

  // Makes an op. Throws Unsupported if this device or its libraries cannot run it; for fused
  // attention, AttentionUnsupported if the library is installed and refuses.
  std::unique_ptr<DeviceOp> Make(const ProfileCase& one);
  // Returns the versions of what is installed: "cuda 13.0, driver for 13.0, cublasLt 13.1.0, cudnn
  // 9.19.0".
  std::string Software();

 private:
  GemmOptions products_;
  AttentionOptions attention_;
  Lazy<CublasLt, LoadCublasLt> cublas_;
  std::shared_ptr<LazyAttentionLibrary> attention_library_;
};

}  // namespace stagecraft
