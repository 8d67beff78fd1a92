#include "tools/validation/main_part.h"

#include <cstddef>
#include <utility>

#include "costmodel/units.h"

namespace stagecraft {
namespace {

// Returns the name of the largest part of at least `least`; parts that come first win ties.
template <typename Size, size_t kCount>
const char* Largest(const std::pair<const char*, Size> (&parts)[kCount], Size least,
                    const char* otherwise) {
  const char* name = otherwise;
  for (const auto& [part, size] : parts) {
    if (size < least || !(size > Size())) continue;
    name = part;
    least = size;
  }
  return name;
}

}  // namespace

const char* MainPart(const Evaluation& evaluation) {
  const Breakdown& time = evaluation.profile.breakdown;
  const std::pair<const char*, Duration> parts[] = {
      {"expert parallel", time.expert},
      {"context parallel", time.context},
      {"tensor parallel", time.tensor},
      {"between stages", time.pipeline},
      {"between replicas", time.data},
      {"optimizer", time.optimizer},
      {"launches of the host", evaluation.profile.host_wait},
      {"bubble", time.bubble},
  };
  return Largest(parts, Duration::Seconds(kLeastMainPart * evaluation.step_time.seconds()),
                 "computation alone");
}

const char* MainPart(const StageMemory& memory) {
  const std::pair<const char*, Bytes> parts[] = {
      {"weights, gradients, optimizer", memory.weights + memory.gradients + memory.optimizer},
      {"activations", memory.activations},
      {"buffers and framework", memory.workspace + memory.communication + memory.framework},
  };
  return Largest(parts, Bytes(), "nothing");
}

}  // namespace stagecraft
