#include "tools/run/run_host.h"

#include <algorithm>
#include <ostream>
#include <string>

#include "costmodel/link.h"
#include "costmodel/proto_file.h"
#include "costmodel/units.h"
#include "proto/timeline.pb.h"
#include "runtime/host_processor.h"
#include "runtime/processor_count.h"
#include "runtime/scratch_folder.h"
#include "sim/cluster/cluster_proto.h"
#include "sim/schedule/schedule_proto.h"
#include "sim/schedule/timeline_record_proto.h"
#include "tools/import/local_host.h"
#include "tools/run/host_ranks.h"
#include "tools/run/rank_request.h"
#include "tools/run/step_lines.h"

namespace stagecraft {

Cluster ThisHost() {
  LocalHost host;
  host.processor = NominalProcessor();
  host.processors = std::max(2, ProcessorCount());
  host.message = {LinkKind::kHost, 5_us, host.processor.memory_bandwidth};
  return ClusterFromProto(LocalHostCluster(host), "this host");
}

std::optional<TimelineRecord> RunOnHost(const Schedule& schedule, const RunRequest& request,
                                        std::ostream& err) {
  const ScratchFolder folder;
  const std::string input = folder.File("schedule.pb"), asked = folder.File("request.pb"),
                    output = folder.File("timeline.pb");
  WriteFileAtomically(input, ToProto(schedule).SerializeAsString());
  const RankRequest ranks = {.speeds = request.speeds, .counts = request.steps};
  WriteFileAtomically(asked, ToProto(ranks).SerializeAsString());
  StepLines lines(err, request.quiet);
  const bool has_ended = RunHostRanks(
      static_cast<int>(schedule.ranks().size()), {input, asked, output},
      [&](const std::string& line) { lines.Show(line); }, request.stop);
  if (!has_ended) return std::nullopt;
  TimelineProto timeline;
  ReadProtoFile(output, &timeline);
  return TimelineRecordFromProto(timeline, "timeline");
}

}  // namespace stagecraft
