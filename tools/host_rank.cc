// One process of `stagecraft run --executor host`: executes its rank of a schedule.
//   stagecraft_host_rank SCHEDULE.pb WARM_UP STEPS OUT.pb
#include <fmt/format.h>
#include <sys/resource.h>

#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "costmodel/check.h"
#include "costmodel/proto_file.h"
#include "runtime/host_executor.h"
#include "runtime/measured_steps.h"
#include "runtime/mpi_world.h"
#include "runtime/rank_launcher.h"
#include "runtime/rank_program.h"
#include "runtime/shaped_work.h"
#include "sim/schedule_proto.h"
#include "sim/timeline_record.h"
#include "sim/timeline_record_proto.h"

namespace stagecraft {
namespace {

void Say(const std::string& text) {
  std::fputs(RankLine(text).c_str(), stderr);
  std::fflush(stderr);
}

// The most that this process held at once.
Bytes PeakMemory() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return Bytes(int64_t{usage.ru_maxrss} << 10);
}

// "model name" of the first processor; "cpu" where the kernel does not say.
std::string ProcessorName() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    const size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "cpu";
}

void Execute(MpiWorld& world, char** words) {
  ScheduleProto proto;
  ReadProtoFile(words[1], &proto);
  const Schedule schedule = ScheduleFromProto(proto, words[1]);
  ShapedWork work(schedule, MakeRankProgram(schedule, world.rank()));
  HostExecutor executor(world, work);
  const int warm_up = std::stoi(words[2]), steps = std::stoi(words[3]);
  const bool speaks = world.rank() == 0;
  const MeasuredSteps measured = MeasureSteps(executor, schedule, warm_up, steps, [&](int done) {
    if (speaks) Say(fmt::format("step {} of {}", done, warm_up + steps));
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
                                                   .task_sigma = measured.task_sigma}};
  for (const int64_t bytes : held) record.peak_memory.emplace_back(bytes);
  record.measurement->devices.assign(world.size(), ProcessorName());
  WriteFileAtomically(words[4], ToProto(record).SerializeAsString());
}

int Run(char** words) {
  MpiWorld world;
  try {
    Execute(world, words);
    return 0;
  } catch (const InputError& error) {  // what is wrong is wrong for all
    if (world.rank() == 0) Say(error.what());
    return 2;
  } catch (const std::exception& error) {
    world.Abort(RankLine(fmt::format("rank {}: {}", world.rank(), error.what())));
  }
}

}  // namespace
}  // namespace stagecraft

int main(int argc, char** argv) {
  if (argc != 5) {
    std::fputs("usage: stagecraft_host_rank SCHEDULE.pb WARM_UP STEPS OUT.pb\n", stderr);
    return 2;
  }
  return stagecraft::Run(argv);
}
