#include "costmodel/check.h"
#include "runtime/cuda/cuda_timer.h"

namespace stagecraft {

std::unique_ptr<OpTimer> MakeCudaOpTimer(int, const std::string& place) {
  throw InputError(place +
                   ": got a CUDA device, want a build that has CUDA: this one was made where no "
                   "toolkit was found (CUDA_HOME says where one is)");
}

}  // namespace stagecraft
