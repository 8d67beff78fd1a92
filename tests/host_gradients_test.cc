// Gradients of a network that is computed by a pipeline are those of the network computed by
// one rank: every synchronous order, replicas too, by real processes over real MPI. Started
// alone, the test starts itself again under mpirun for every number of ranks.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "runtime/host_executor.h"
#include "runtime/mpi_world.h"
#include "sim/cluster.h"
#include "sim/lowering.h"
#include "sim/lowering_testing.h"
#include "sim/plan.h"
#include "sim/plan_orders.h"
#include "tests/gradient_cases.h"
#include "tests/small_network.h"

namespace stagecraft {
namespace {

// Starts and ends of this rank's own steps keep to its program.
int OutOfOrder(const HostExecutor& executor) {
  int count = 0;
  const std::vector<RankStep>& steps = executor.program().steps;
  for (size_t s = 0; s < steps.size(); ++s) {
    for (const int32_t next : steps[s].next) {
      if (executor.records()[next].start < executor.records()[s].end) ++count;
    }
  }
  return count;
}

// The exit code of one rank of many.
int RunRank() {
  MpiWorld world;
  const Workload workload = GradientWorkload();
  const Cluster cluster = MakeCluster(1, world.size());
  const PlainModel model;
  const Layers layers(workload.layer_count());
  int run = 0, wrong = 0;
  for (const GradientCase& one : GradientCases(world.size())) {
    const Plan plan =
        WithOrders(MakePlan(one.degrees, workload, cluster), workload, cluster, model);
    const Schedule schedule = Lower(plan, workload, cluster, {.unfold = true});
    SmallNetwork work(plan, schedule, layers, world.rank());
    HostExecutor executor(world, work);
    const Timeline timeline = executor.Execute(schedule);
    const double error = work.Error(layers.Gradients(static_cast<int>(plan.micro_batches())));
    const bool is_right = error < kMostGradientError && OutOfOrder(executor) == 0 &&
                          timeline.task_count() == schedule.task_count();
    if (!is_right) {
      std::fprintf(stderr, "rank %d: %s: error %g, %d out of order\n", world.rank(),
                   one.name.c_str(), error, OutOfOrder(executor));
      ++wrong;
    }
    ++run;
  }
  int64_t most[] = {wrong};
  world.Max(most);
  if (world.rank() == 0) std::fprintf(stderr, "%d cases, %d wrong\n", run, wrong);
  return most[0] == 0 && run > 0 ? 0 : 1;
}

class HostGradientsTest : public testing::TestWithParam<int> {};

TEST_P(HostGradientsTest, EveryOrderGivesThoseOfOneRank) {
  char self[4096] = {};
  ASSERT_GT(readlink("/proc/self/exe", self, sizeof(self) - 1), 0);
  const std::string command = fmt::format(
      "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_mpi_yield_when_idle=0 "
      "mpirun --oversubscribe -n {} {} --rank",
      GetParam(), self);
  EXPECT_EQ(std::system(command.c_str()), 0) << command;
}

INSTANTIATE_TEST_SUITE_P(Ranks, HostGradientsTest, testing::Values(1, 2, 3, 4));

}  // namespace
}  // namespace stagecraft

int main(int argc, char** argv) {
  if (argc > 1 && std::string(argv[1]) == "--rank") return stagecraft::RunRank();
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
