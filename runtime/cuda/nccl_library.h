// NcclLibrary: NCCL's functions, with which the program is not linked.
#pragma once

#include <nccl.h>

#include <memory>
#include <stdexcept>
#include <string>

#include "costmodel/check.h"
#include "runtime/cuda/device_op.h"
#include "runtime/cuda/shared_library.h"

namespace stagecraft {

#define STAGECRAFT_NCCL_FUNCTION(name) decltype(&::nccl##name) name = library["nccl" #name]

struct NcclLibrary {
  explicit NcclLibrary(const std::string& name) : library(name) {}

  SharedLibrary library;
  STAGECRAFT_NCCL_FUNCTION(GetVersion);
  STAGECRAFT_NCCL_FUNCTION(GetUniqueId);
  STAGECRAFT_NCCL_FUNCTION(GetErrorString);
  STAGECRAFT_NCCL_FUNCTION(GetLastError);
  STAGECRAFT_NCCL_FUNCTION(CommInitAll);
  STAGECRAFT_NCCL_FUNCTION(CommInitRank);
  STAGECRAFT_NCCL_FUNCTION(CommSplit);
  STAGECRAFT_NCCL_FUNCTION(CommDestroy);
  STAGECRAFT_NCCL_FUNCTION(CommAbort);
  STAGECRAFT_NCCL_FUNCTION(CommGetAsyncError);
  STAGECRAFT_NCCL_FUNCTION(GroupStart);
  STAGECRAFT_NCCL_FUNCTION(GroupEnd);
  STAGECRAFT_NCCL_FUNCTION(AllReduce);
  STAGECRAFT_NCCL_FUNCTION(AllGather);
  STAGECRAFT_NCCL_FUNCTION(ReduceScatter);
  STAGECRAFT_NCCL_FUNCTION(Broadcast);
  STAGECRAFT_NCCL_FUNCTION(Send);
  STAGECRAFT_NCCL_FUNCTION(Recv);

  void Check(ncclResult_t status, const char* call) const {
    if (status == ncclSuccess) return;
    throw std::runtime_error(std::string(call) + ": " + GetErrorString(status) + " (" +
                             GetLastError(nullptr) + ")");
  }

  // Returns the version: "2.28.9".
  std::string Version() const {
    int version = 0;
    Check(GetVersion(&version), "ncclGetVersion");
    return std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
           std::to_string(version % 100);
  }
};

#undef STAGECRAFT_NCCL_FUNCTION

// Loads NCCL. Throws an InputError if it is not installed; `users`, such as "run: got 2 processes",
// begins the sentence.
inline std::unique_ptr<NcclLibrary> LoadNccl(const std::string& users,
                                             const std::string& name = "libnccl.so.2") {
  try {
    return std::make_unique<NcclLibrary>(name);
  } catch (const Unsupported& missing) {
    throw InputError(users + ", want NCCL, with which they communicate: " + missing.what());
  }
}

}  // namespace stagecraft
