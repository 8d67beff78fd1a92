// The functions of cuBLASLt that are used here, and its objects as values.
#pragma once

#include <cublasLt.h>

#include <memory>
#include <string>

#include "runtime/cuda/cuda_call.h"
#include "runtime/cuda/device_op.h"
#include "runtime/cuda/shared_library.h"

namespace stagecraft {

#define STAGECRAFT_TEXT_OF(x) #x
#define STAGECRAFT_TEXT(x) STAGECRAFT_TEXT_OF(x)
#define STAGECRAFT_CUBLAS_FUNCTION(name) \
  decltype(&::cublasLt##name) name = library["cublasLt" #name]

// The size in bytes of the workspace that cuBLAS takes by default on Hopper.
constexpr size_t kWorkspace = size_t{32} << 20;

// The loaded library cuBLASLt, with a handle and a workspace of the device that was current when it
// was made. Ops that use the workspace must run one after another.
class CublasLt {
 public:
  CublasLt() : workspace(kWorkspace) { Check(Create(&handle)); }
  ~CublasLt() { Destroy(handle); }
  CublasLt(const CublasLt&) = delete;
  CublasLt& operator=(const CublasLt&) = delete;

  SharedLibrary library{"libcublasLt.so." STAGECRAFT_TEXT(CUBLAS_VER_MAJOR)};
  STAGECRAFT_CUBLAS_FUNCTION(Create);
  STAGECRAFT_CUBLAS_FUNCTION(Destroy);
  STAGECRAFT_CUBLAS_FUNCTION(GetVersion);
  STAGECRAFT_CUBLAS_FUNCTION(Matmul);
  STAGECRAFT_CUBLAS_FUNCTION(MatmulAlgoGetHeuristic);
  STAGECRAFT_CUBLAS_FUNCTION(MatmulDescCreate);
  STAGECRAFT_CUBLAS_FUNCTION(MatmulDescDestroy);
  STAGECRAFT_CUBLAS_FUNCTION(MatmulDescSetAttribute);
  STAGECRAFT_CUBLAS_FUNCTION(MatrixLayoutCreate);
  STAGECRAFT_CUBLAS_FUNCTION(MatrixLayoutDestroy);
  STAGECRAFT_CUBLAS_FUNCTION(MatrixLayoutSetAttribute);
  STAGECRAFT_CUBLAS_FUNCTION(MatmulPreferenceCreate);
  STAGECRAFT_CUBLAS_FUNCTION(MatmulPreferenceDestroy);
  STAGECRAFT_CUBLAS_FUNCTION(MatmulPreferenceSetAttribute);
  // Throws Unsupported unless the status says success. This refuses a single op; others may run.
  void Check(cublasStatus_t status) const {
    if (status == CUBLAS_STATUS_SUCCESS) return;
    throw Unsupported("cuBLASLt refuses with " + StatusText(get_name_, status));
  }

  cublasLtHandle_t handle = nullptr;
  DeviceMemory workspace;

 private:
  // Returns the name of a status; nullptr if the library has no such function.
  decltype(&::cublasLtGetStatusName) get_name_ = library.Find("cublasLtGetStatusName");
};

#undef STAGECRAFT_CUBLAS_FUNCTION

}  // namespace stagecraft
