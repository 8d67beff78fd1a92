// One process of `stagecraft run --executor host`: executes its rank of a schedule.
//   stagecraft_host_rank SCHEDULE.pb WARM_UP STEPS OUT.pb
#include <fmt/format.h>

#include <cstdio>
#include <string>

#include "costmodel/check.h"
#include "costmodel/proto_file.h"
#include "runtime/host_executor.h"
#include "runtime/measured_steps.h"
#include "runtime/mpi_world.h"
#include "runtime/rank_launcher.h"
#include "runtime/rank_program.h"
#include "runtime/shaped_work.h"
#include "sim/schedule_proto.h"

namespace stagecraft {
namespace {

void Say(const std::string& text) {
  std::fputs(RankLine(text).c_str(), stderr);
  std::fflush(stderr);
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
  if (speaks) {
    WriteFileAtomically(words[4], ToProto(measured.timeline, schedule).SerializeAsString());
  }
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
