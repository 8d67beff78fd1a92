// Reads SQLite databases of Nsight Systems and makes timelines and samples of them.
#include <vector>

#include "costmodel/check.h"
#include "costmodel/device.h"
#include "costmodel/learned/sample.h"
#include "costmodel/units.h"
#include "sim/cluster/cluster.h"
#include "sim/cluster/cluster_spec.h"
#include "tests/fuzz/recorded_traces.h"
#include "tests/fuzz/temporary_file.h"
#include "tools/recorded/kernel_places.h"
#include "tools/recorded/nccl_groups.h"
#include "tools/recorded/nsys_reader.h"
#include "tools/recorded/recording.h"
#include "tools/recorded/trace_samples.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace stagecraft;
  static const Cluster cluster = ParseCluster("h100-sxm:1x2");
  const fuzz::TemporaryFile file(data, size, ".sqlite");
  if (fuzz::Accepts([&] { fuzz::CheckTimeline(ReadNsys(file.path())); })) fuzz::CountAccepted();
  fuzz::Accepts([&] {
    std::vector<Recording> recordings = ReadNsys(file.path());
    for (Recording& recording : recordings) PlaceKernels(recording);
    FindNcclGroups(cluster.device_count(), recordings);
    for (const Sample& sample :
         SamplesOf(recordings, {.gpu = "h100-sxm", .format = DType::kBf16, .cluster = &cluster})
             .gemms) {
      CHECK(sample.time > Duration());
    }
  });
  return 0;
}
