// Records which kernels run on the CUDA devices of this process.
#pragma once

#include <memory>
#include <string>

#include "runtime/profile/kernel_trace.h"

namespace stagecraft {

// Makes a tracer. At most one may exist at a time. Throws an InputError, a sentence that begins
// with `place`, if this build has no CUDA or the machine no library CUPTI.
std::unique_ptr<KernelTracer> MakeCudaKernelTracer(const std::string& place);

}  // namespace stagecraft
