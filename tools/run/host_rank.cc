// A process that executes one rank of a schedule on this host, or takes part in measuring the host.
//   stagecraft_host_rank SCHEDULE.pb WARM_UP WARM_UP_NS STEPS STEPS_NS OUT.pb
//   stagecraft_host_rank CLUSTER.pb
#include <fmt/core.h>
#include <sys/resource.h>

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "costmodel/check.h"
#include "costmodel/proto_file.h"
#include "costmodel/units.h"
#include "runtime/host_executor.h"
#include "runtime/host_messages.h"
#include "runtime/host_ops.h"
#include "runtime/host_processor.h"
#include "runtime/measured_steps.h"
#include "runtime/mpi_world.h"
#include "runtime/rank_launcher.h"
#include "runtime/rank_program.h"
#include "runtime/shaped_work.h"
#include "sim/schedule/schedule_proto.h"
#include "sim/schedule/timeline_record.h"
#include "sim/schedule/timeline_record_proto.h"
#include "tools/import/local_host.h"
#include "tools/verb/command.h"

namespace stagecraft {
namespace {

void Say(const std::string& text) {
  std::fputs(RankLine(text).c_str(), stderr);
  std::fflush(stderr);
}

// Returns the most memory that this process has held at once.
Bytes PeakMemory() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return Bytes(int64_t{usage.ru_maxrss} << 10);
}

void Execute(MpiWorld& world, char** words) {
  ScheduleProto proto;
  ReadProtoFile(words[1], &proto);
  const Schedule schedule = ScheduleFromProto(proto, words[1]);
  ShapedWork work(schedule, MakeRankProgram(schedule, world.rank()));
  HostExecutor executor(world, work);
  const auto count = [](const char* least, const char* time) {
    return StepCount{std::stoi(least), Duration::Nanoseconds(std::stoll(time))};
  };
  const StepCounts counts = {count(words[2], words[3]), count(words[4], words[5])};
  const bool speaks = world.rank() == 0;
  const MeasuredSteps measured = MeasureSteps(executor, schedule, counts, [&](int done) {
    if (speaks) Say(fmt::format("step {}", done));
  });
  std::vector<int64_t> held(world.size());
  held[world.rank()] = PeakMemory().count();
  world.Max(held);
  if (!speaks) return;
  TimelineRecord record{.schedule = schedule,
                        .timeline = measured.timeline,
                        .peak_memory = {},
                        .op_times = {},
                        .measurement = Measurement{.executor = "host",
                                                   .software = MpiWorld::Software(),
                                                   .devices = {},
                                                   .steps = measured.steps,
                                                   .task_sigma = measured.task_sigma,
                                                   .gpus = {},
                                                   .queued_late = {}},
                        .host_wait = {}};
  for (const int64_t bytes : held) record.peak_memory.emplace_back(bytes);
  record.measurement->devices.assign(world.size(), ProcessorName());
  WriteFileAtomically(words[6], ToProto(record).SerializeAsString());
}

void MeasureHost(MpiWorld& world, const std::string& output) {
  HostOps ops(kLargestRated);
  LocalHost host;
  host.processors = world.size();
  world.Barrier();
  host.processor = MeasureProcessor(ops);
  world.Barrier();
  host.message = MeasureMessages(world);
  if (world.rank() != 0) return;
  WriteFileAtomically(output, LocalHostCluster(host).SerializeAsString());
}

int Run(int argc, char** argv) {
  MpiWorld world;
  try {
    if (argc == 2) {
      MeasureHost(world, argv[1]);
    } else {
      Execute(world, argv);
    }
    return kExitOk;
  } catch (const InputError& error) {  // all ranks throw the same error
    if (world.rank() == 0) Say(error.what());
    return kExitBadInput;
  } catch (const std::exception& error) {
    world.Abort(RankLine(fmt::format("rank {}: {}", world.rank(), error.what())));
  }
}

}  // namespace
}  // namespace stagecraft

int main(int argc, char** argv) {
  if (argc != 2 && argc != 7) {
    std::fputs(
        "usage: stagecraft_host_rank SCHEDULE.pb WARM_UP WARM_UP_NS STEPS STEPS_NS OUT.pb | "
        "CLUSTER.pb\n",
        stderr);
    return stagecraft::kExitBadInput;
  }
  return stagecraft::Run(argc, argv);
}
