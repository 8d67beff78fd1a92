// Watches the kernels of the CUDA devices of this process.
#pragma once

#include <memory>
#include <string>

#include "runtime/profile/kernel_trace.h"

namespace stagecraft {

// At most one may exist at a time. Throws an InputError, a sentence that begins with `place`,
// without CUDA or without its library CUPTI.
std::unique_ptr<KernelTracer> MakeCudaKernelTracer(const std::string& place);

}  // namespace stagecraft
