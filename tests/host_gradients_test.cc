// Tests that the gradients of a network which a pipeline computes are those which one rank computes
// alone, for every synchronous schedule, with replicas too, by real processes over real MPI. The
// test starts itself again under mpirun for every number of ranks.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <vector>

#include "runtime/host_executor.h"
#include "runtime/mpi_world.h"
#include "runtime/rank_launcher.h"
#include "runtime/rank_testing.h"
#include "sim/cluster/cluster.h"
#include "sim/lowering/lowering.h"
#include "sim/plan/plan.h"
#include "sim/step/plan_pass_orders.h"
#include "sim/testing/lowering_testing.h"
#include "tests/gradient_cases.h"
#include "tests/small_network.h"

namespace stagecraft {
namespace {

// How many steps of this rank began before a step for which its program lets them wait had ended.
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

void Say(const std::string& text) { std::fputs(RankLine(text).c_str(), stderr); }

// Runs all cases as one of several ranks, and returns its exit code.
int RunRank() {
  MpiWorld world;
  const Workload workload = GradientWorkload();
  const Cluster cluster = MakeCluster(1, world.size());
  const PlainModel model;
  const Layers layers(workload.layer_count());
  int run = 0, wrong = 0;
  for (const GradientCase& one : GradientCases(world.size())) {
    const Plan plan =
        WithPassOrders(MakePlan(one.degrees, workload, cluster), workload, cluster, model);
    const Schedule schedule = Lower(plan, workload, cluster, {.unfold = true});
    SmallNetwork work(plan, schedule, layers, world.rank());
    HostExecutor executor(world, work);
    const Timeline timeline = executor.Execute(schedule);
    const double error = work.Error(layers.Gradients(static_cast<int>(plan.micro_batches())));
    const bool is_right = error < kMostGradientError && OutOfOrder(executor) == 0 &&
                          timeline.task_count() == schedule.task_count();
    if (!is_right) {
      Say(fmt::format("rank {}: {}: error {}, {} out of order", world.rank(), one.name, error,
                      OutOfOrder(executor)));
      ++wrong;
    }
    ++run;
  }
  int64_t most[] = {wrong};
  world.Max(most);
  if (world.rank() == 0) Say(fmt::format("{} cases, {} wrong", run, wrong));
  return most[0] == 0 && run > 0 ? 0 : 1;
}

class HostGradientsTest : public testing::TestWithParam<int> {};

TEST_P(HostGradientsTest, EveryOrderGivesThoseOfOneRank) {
  const LaunchEnd end = LaunchSelf(GetParam());
  EXPECT_EQ(end.exit_code, 0) << end.death;
}

INSTANTIATE_TEST_SUITE_P(Ranks, HostGradientsTest, testing::Values(1, 2, 3, 4));

}  // namespace
}  // namespace stagecraft

int main(int argc, char** argv) {
  return stagecraft::RunRankOrTests(argc, argv, stagecraft::RunRank);
}
