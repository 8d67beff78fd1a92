// Tests the two fidelities of the network: a collective is one task with the cost model's time, or
// its messages are flows that share links.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "costmodel/analytical_model.h"
#include "costmodel/embedded_nccl_tuning.h"
#include "sim/cluster/cluster_spec.h"
#include "sim/cluster/slow_parts.h"
#include "sim/plan/plan.h"
#include "sim/schedule/deadlock.h"
#include "sim/step/evaluation.h"
#include "sim/workload/networks/decoder.h"
#include "sim/workload/networks/test_decoders.h"

namespace stagecraft {
namespace {

Workload MakeWorkload() {
  const DecoderConfig config = SizedDecoder(
      "gpt", {.layers = 8, .hidden = 2048, .heads = 16, .vocab = 32'000, .max_sequence = 1024});
  return BuildDecoder(config, AttentionBackend::kFlash, "small");
}

PlanDegrees Degrees(int tensor, int pipeline) {
  PlanDegrees degrees;
  degrees.tensor = tensor;
  degrees.pipeline = pipeline;
  degrees.global_batch = 64;
  degrees.sequence = 1024;
  degrees.precision = DType::kFp16;
  degrees.overlap_grad_reduce = false;
  return degrees;
}

SimulatedStep Simulate(const PlanDegrees& degrees, const Cluster& cluster,
                       const NetworkOptions& network) {
  static const AnalyticalModel model(EmbeddedNcclTuning());
  const Workload workload = MakeWorkload();
  const Plan plan = MakePlan(degrees, workload, cluster);
  return SimulateStep(plan, workload, cluster, model, {.unfold = true, .network = network});
}

// The total time of the reductions and gathers of rank 0.
Duration DataTime(const SimulatedStep& step) {
  Duration sum;
  for (TaskId task = 0; task < step.schedule.task_count(); ++task) {
    const Tag& tag = step.schedule.tag(task);
    if (tag.rank != 0) continue;
    if (tag.phase != Phase::kGradReduce && tag.phase != Phase::kParamGather) continue;
    sum += step.timeline.end(task) - step.timeline.start(task);
  }
  return sum;
}

constexpr NetworkOptions kModel = {};
const NetworkOptions kFlow = {.fidelity = NetworkFidelity::kFlow};

// Every device has an interface, and groups have one rank on each node, so no two flows meet.
TEST(NetworkFidelityTest, BothAgreeIfNothingIsShared) {
  const struct {
    const char* cluster;
    int tensor, pipeline, zero;
  } cases[] = {{"h100-sxm:4x8", 8, 1, 0},        {"h100-sxm:4x8", 8, 1, 1},
               {"h100-sxm:2x8", 1, 1, 0},        {"h100-sxm:8x8", 8, 2, 1},
               {"a100-sxm4-80gb:16x8", 8, 1, 0}, {"a100-sxm4-80gb:2x8", 4, 1, 1},
               {"b200-sxm-180gb:2x8", 8, 1, 0},  {"h100-sxm:6x8", 8, 1, 1}};
  for (const auto& c : cases) {
    const Cluster cluster = ParseCluster(c.cluster);
    PlanDegrees degrees = Degrees(c.tensor, c.pipeline);
    degrees.global_batch = 96;
    degrees.zero = c.zero;
    const SimulatedStep model = Simulate(degrees, cluster, kModel);
    const SimulatedStep flow = Simulate(degrees, cluster, kFlow);
    ASSERT_GT(DataTime(model), Duration()) << c.cluster;
    EXPECT_NEAR(DataTime(flow).seconds() / DataTime(model).seconds(), 1, 0.03) << c.cluster;
    EXPECT_NEAR(flow.evaluation.step_time.seconds() / model.evaluation.step_time.seconds(), 1, 0.03)
        << c.cluster;
  }
}

// The eight devices of a p3.16xlarge share its one interface. With tensor parallelism of degree
// eight, eight groups reduce an eighth of the gradients each at the same time. In both fidelities
// that takes eight times as long as one of the groups alone, and as long as one group of all ranks
// would take.
TEST(NetworkFidelityTest, GroupsThatShareAnInterfaceSlowEachOther) {
  const Cluster cluster = ParseCluster("aws-p3.16xlarge:4");
  PlanDegrees degrees = Degrees(8, 1);
  degrees.zero = 0;
  const SimulatedStep model = Simulate(degrees, cluster, kModel);
  const SimulatedStep flow = Simulate(degrees, cluster, kFlow);
  Op op;
  for (const Op& other : model.schedule.distinct_ops()) {
    if (other.kind == OpKind::kAllReduce && other.bytes > op.bytes) op = other;
  }
  ASSERT_EQ(op.fabric.ranks, 4);
  const double interface = cluster.FindRoute(0, 8).narrowest.bandwidth.bytes_per_s();
  const double alone = 2 * 3.0 / 4 * static_cast<double>(op.bytes.count()) / interface;
  EXPECT_GT(DataTime(model).seconds(), 8 * alone);
  EXPECT_GT(DataTime(flow).seconds(), 8 * alone);
  EXPECT_NEAR(DataTime(flow).seconds() / DataTime(model).seconds(), 1, 0.1);
}

// Two stages are on two nodes each, and gradients are reduced during the messages of the last
// passes, over the same interfaces.
TEST(NetworkFidelityTest, ReductionsBesideMessagesSlowThem) {
  const Cluster cluster = ParseCluster("aws-p3.16xlarge:4");
  PlanDegrees degrees = Degrees(1, 2);
  degrees.zero = 0;
  degrees.micro_batch = 4;
  degrees.overlap_grad_reduce = true;
  degrees.bucket_bytes = 20'000'000;
  const auto sending = [](const SimulatedStep& step) {
    Duration sum;
    for (TaskId task = 0; task < step.schedule.task_count(); ++task) {
      const Phase phase = step.schedule.tag(task).phase;
      if (phase != Phase::kSendBackward) continue;
      sum += step.timeline.end(task) - step.timeline.start(task);
    }
    return sum;
  };
  const SimulatedStep model = Simulate(degrees, cluster, kModel);
  Duration apart;  // the sum of the times of each task alone, by the cost model
  for (TaskId task = 0; task < model.schedule.task_count(); ++task) {
    const Phase phase = model.schedule.tag(task).phase;
    if (phase != Phase::kSendBackward) continue;
    apart += model.costs.TaskTimes(model.schedule, task).device;
  }
  EXPECT_GT(sending(model).seconds(), 1.05 * apart.seconds());
  EXPECT_GT(sending(Simulate(degrees, cluster, kFlow)).seconds(), 1.05 * apart.seconds());
}

TEST(NetworkFidelityTest, ASlowLinkSlowsItsGroupFromThenOn) {
  const Cluster cluster = ParseCluster("h100-sxm:2x8");
  PlanDegrees degrees = Degrees(8, 1);
  degrees.zero = 0;
  const SimulatedStep whole = Simulate(degrees, cluster, kFlow);
  int link = 0;
  while (cluster.LinkName(link) != "node0/nic0 -> fabric") ++link;
  NetworkOptions slow = kFlow;
  slow.changes = {{Duration(), link, 0.25}};
  const SimulatedStep slowed = Simulate(degrees, cluster, slow);
  EXPECT_GT(DataTime(slowed).seconds(), 2.5 * DataTime(whole).seconds());
  EXPECT_LT(DataTime(slowed).seconds(), 4.01 * DataTime(whole).seconds());
  slow.changes[0].time = whole.evaluation.step_time;
  EXPECT_EQ(Simulate(degrees, cluster, slow).timeline.Fingerprint(), whole.timeline.Fingerprint());
  slow.changes[0] = {Duration(), link, 0};
  try {
    Simulate(degrees, cluster, slow);
    ADD_FAILURE() << "nothing stopped";
  } catch (const DeadlockError& error) {
    EXPECT_STREQ(error.what(),
                 "stopped: messages wait for the link node0/nic0 -> fabric, whose rate stays 0");
  }
}

// A slow interface, a slow port of a switch, and one over which messages between stages pass; no
// two flows meet.
TEST(NetworkFidelityTest, BothAgreeOnSlowLinksIfNothingIsShared) {
  const struct {
    const char* cluster;
    int tensor, pipeline;
    const char* link;
  } cases[] = {{"h100-sxm:2x8", 8, 1, "node0/nic0 -> fabric"},
               {"h100-sxm:4x8", 8, 1, "fabric -> node2/nic0"},
               {"a100-sxm4-80gb:1x8", 1, 1, "node0/gpu5 -> node0/nvswitch"},
               {"a100-sxm4-80gb:1x8", 4, 2, "node0/gpu2 -> node0/nvswitch"},
               {"h100-sxm:2x8", 8, 2, "node0/nic0 -> fabric"}};
  for (const auto& c : cases) {
    const Cluster cluster = ParseCluster(c.cluster);
    int link = 0;
    while (cluster.LinkName(link) != c.link) ++link;
    PlanDegrees degrees = Degrees(c.tensor, c.pipeline);
    degrees.zero = 0;
    const Duration usual = Simulate(degrees, cluster, kModel).evaluation.step_time;
    for (const double rate : {0.8, 0.25, 0.02}) {
      const Cluster slowed = cluster.WithSlowParts({.links = {{link, rate}}});
      const SimulatedStep model = Simulate(degrees, slowed, kModel);
      const SimulatedStep flow = Simulate(degrees, slowed, kFlow);
      const double step_time = model.evaluation.step_time.seconds();
      EXPECT_GE(model.evaluation.step_time, usual) << c.link;
      EXPECT_NEAR(flow.evaluation.step_time.seconds() / step_time, 1, 0.03)
          << c.cluster << " " << c.link << " " << rate;
      if (c.pipeline > 1) continue;
      EXPECT_NEAR(DataTime(flow).seconds() / DataTime(model).seconds(), 1, 0.03)
          << c.cluster << " " << c.link << " " << rate;
    }
  }
}

// Links carried what ranks sent, and no link carried more than it could.
TEST(NetworkFidelityTest, LinksCarryWhatTheGroupsExchange) {
  const Cluster cluster = ParseCluster("h100-sxm:4x8");
  PlanDegrees degrees = Degrees(8, 1);
  degrees.zero = 0;
  const SimulatedStep step = Simulate(degrees, cluster, kFlow);
  double sent = 0;  // bytes, by one rank
  for (TaskId task = 0; task < step.schedule.task_count(); ++task) {
    const Tag& tag = step.schedule.tag(task);
    if (tag.rank != 0 || tag.phase != Phase::kGradReduce) continue;
    const Op& op = step.schedule.op(step.schedule.ops(step.schedule.op_sequence(task))[0]);
    sent += 2 * 3.0 / 4 * static_cast<double>(op.bytes.count());
  }
  for (int link = 0; link < cluster.link_count(); ++link) {
    const LinkUse& use = step.link_use[link];
    if (cluster.LinkName(link).ends_with("-> fabric")) {
      EXPECT_NEAR(use.bytes, sent, 1e-6 * sent) << cluster.LinkName(link);
    }
    const double most =
        cluster.link(link).bandwidth.bytes_per_s() * step.evaluation.step_time.seconds();
    EXPECT_LE(use.bytes, most);
  }
}

TEST(NetworkFidelityTest, FlowsAreTheSameEveryTime) {
  const Cluster cluster = ParseCluster("aws-p3.16xlarge:2");
  PlanDegrees degrees = Degrees(2, 2);
  degrees.overlap_grad_reduce = true;
  EXPECT_EQ(Simulate(degrees, cluster, kFlow).timeline.Fingerprint(),
            Simulate(degrees, cluster, kFlow).timeline.Fingerprint());
}

}  // namespace
}  // namespace stagecraft
