// The search for GPUs and the measurement of parts, while any one call fails.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "runtime/cuda/local_gpus.h"
#include "runtime/cuda/stand_in/failing_calls.h"
#include "runtime/cuda/stand_in/stand_in_gpu.h"

namespace stagecraft {
namespace {

TEST(FailingProbeTest, WhicheverFailsGpusAreFoundOrTheReasonIsTold) {
  FailEveryCall(CheckedGpu(), [] {
    const std::vector<LocalGpu> gpus = FindLocalGpus("import");
    return gpus.size() == 1 && gpus[0].multiprocessors == 132 ? "" : "no GPU";
  });
}

TEST(FailingProbeTest, WhicheverFailsPartsAreMeasuredOrTheReasonIsTold) {
  FailEveryCall(CheckedGpu(), [] {
    const std::vector<int> parts = {64, 68};
    const PartsProbe probe = ProbeParts(0, parts, "import");
    return probe.copies.size() == 2 ? "" : "no copies";
  });
}

}  // namespace
}  // namespace stagecraft
