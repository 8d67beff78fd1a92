// Tests every way to synchronise gradients, from a plan to its time: the closed form and the flows
// of its messages agree on an idle symmetric cluster.
#include "costmodel/gradient_sync.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "costmodel/analytical_model.h"
#include "costmodel/check.h"
#include "costmodel/units.h"
#include "sim/cluster/cluster.h"
#include "sim/cluster/cluster_spec.h"
#include "sim/engine/sim_executor.h"
#include "sim/lowering/lowering.h"
#include "sim/network/flow_network.h"
#include "sim/plan/plan.h"
#include "sim/schedule/schedule.h"
#include "sim/schedule/timeline.h"
#include "sim/workload/workload.h"
#include "sim/workload/workload_catalogue.h"

namespace stagecraft {
namespace {

SyncOptions Sync(SyncMethod method, int servers = 0, int peers = 0) {
  SyncOptions sync;
  sync.method = method;
  sync.servers = servers;
  sync.peers = peers;
  return sync;
}

SyncOptions Rolling(int64_t step, int dead = -1, Duration timeout = {}) {
  SyncOptions sync = Sync(SyncMethod::kRollingServer);
  sync.step = step;
  sync.dead_server = dead;
  sync.timeout = timeout;
  return sync;
}

// A job whose replicas reduce gradients while nothing else is on the links.
struct Job {
  Cluster cluster;
  Workload workload;
  Plan plan;
};

Job MakeJob(const std::string& cluster, int data, const SyncOptions& sync, int tensor = 1) {
  Job job = {ParseCluster(cluster), LoadWorkload("gpt2-medium", AttentionBackend::kFlash), {}};
  PlanDegrees degrees;
  degrees.data = data;
  degrees.tensor = tensor;
  degrees.global_batch = data;
  degrees.sequence = 128;
  degrees.precision = DType::kFp16;
  degrees.overlap_grad_reduce = false;
  degrees.gradient_sync = sync;
  job.plan = MakePlan(degrees, job.workload, job.cluster);
  return job;
}

// The time of the longest reduction of gradients.
double ReductionSeconds(const Job& job, NetworkFidelity fidelity, bool unfold = true) {
  const Schedule schedule = Lower(job.plan, job.workload, job.cluster, {unfold, true});
  const AnalyticalModel model;
  SimExecutor executor(job.cluster, model, {fidelity});
  const Timeline timeline = executor.Execute(schedule);
  // Only the reductions use links, and only as flows.
  const std::vector<LinkUse> uses = executor.link_use();
  const bool is_used =
      std::any_of(uses.begin(), uses.end(), [](const LinkUse& use) { return use.bytes > 0; });
  EXPECT_EQ(is_used, fidelity == NetworkFidelity::kFlow);
  double seconds = 0;
  for (TaskId task = 0; task < schedule.task_count(); ++task) {
    if (schedule.tag(task).phase != Phase::kGradReduce) continue;
    seconds = std::max(seconds, (timeline.end(task) - timeline.start(task)).seconds());
  }
  return seconds;
}

double ModelSeconds(const std::string& cluster, int data, const SyncOptions& sync) {
  return ReductionSeconds(MakeJob(cluster, data, sync), NetworkFidelity::kModel);
}

TEST(GradientSyncTest, ClosedFormsAndFlowsAgreeOnAnIdleSymmetricCluster) {
  struct Case {
    std::string cluster;
    int data;
    SyncOptions sync;
    int tensor = 1;
  };
  const std::vector<Case> cases = {
      {"h100-sxm:4x8", 32, Sync(SyncMethod::kAllReduce)},
      {"h100-sxm:4x8", 32, Sync(SyncMethod::kRing)},
      {"h100-sxm:4x8", 32, Sync(SyncMethod::kTree)},
      {"h100-sxm:4x8", 32, Sync(SyncMethod::kHierarchical)},
      {"h100-sxm:1x8", 8, Sync(SyncMethod::kHierarchical)},
      {"h100-sxm:4x8", 32, Sync(SyncMethod::kShardedParameterServer)},
      {"h100-sxm:1x8", 8, Sync(SyncMethod::kShardedParameterServer)},
      {"h100-sxm:6x1", 4, Sync(SyncMethod::kParameterServer, 1)},
      {"h100-sxm:6x1", 4, Sync(SyncMethod::kParameterServer, 2)},
      {"h100-sxm:3x8", 16, Sync(SyncMethod::kParameterServer, 8)},
      {"h100-sxm:1x8", 6, Sync(SyncMethod::kParameterServer, 2)},
      {"h100-sxm:4x8", 32, Rolling(9)},
      {"h100-sxm:1x8", 8, Rolling(0, 0, Duration::Seconds(0.01))},
      {"h100-sxm:8x1", 8, Sync(SyncMethod::kGossip, 0, 1)},
      {"h100-sxm:1x8", 8, Sync(SyncMethod::kGossip, 0, 3)},
      {"h100-sxm:3x8", 24, Sync(SyncMethod::kGossip, 0, 2)},
      {"h100-sxm:4x8", 24, Sync(SyncMethod::kBytePs, 8)},
      {"h100-sxm:8x1", 4, Sync(SyncMethod::kReductionServer, 4)},
      {"h100-sxm:6x1", 4, Sync(SyncMethod::kReductionServer, 2)},
      {"h100-sxm:6x1", 4, Sync(SyncMethod::kBytePs, 2)},
      {"h100-sxm:8x1", 4, Sync(SyncMethod::kBytePs, 4)},
      {"h100-sxm:32x1", 24, Sync(SyncMethod::kBytePs, 5)},
      {"h100-sxm:1x8", 8, Sync(SyncMethod::kBytePs, 0)},
      {"h100-sxm:1x8", 6, Sync(SyncMethod::kBytePs, 2)},
      {"aws-p3.16xlarge:4", 24, Sync(SyncMethod::kParameterServer, 8)},
      {"aws-p3.16xlarge:4", 24, Sync(SyncMethod::kReductionServer, 8)},
      {"aws-p3.16xlarge:4", 2, Sync(SyncMethod::kParameterServer, 1), 8},
      {"h100-sxm:4x8", 2, Sync(SyncMethod::kParameterServer, 1), 8},
  };
  for (const Case& c : cases) {
    const Job job = MakeJob(c.cluster, c.data, c.sync, c.tensor);
    const double model = ReductionSeconds(job, NetworkFidelity::kModel);
    const double flow = ReductionSeconds(job, NetworkFidelity::kFlow);
    EXPECT_NEAR(flow / model, 1, 0.03) << Name(c.sync.method) << " of " << c.data << " ranks on "
                                       << c.cluster << ", " << c.sync.servers << " servers";
  }
}

// How much bandwidth of the interfaces, in GB/s, each rank and each server has.
std::pair<double, double> WorkerAndServer(const Job& job) {
  const Schedule schedule = Lower(job.plan, job.workload, job.cluster, {true, true});
  for (const Op& op : schedule.distinct_ops()) {
    if (op.sync.servers == 0) continue;
    return {op.sync.worker.bandwidth.bytes_per_s() * 1e-9,
            op.sync.server.bandwidth.bytes_per_s() * 1e-9};
  }
  return {};
}

// A p3.16xlarge has one interface of 3.125 GB/s for eight devices.
TEST(GradientSyncTest, AllServersAndAllRanksOfANodeShareItsInterface) {
  const std::string cluster = "aws-p3.16xlarge:4";
  const SyncOptions one = Sync(SyncMethod::kParameterServer, 1);
  using Rates = std::pair<double, double>;
  // There are three nodes of eight ranks, and eight servers on the fourth.
  EXPECT_EQ(WorkerAndServer(MakeJob(cluster, 24, Sync(SyncMethod::kParameterServer, 8))),
            Rates(3.125 / 8, 3.125 / 8));
  EXPECT_EQ(WorkerAndServer(MakeJob(cluster, 24, one)), Rates(3.125 / 8, 3.125));
  // There are eight groups of two ranks; each has a server of its own on the third node.
  EXPECT_EQ(WorkerAndServer(MakeJob(cluster, 2, one, 8)), Rates(3.125 / 8, 3.125 / 8));
  // There are four groups of two ranks on the first node, and their servers on the second.
  EXPECT_EQ(WorkerAndServer(MakeJob(cluster, 2, one, 4)), Rates(3.125 / 8, 3.125 / 4));
}

TEST(GradientSyncTest, FoldedAndUnfoldedTakeTheSameTime) {
  for (const SyncOptions& sync : {Sync(SyncMethod::kHierarchical), Rolling(3),
                                  Sync(SyncMethod::kGossip, 0, 2), Sync(SyncMethod::kBytePs, 0)}) {
    const Job job = MakeJob("h100-sxm:2x8", 16, sync);
    EXPECT_EQ(ReductionSeconds(job, NetworkFidelity::kModel, false),
              ReductionSeconds(job, NetworkFidelity::kModel, true))
        << Name(sync.method);
  }
}

TEST(GradientSyncTest, TheOrderOfMethodsIsThatOfTheirBytes) {
  const double ring = ModelSeconds("h100-sxm:8x1", 8, Sync(SyncMethod::kRing));
  const double reduction = ModelSeconds("h100-sxm:16x1", 8, Sync(SyncMethod::kReductionServer, 8));
  const double server = ModelSeconds("h100-sxm:16x1", 8, Sync(SyncMethod::kParameterServer, 1));
  // A ring moves the gradients 2 (n - 1) / n times, reduction servers once, and a single parameter
  // server 2 n times.
  EXPECT_NEAR(ring / reduction, 1.75, 0.05);
  EXPECT_NEAR(server / ring, 64.0 / 7, 0.3);
}

TEST(GradientSyncTest, ADeadServerCostsItsTimeoutOnceAndOnlyInItsTurn) {
  const Duration timeout = Duration::Seconds(0.05);
  const double alive = ModelSeconds("h100-sxm:1x8", 8, Rolling(3));
  EXPECT_NEAR(ModelSeconds("h100-sxm:1x8", 8, Rolling(3, 3, timeout)), alive + 0.05, 1e-9);
  EXPECT_EQ(ModelSeconds("h100-sxm:1x8", 8, Rolling(4, 3, timeout)), alive);
  // If gradients are reduced in buckets, only the first one waits.
  Job job = MakeJob("h100-sxm:1x8", 8, Rolling(11, 3, timeout));
  job.plan.overlap_grad_reduce = true;
  job.plan.bucket_bytes = 40'000'000;
  const Schedule schedule = Lower(job.plan, job.workload, job.cluster, {true, true});
  int reductions = 0, waits = 0;
  for (TaskId task = 0; task < schedule.task_count(); ++task) {
    if (schedule.tag(task).phase != Phase::kGradReduce) continue;
    ++reductions;
    waits += schedule.op(schedule.ops(schedule.op_sequence(task))[0]).sync.timeout == timeout;
  }
  EXPECT_GT(reductions, 1);
  EXPECT_EQ(waits, 1);
}

std::string Refusal(const std::string& cluster, int data, const SyncOptions& sync) {
  try {
    MakeJob(cluster, data, sync);
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(GradientSyncTest, PlansThatCannotSynchroniseSoAreRefused) {
  struct Case {
    std::string cluster;
    int data;
    SyncOptions sync;
    std::string want;
  };
  SyncOptions idle = Rolling(0);
  idle.timeout = 1_us;
  const std::vector<Case> cases = {
      {"h100-sxm:1x8", 8, Sync(SyncMethod::kParameterServer), "sync_servers: got 0, want at least"},
      {"h100-sxm:1x8", 8, Sync(SyncMethod::kParameterServer, 1), "that are not parameter servers"},
      {"h100-sxm:1x8", 8, Sync(SyncMethod::kRing, 1), "that are not parameter servers"},
      {"h100-sxm:1x8", 4, Sync(SyncMethod::kRing, 4), "sync_servers: got 4, want none with ring"},
      {"h100-sxm:1x8", 2, Sync(SyncMethod::kBytePs, 3), "sync_servers: got 3, want at most 2"},
      {"h100-sxm:1x8", 8, Sync(SyncMethod::kGossip), "sync_peers: got 0, want at least 1"},
      {"h100-sxm:1x8", 8, Sync(SyncMethod::kGossip, 0, 8), "sync_peers: got 8, want at most 7"},
      {"h100-sxm:1x8", 8, Sync(SyncMethod::kAllReduce, 0, 1), "sync_peers: got 1, want none"},
      {"h100-sxm:1x8", 8, Rolling(0, 8), "dead_server: got 8, want a rank below the 8"},
      {"h100-sxm:1x8", 8, Rolling(-1), "sync_step: got -1"},
      {"h100-sxm:1x8", 8, idle, "no dead server"},
      {"h100-sxm:1x1", 1, Sync(SyncMethod::kRing),
       "gradient_sync: got ring with one data-parallel rank in every stage, where no gradients are "
       "reduced, want all-reduce"},
      {"h100-sxm:1x8+h100-sxm:1x4", 12, Sync(SyncMethod::kHierarchical), "has 4 on one and 8"},
  };
  for (const Case& c : cases) {
    const std::string sentence = Refusal(c.cluster, c.data, c.sync);
    EXPECT_NE(sentence.find(c.want), std::string::npos) << sentence << "\nwant: " << c.want;
  }
}

TEST(GradientSyncTest, SharedGradientsAndMissingServersAreRefused) {
  Job job = MakeJob("h100-sxm:1x8", 8, Sync(SyncMethod::kRing));
  job.plan.forward_only = true;
  EXPECT_NE(FindErrors(job.plan, job.workload, job.cluster)[0].find("got ring with forward_only"),
            std::string::npos);
  job.plan.forward_only = false;
  job.plan.zero = 1;
  EXPECT_NE(FindErrors(job.plan, job.workload, job.cluster)[0].find("wants zero 0"),
            std::string::npos);
  job.plan.zero = 0;
  job.plan.gradient_sync = Sync(SyncMethod::kReductionServer, 2);
  EXPECT_EQ(FindErrors(job.plan, job.workload, job.cluster)[0],
            "sync_servers: 2 for each of 1 groups of ranks that reduce side by side make 2, but " +
                job.cluster.name() + " has 0 devices beyond the plan's 8");
}

}  // namespace
}  // namespace stagecraft
