// Reads files of cluster events, and simulates a run to which they happen.
#include "costmodel/proto_file.h"
#include "costmodel/random.h"
#include "costmodel/units.h"
#include "proto/job_events.pb.h"
#include "sim/cluster/cluster_spec.h"
#include "sim/job/job_events_proto.h"
#include "sim/job/job_run.h"
#include "tests/fuzz/fuzzing.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace stagecraft;
  static const Cluster cluster = ParseCluster("h100-sxm:2x8");
  const std::string text = fuzz::Text(data, size);
  const auto read = [&](const std::string& extension, const std::string& name) {
    JobEventsProto proto;
    ParseProtoText(text, name, extension, &proto);
    JobEvents events = JobEventsFromProto(proto, cluster, name);
    RunSpec spec;
    spec.cluster = &cluster;
    spec.steps = 20;
    spec.events = std::move(events.events);
    spec.nodes_per_rack = events.nodes_per_rack;
    spec.recovery.detection = Duration::Seconds(1);
    spec.step = [](const ClusterState&, int) {
      return std::optional(RunningStep{Duration::Seconds(10), 16, {}});
    };
    try {
      const History history = SimulateRun(spec, Random(1));
      CHECK(history.totals.time >= 20 * Duration::Seconds(10));
    } catch (const RunCannotContinue&) {
    }
  };
  if (fuzz::AcceptsInSomeFormat(read)) fuzz::CountAccepted();
  return 0;
}
