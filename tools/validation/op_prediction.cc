#include "tools/validation/op_prediction.h"

#include <numeric>
#include <optional>
#include <string_view>
#include <utility>

#include "costmodel/check.h"
#include "costmodel/collectives.h"
#include "costmodel/device_catalogue.h"
#include "costmodel/text.h"
#include "sim/engine/sim_executor.h"
#include "sim/pipeline/make_pass_orders.h"
#include "sim/pipeline/order_times.h"
#include "sim/pipeline/pass_order.h"
#include "sim/schedule/schedule.h"
#include "sim/shard/shard.h"
#include "tools/validation/row_cluster.h"

namespace stagecraft {
namespace {

constexpr double kTera = 1e12;
constexpr double kGiga = 1e9;

// The time of the steps one after another. Their spreads are weighted by time, as those of a whole
// step are (StepProfile::spread).
PredictedPart TimeOfSteps(const Steps& steps, const Device& device, const CostModel& model) {
  Schedule::Builder builder;
  std::vector<OpId> ops;
  std::vector<uint8_t> flags;
  for (const Step& step : steps) {
    ops.push_back(builder.AddOp(step.op));
    flags.push_back(step.flags);
  }
  const OpSequenceId op_sequence = builder.AddOpSequence(ops, flags);
  const Schedule schedule = builder.Build();
  const std::vector<Estimate> estimates = model.Predict(schedule.distinct_ops(), device);
  double seconds = 0, weighted = 0;
  for (const OpId op : ops) {
    const Estimate& estimate = estimates[op];
    seconds += estimate.time.seconds();
    weighted += estimate.spread * estimate.time.seconds();
  }
  return {TimesOf(schedule, op_sequence, estimates).FromIdle().seconds(),
          seconds > 0 ? weighted / seconds : 0};
}

// Adds the times of two parts that run one after the other, with fully correlated errors.
PredictedPart Both(const PredictedPart& a, const PredictedPart& b) {
  const double value = a.value + b.value;
  const double weighted = a.value * a.spread + b.value * b.spread;
  return {value, value > 0 ? weighted / value : 0};
}

Fabric FabricOf(const Cluster& cluster, int devices) {
  std::vector<int> group(devices);
  std::iota(group.begin(), group.end(), 0);
  return cluster.DescribeGroup(group);
}

const LayerKind& BlockKind(const Workload& workload) {
  for (const LayerKind& kind : workload.kinds) {
    if (kind.role == LayerRole::kBlock) return kind;
  }
  throw InputError("the network has no transformer layer");
}

ShardSpec LayerShard(const MeasuredRow& row, const Cluster& cluster) {
  ShardSpec spec;
  spec.tensor = static_cast<int>(row.tp);
  spec.sequence_parallel = row.sequence_parallel == "yes";
  spec.micro_batch = row.micro_batch;
  spec.sequence = row.seq;
  spec.precision = RowPrecision(row);
  spec.recompute = RowRecompute(row);
  const AttentionChoice attention = RowAttention(row);
  spec.attention = attention.backend;
  spec.attention_kernel = attention.kernel;
  if (spec.tensor > 1) spec.tensor_fabric = FabricOf(cluster, spec.tensor);
  return spec;
}

// Reads T_F, T_B, T_W and T_comm, in milliseconds.
std::vector<double> StageTimes(const std::string& text) {
  std::vector<double> times;
  for (const std::string_view part : SplitAt(text, ',')) {
    const std::optional<double> time = ParseNumber<double>(part);
    if (!time || !(*time >= 0 && *time < 1e9)) break;
    times.push_back(*time);
  }
  if (times.size() != 4 || SplitAt(text, ',').size() != 4) {
    throw InputError("stage times \"" + text + "\" are not four numbers of milliseconds");
  }
  return times;
}

// The collective of this name. Only those that NCCL runs in rings of parts are known, since only
// for these bandwidths are published.
const Collective& CollectiveNamed(const std::string& word) {
  const Collective* const found = FindCollective(word);
  if (found != nullptr && !found->IsDirect() && found->passes != Passes::kWholeOnce) return *found;
  throw InputError("collective " + word + " is not simulated");
}

}  // namespace

PredictedPart PredictLayerTime(CompletedRow& completed, const CostModel& model) {
  const MeasuredRow& row = completed.row;
  const RowNetwork network = BuildRowNetwork(completed);
  if (network.family == NetworkFamily::kClassic) {
    throw InputError("the network has no transformer layer");
  }
  const Cluster cluster =
      WithConstants(BuildRowCluster(row, completed.defaults_used), completed.constants);
  if (row.tp > cluster.device_count() || row.heads % row.tp != 0) {
    throw InputError("tensor parallelism does not fit the GPUs and heads");
  }
  const LayerKind& block = BlockKind(network.workload);
  ShardSpec spec = LayerShard(row, cluster);
  spec.elementwise_traffic = completed.framework.elementwise_traffic;
  spec.composes_operators = completed.framework.composes_operators;
  spec.exposes_tensor_gradients = completed.framework.exposes_tensor_gradients;
  LayerSteps steps = ShardLayer(block, spec);
  if (RecomputesWhole(block, spec)) {
    steps.backward.insert(steps.backward.begin(), steps.forward.begin(), steps.forward.end());
  }
  const std::string pass = completed.facts.pass.value_or("");
  const PredictedPart forward = TimeOfSteps(steps.forward, cluster.device(0), model);
  const PredictedPart backward = TimeOfSteps(steps.backward, cluster.device(0), model);
  if (pass == "forward") return forward;
  if (pass == "backward") return backward;
  if (pass == "both") return Both(forward, backward);
  throw InputError("the pass of the layer that was measured is not stated");
}

double PredictBubbleRate(const MeasuredRow& row) {
  constexpr int64_t kMostPasses = 1'000'000;
  const std::vector<double> ms = StageTimes(row.stage_times_ms);
  const int64_t per_pass = std::max<int64_t>(row.micro_batch, 1) * std::max<int64_t>(row.dp, 1);
  const int64_t micro_batches = row.global_batch / per_pass;
  const RowSchedule schedule = ScheduleOfRow(row.schedule);
  const ChunkCount allowed = TraitsOf(schedule.name).chunks;
  const int64_t chunks = allowed.most > allowed.least ? row.interleave : allowed.least;
  if (micro_batches < 1 || row.pp < 1 || chunks < 1 || row.pp > kMostPasses ||
      chunks > kMostPasses || micro_batches > kMostPasses / (row.pp * chunks)) {
    throw InputError("stages, chunks and micro-batches do not make a pipeline");
  }
  const int stages = static_cast<int>(row.pp);
  const int all = static_cast<int>(micro_batches);
  const Placement placement = PlacementOf(schedule.name);
  std::string problem = FindChunkError(schedule.name, placement, stages, static_cast<int>(chunks));
  const ChunkMap map(placement, stages, static_cast<int>(chunks));
  if (problem.empty()) problem = FindMicroBatchError(schedule.name, map, all);
  if (!problem.empty()) throw InputError(problem);
  const auto share = [&](double time_ms) {
    return Duration::Seconds(time_ms * 1e-3 / static_cast<double>(chunks));
  };
  // Half of the activations that a forward leaves are needed for the weight gradients, as the
  // tables of the Zero Bubble paper assume.
  const PassOrderInputs inputs = {
      UniformCosts(stages, map.chunks(), {share(ms[0]), share(ms[1]), share(ms[2])},
                   Duration::Seconds(ms[3] * 1e-3)),
      std::vector(stages, std::vector<PassMemory>(map.chunks(), {2, 1}))};
  const PassOrders orders = MakePassOrders(schedule.name, schedule.options, map, all, &inputs);
  const double cost = TimeOrders(map, orders, all, inputs.costs).LongestStage().seconds();
  const PassTimes& pass = inputs.costs.times[0][0];
  const double busy = (micro_batches * chunks * (pass.forward + pass.Backward())).seconds();
  if (!(cost > 0)) throw InputError("stage times are all zero");
  return (cost - busy) / cost;
}

PredictedPart PredictKernel(const MeasuredRow& row, const CostModel& model) {
  constexpr int64_t kMostSize = int64_t{1} << 30;
  if (row.op != "gemm") {
    throw InputError("the FLOP count of op \"" + row.op + "\" is only the source's");
  }
  if (row.m < 1 || row.n < 1 || row.k < 1 || row.m > kMostSize || row.n > kMostSize ||
      row.k > kMostSize || row.op_batch > kMostSize) {
    throw InputError("m, n and k are not all stated");
  }
  const DeviceEntry* entry = DeviceCatalogue::Embedded().Find(row.gpu_id);
  if (entry == nullptr) throw InputError("GPU \"" + row.gpu_id + "\" is not in the catalogue");
  const DType precision = RowPrecision(row);
  if (!(entry->device.Peak(precision).flop_per_s() > 0)) {
    throw InputError(entry->device.name + " has no " + row.dtype + " arithmetic");
  }
  const Op op = Op::Gemm(precision, row.m, row.n, row.k, std::max<int64_t>(row.op_batch, 1));
  const Estimate estimate = model.Predict({&op, 1}, AsSampled(entry->device))[0];
  const double seconds = estimate.time.seconds();
  if (row.metric_kind == "kernel_time") return {seconds, estimate.spread};
  return {op.Flops().count() / seconds / kTera, estimate.spread};
}

PredictedPart PredictCollective(const MeasuredRow& row, const CostModel& model,
                                std::vector<std::string>& defaults_used) {
  const Collective& collective = CollectiveNamed(row.collective);
  if (row.bytes < 1) throw InputError("bytes are not stated");
  const Cluster cluster = BuildRowCluster(row, defaults_used);
  if (cluster.device_count() < 2) throw InputError("a collective of one GPU moves nothing");
  Fabric fabric = FabricOf(cluster, cluster.device_count());
  if (row.algorithm == "ring") fabric.nvls = false;
  const Op op = Op::Collective(collective.kind, Bytes(row.bytes), fabric);
  const Estimate estimate = model.Predict({&op, 1}, cluster.device(0))[0];
  const double seconds = estimate.time.seconds();
  if (row.metric_kind == "collective_time") return {seconds, estimate.spread};
  const double factor = collective.BusFactor(fabric.ranks);
  return {factor * static_cast<double>(row.bytes) / seconds / kGiga, estimate.spread};
}

}  // namespace stagecraft
