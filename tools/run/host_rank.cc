// A process that executes one rank of a schedule on this host, or takes part in measuring the host.
//   stagecraft_host_rank SCHEDULE.pb REQUEST.pb OUT.pb
//   stagecraft_host_rank CLUSTER.pb
#include <fmt/core.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
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
#include "runtime/rank_work.h"
#include "runtime/shaped_work.h"
#include "runtime/slowed_work.h"
#include "runtime/stateful_work.h"
#include "runtime/training_process.h"
#include "runtime/training_state.h"
#include "sim/schedule/schedule_proto.h"
#include "sim/schedule/timeline_record.h"
#include "sim/schedule/timeline_record_proto.h"
#include "tools/import/local_host.h"
#include "tools/run/rank_request.h"
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

// Everything that a rank needs to execute steps, at its speed and with its state.
class RankRun {
 public:
  RankRun(const Schedule& schedule, const RankRequest& request, MpiWorld& world)
      : schedule_(schedule),
        request_(request),
        world_(world),
        shaped_(schedule, MakeRankProgram(schedule, world.rank())),
        executor_(world, SlowedOrNot(WithStateOrNot())) {}

  // Returns what the timeline is made of; nothing after a rehearsal. `state` is set if there is
  // one.
  std::optional<MeasuredSteps> Execute(std::optional<uint64_t>* state) {
    const auto progress = [this](int64_t done) {
      if (world_.rank() == 0) Say(fmt::format("step {}", done));
    };
    if (!request_.training) return MeasureSteps(executor_, schedule_, request_.counts, progress);
    TrainedSteps trained =
        TrainOnHost(*request_.training, schedule_, world_, executor_, *state_, progress);
    if (request_.training->is_rehearsal) return std::nullopt;
    *state = trained.fingerprint;
    return std::move(trained.measured);
  }

 private:
  RankWork& WithStateOrNot() {
    if (!request_.training || world_.rank() >= std::ssize(request_.states)) return shaped_;
    state_.emplace(request_.states[world_.rank()], world_.rank());
    return stateful_.emplace(schedule_, shaped_, *state_);
  }
  RankWork& SlowedOrNot(RankWork& work) {
    const bool is_slow =
        world_.rank() < std::ssize(request_.speeds) && request_.speeds[world_.rank()] < 1;
    if (!is_slow) return work;
    return slowed_.emplace(work, request_.speeds[world_.rank()]);
  }

  const Schedule& schedule_;
  const RankRequest& request_;
  MpiWorld& world_;
  ShapedWork shaped_;
  std::optional<TrainingState> state_;
  std::optional<StatefulWork> stateful_;
  std::optional<SlowedWork> slowed_;
  HostExecutor executor_;
};

void Execute(MpiWorld& world, char** words) {
  ScheduleProto proto;
  ReadProtoFile(words[1], &proto);
  const Schedule schedule = ScheduleFromProto(proto, words[1]);
  RankRequestProto request_proto;
  ReadProtoFile(words[2], &request_proto);
  const RankRequest request = RankRequestFromProto(request_proto);
  std::optional<uint64_t> state;
  std::optional<MeasuredSteps> measured = RankRun(schedule, request, world).Execute(&state);
  if (!measured) return;
  std::vector<int64_t> held(world.size());
  held[world.rank()] = PeakMemory().count();
  world.Max(held);
  if (world.rank() != 0) return;
  if (state) Say(fmt::format("state {:016x}", *state));
  TimelineRecord record{.schedule = schedule,
                        .timeline = std::move(measured->timeline),
                        .peak_memory = {},
                        .op_times = {},
                        .measurement = Measurement{.executor = "host",
                                                   .software = MpiWorld::Software(),
                                                   .devices = {},
                                                   .steps = measured->steps,
                                                   .task_sigma = measured->task_sigma,
                                                   .gpus = {},
                                                   .queued_late = {}},
                        .host_wait = {},
                        .kernels = {}};
  for (const int64_t bytes : held) record.peak_memory.emplace_back(bytes);
  record.measurement->devices.assign(world.size(), ProcessorName());
  WriteFileAtomically(words[3], ToProto(record).SerializeAsString());
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
  if (argc != 2 && argc != 4) {
    std::fputs("usage: stagecraft_host_rank SCHEDULE.pb REQUEST.pb OUT.pb | CLUSTER.pb\n", stderr);
    return stagecraft::kExitBadInput;
  }
  // mpirun may be killed before it has ended its processes.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  return stagecraft::Run(argc, argv);
}
