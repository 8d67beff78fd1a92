// What a step runs if the layers of its network are in some state.
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "costmodel/op.h"
#include "costmodel/units.h"
#include "sim/cluster/cluster.h"
#include "sim/lowering/lowering.h"
#include "sim/plan/plan.h"
#include "sim/schedule/schedule.h"
#include "sim/schedule/timeline.h"
#include "sim/shard/shard.h"
#include "sim/testing/lowered_counts.h"
#include "sim/testing/lowering_testing.h"
#include "sim/workload/layer_state.h"
#include "sim/workload/networks/decoder.h"
#include "sim/workload/networks/test_decoders.h"
#include "sim/workload/networks/test_linears.h"
#include "sim/workload/workload.h"

namespace stagecraft {
namespace {

// A micro-batch of two samples of 512 rows: all GEMMs of a chain are of equal size.
constexpr int64_t kWidth = 1024;
constexpr int64_t kMatrix = kWidth * kWidth;

using States = std::vector<LayerState>;

// Layers of a norm and a matrix. The norm takes no time, but as it is trained, the backward of a
// trained layer is two GEMMs, wherever it is.
Workload NormedChain(int layers) {
  Workload chain = LinearChain(layers, kWidth);
  Operator matrix = chain.kinds[0].operators[0];
  Operator norm{.name = "norm", .kind = OperatorKind::kNorm};
  norm.in_features = norm.out_features = kWidth;
  norm.parameters = kWidth;
  norm.reads_layer_input = true;
  matrix.reads_layer_input = false;
  OperatorGraph operators;
  const size_t first = operators.Add(std::move(norm));
  operators.AddEdge(first, operators.Add(std::move(matrix)));
  chain.kinds[0].operators = std::move(operators);
  return chain;
}

States FirstFrozen(int layers, int frozen, bool are_cached = false) {
  States states(layers);
  for (int layer = 0; layer < frozen; ++layer) {
    states[layer].is_trained = false;
    states[layer].is_cached = are_cached;
  }
  return states;
}

// The time of passes alone; their backwards add nothing to sums of gradients.
Duration PassTime(PlanDegrees degrees, const Workload& workload) {
  degrees.framework.sums_gradients = false;
  const Cluster cluster = FreeCluster(degrees.pipeline);
  const Plan plan = MakePlan(degrees, workload, cluster);
  return Simulate(plan, workload, cluster, false, /*with_optimizer=*/false).makespan();
}

Duration Gemm() {
  const Op op = Op::Gemm(DType::kFp16, kWidth, kWidth, kWidth);
  return PlainModel().Predict({&op, 1}, MakeDevice("fast", 100e12))[0].time;
}

PlanDegrees Gpipe(int stages, int micro_batches) {
  PlanDegrees degrees = LayerEach(stages);
  degrees.schedule = PipelineSchedule::kGpipe;
  degrees.global_batch = micro_batches * degrees.micro_batch;
  return degrees;
}

TEST(LayerStateLoweringTest, GpipeWithFrozenStagesMatchesItsClosedForm) {
  const Duration f = Gemm(), b = 2 * f;
  for (const int p : {2, 4, 7}) {
    for (const int m : {1, 3, 16}) {
      EXPECT_EQ(PassTime(Gpipe(p, m), NormedChain(p)), (m + p - 1) * (f + b));
      for (int frozen = 1; frozen < p; ++frozen) {
        const Workload chain = With(NormedChain(p), FirstFrozen(p, frozen));
        EXPECT_EQ(PassTime(Gpipe(p, m), chain), (m + p - 1) * f + (m + p - frozen - 1) * b)
            << p << " stages, " << m << " micro-batches, " << frozen << " frozen";
      }
    }
  }
}

// Stages whose outputs are cached are as good as absent.
TEST(LayerStateLoweringTest, GpipeWithCachedStagesIsAShorterPipeline) {
  const Duration f = Gemm(), b = 2 * f;
  for (int cached = 1; cached < 5; ++cached) {
    const Workload chain = With(NormedChain(5), FirstFrozen(5, cached, /*are_cached=*/true));
    EXPECT_EQ(PassTime(Gpipe(5, 8), chain), (8 + 5 - cached - 1) * (f + b)) << cached;
  }
}

// The time of one more micro-batch, in GEMMs.
double Slope(const Workload& workload, const std::vector<int>& stage_layers) {
  const auto time = [&](int micro_batches) {
    PlanDegrees degrees = Degrees(1, static_cast<int>(stage_layers.size()));
    degrees.stage_blocks = stage_layers;
    --degrees.stage_blocks.front();
    --degrees.stage_blocks.back();
    degrees.global_batch = micro_batches * degrees.micro_batch;
    return PassTime(degrees, workload);
  };
  return (time(64) - time(32)).seconds() / 32 / Gemm().seconds();
}

// A share x of 24 equal layers is frozen. The bottleneck of four equal stages is a trained one, and
// balanced stages are 3 / (3 - 2 x) times faster.
TEST(LayerStateLoweringTest, BalancingAfterFreezingGainsTheShareThatIsKnown) {
  const std::vector<int> equal = {6, 6, 6, 6};
  const Workload half = With(NormedChain(24), FirstFrozen(24, 12));
  EXPECT_NEAR(Slope(half, equal) / Slope(half, {12, 4, 4, 4}), 1.5, 1e-9);
  const Workload most = With(NormedChain(24), FirstFrozen(24, 18));
  EXPECT_NEAR(Slope(most, equal) / Slope(most, {9, 9, 3, 3}), 2, 1e-9);
}

TEST(LayerStateLoweringTest, CachedOutputsAreNotSent) {
  const Cluster cluster = MakeCluster(1, 4);
  const auto sends = [&](int cached) {
    States states = FirstFrozen(4, 3);
    for (int layer = 0; layer < cached; ++layer) states[layer].is_cached = true;
    const Workload net = With(NormedChain(4), states);
    return TasksOf(Lower(MakePlan(LayerEach(4), net, cluster), net, cluster), Phase::kSendForward);
  };
  EXPECT_EQ(sends(0), 3 * 16);
  EXPECT_EQ(sends(1), 2 * 16);
  EXPECT_EQ(sends(3), 0);
}

// Sharded weights of cached layers are not gathered, those of frozen ones for their forward alone.
TEST(LayerStateLoweringTest, WeightsOfCachedLayersAreNotGathered) {
  const Cluster cluster = MakeCluster(1, 4);
  PlanDegrees degrees = Degrees(1, 1);
  degrees.zero = 3;
  degrees.gradient_bytes = 2;
  const auto gathered = [&](const Workload& chain) {
    const Schedule schedule = Lower(MakePlan(degrees, chain, cluster), chain, cluster);
    return BytesOf(schedule, Phase::kParamGather, OpKind::kAllGather) / (4 * 2 * kMatrix);
  };
  const Workload all = LinearChain(6, kWidth);
  EXPECT_EQ(gathered(all), 6 + 6);
  EXPECT_EQ(gathered(With(all, FirstFrozen(6, 2))), 6 + 4);
  EXPECT_EQ(gathered(With(all, FirstFrozen(6, 2, /*are_cached=*/true))), 4 + 4);
}

Workload Llama(int experts = 0) {
  DecoderConfig config = SizedDecoder(
      "llama", {.layers = 4, .hidden = 256, .heads = 8, .vocab = 1024, .max_sequence = 512});
  config.moe.experts = experts;
  config.moe.experts_per_token = experts > 0 ? 2 : 0;
  return BuildDecoder(config, AttentionBackend::kFlash, "llama");
}

States AllOf(const Workload& workload, const LayerState& state) {
  return States(workload.layers.size(), state);
}

ShardSpec Spec(int tensor = 1) {
  ShardSpec spec;
  spec.sequence = 512;
  spec.tensor = tensor;
  spec.tensor_fabric.ranks = tensor;
  return spec;
}

std::vector<Op> OpsOf(const Steps& steps, OpKind kind) {
  std::vector<Op> ops;
  for (const Step& step : steps) {
    if (step.op.kind == kind) ops.push_back(step.op);
  }
  return ops;
}

// Masks alone save nothing.
TEST(LayerStateLoweringTest, AMaskedNetworkTakesAsLongAsADenseOne) {
  const Workload dense = Llama();
  LayerState state;
  state.weight_density = 0.1;
  const Workload masked = With(dense, AllOf(dense, state));
  const Cluster cluster = MakeCluster(1, 4);
  const Plan plan = MakePlan(Degrees(2, 2), dense, cluster);
  EXPECT_EQ(Simulate(plan, masked, cluster, false).Fingerprint(),
            Simulate(plan, dense, cluster, false).Fingerprint());
}

// A forward is one sparse product; a backward is another one and the gradient of the entries. Each
// of two ranks has half of the entries.
TEST(LayerStateLoweringTest, SparseMatricesMakeSparseProducts) {
  LayerState state;
  state.weight_density = 0.1;
  state.storage = WeightStorage::kCsr;
  const Workload chain = With(LinearChain(3, kWidth), States(3, state));
  const int64_t entries = 104'860;  // a tenth of 1024 x 1024, as a multiple of four
  using enum Direction;
  const auto product = [&](Direction direction, int64_t n, int64_t of_rank) {
    return Op::Sparse(DType::kBf16, direction, 512, n, kWidth, of_rank);
  };
  const LayerSteps one = ShardLayer(chain.layer(1), Spec());
  EXPECT_EQ(OpsOf(one.forward, OpKind::kSparse),
            std::vector<Op>{product(kForward, kWidth, entries)});
  EXPECT_EQ(
      OpsOf(one.backward, OpKind::kSparse),
      (std::vector<Op>{product(kForward, kWidth, entries), product(kBackward, kWidth, entries)}));
  EXPECT_TRUE(OpsOf(one.forward, OpKind::kGemm).empty());
  EXPECT_NE(one.backward.back().flags & kWeightGradient, 0);
  const LayerSteps half = ShardLayer(chain.layer(1), Spec(2));
  EXPECT_EQ(OpsOf(half.forward, OpKind::kSparse),
            std::vector<Op>{product(kForward, kWidth / 2, 52'432)});  // as a multiple of four
}

// Collectives reduce the gradients of entries alone, and the optimizer updates entries alone.
TEST(LayerStateLoweringTest, EntriesAloneAreReducedAndUpdated) {
  LayerState state;
  state.weight_density = 0.25;
  state.storage = WeightStorage::kCsr;
  const Cluster cluster = MakeCluster(1, 4);
  PlanDegrees degrees = Degrees(1, 1);
  degrees.zero = 0;
  degrees.gradient_bytes = 4;
  const auto lower = [&](const Workload& chain) {
    return Lower(MakePlan(degrees, chain, cluster), chain, cluster);
  };
  const Schedule sparse = lower(With(LinearChain(4, kWidth), States(4, state)));
  EXPECT_EQ(BytesOf(sparse, Phase::kGradReduce, OpKind::kAllReduce), 4 * kMatrix);
  EXPECT_EQ(BytesOf(sparse, Phase::kOptimizer, OpKind::kOptimizer),
            BytesOf(lower(LinearChain(1, kWidth)), Phase::kOptimizer, OpKind::kOptimizer));
}

// A layer on a quarter of the rows has GEMMs of a quarter of the rows, and attention of a quarter
// of the queries and of the keys.
TEST(LayerStateLoweringTest, LayersOnSomeRowsHaveSmallerOps) {
  LayerState state;
  state.token_share = 0.25;
  States states(Llama().layers.size());
  states[2] = state;
  const Workload net = With(Llama(), states);
  const Steps all = ShardLayer(net.layer(1), Spec()).forward;
  const Steps some = ShardLayer(net.layer(2), Spec()).forward;
  const auto all_gemms = OpsOf(all, OpKind::kGemm), gemms = OpsOf(some, OpKind::kGemm);
  ASSERT_EQ(gemms.size(), all_gemms.size());
  for (size_t i = 0; i < gemms.size(); ++i) {
    EXPECT_EQ(gemms[i].m, 128);
    EXPECT_EQ(all_gemms[i].m, 512);
    EXPECT_EQ(gemms[i].n, all_gemms[i].n);
  }
  EXPECT_EQ(OpsOf(some, OpKind::kAttention)[0].m, 128);
  EXPECT_EQ(OpsOf(some, OpKind::kAttention)[0].n, 128);
  EXPECT_EQ(BoundaryBytes(net.layer(2), Spec()), BoundaryBytes(net.layer(1), Spec()));
  for (size_t layer = 2; layer < states.size(); ++layer) states[layer] = state;
  const Workload left = With(Llama(), states);
  EXPECT_EQ(BoundaryBytes(left.layer(1), Spec()), Bytes(128 * 256 * 2));
}

TEST(LayerStateLoweringTest, ALayerWithoutRowsRunsNothing) {
  States states(Llama().layers.size());
  states[2].token_share = 0;
  const LayerSteps steps = ShardLayer(With(Llama(), states).layer(2), Spec());
  for (const Steps& pass : {steps.forward, steps.backward}) {
    for (const Step& step : pass) EXPECT_EQ(step.op.kind, OpKind::kElementwise);  // the router
    EXPECT_LE(pass.size(), 1u);
  }
}

TEST(LayerStateLoweringTest, SparseAttentionReadsFewerKeys) {
  LayerState state;
  state.attention_density = 0.1;
  const Workload net = With(Llama(), AllOf(Llama(), state));
  const Op op = OpsOf(ShardLayer(net.layer(1), Spec()).forward, OpKind::kAttention)[0];
  EXPECT_EQ(op.m, 512);
  EXPECT_EQ(op.n, 52);
  state.attention_density = 0;
  const Workload none = With(Llama(), AllOf(Llama(), state));
  EXPECT_TRUE(OpsOf(ShardLayer(none.layer(1), Spec()).forward, OpKind::kAttention).empty());
}

// Eight experts on four ranks; the second rank gets half of the rows, twice the mean.
TEST(LayerStateLoweringTest, TheFullestRankDecidesAboutExperts) {
  const Workload net = Llama(8);
  LayerState state;
  state.expert_rows = {1, 1, 1, 3, 1, 1, 0, 0};
  const Workload uneven = With(net, AllOf(net, state));
  ShardSpec spec = Spec();
  spec.expert = 4;
  spec.expert_fabric.ranks = 4;
  const auto of = [&](const Workload& workload, OpKind kind) {
    return OpsOf(ShardLayer(workload.layer(1), spec).forward, kind);
  };
  EXPECT_EQ(of(uneven, OpKind::kAllToAll)[0].bytes.count(),
            2 * of(net, OpKind::kAllToAll)[0].bytes.count());
  EXPECT_EQ(of(uneven, OpKind::kGemm).back().m, 2 * of(net, OpKind::kGemm).back().m);
  spec.expert = 1;  // all rows are on one rank
  EXPECT_EQ(of(uneven, OpKind::kGemm), of(net, OpKind::kGemm));
}

// Rank 8 beside 1024 x 1024 is 16 x 1024 parameters a layer.
TEST(LayerStateLoweringTest, AdaptersAloneAreReducedAndUpdated) {
  LayerState state;
  state.adapter_rank = 8;
  const Workload chain = With(LinearChain(4, kWidth), States(4, state));
  const Cluster cluster = MakeCluster(1, 4);
  for (const int zero : {0, 1, 2, 3}) {
    PlanDegrees degrees = Degrees(1, 1);
    degrees.zero = zero;
    degrees.gradient_bytes = 4;
    const Schedule schedule = Lower(MakePlan(degrees, chain, cluster), chain, cluster);
    const int64_t times = zero >= 2 ? 4 : 1;  // every micro-batch reduces
    const OpKind kind = zero == 0 ? OpKind::kAllReduce : OpKind::kReduceScatter;
    EXPECT_EQ(BytesOf(schedule, Phase::kGradReduce, kind), times * 4 * 4 * 16 * kWidth) << zero;
  }
  using enum OpKind;
  const Steps backward = ShardLayer(chain.layer(0), Spec()).backward;
  // The gradients are that of the input of the second matrix and those of the weights of both.
  EXPECT_EQ(OpsOf(backward, kGemm).size(), 3u);
  EXPECT_EQ(OpsOf(ShardLayer(chain.layer(1), Spec()).backward, kGemm).size(), 5u);
}

// Under tensor parallelism the narrow side alone crosses between ranks.
TEST(LayerStateLoweringTest, AdaptersExchangeTheirRank) {
  LayerState state;
  state.adapter_rank = 8;
  const Workload net = With(Llama(), AllOf(Llama(), state));
  ShardSpec spec = Spec(2);
  spec.sequence_parallel = true;
  std::map<int64_t, int> gathers, reductions;  // by features
  for (const Op& op : OpsOf(ShardLayer(net.layer(1), spec).forward, OpKind::kAllGather)) {
    ++gathers[op.bytes.count() / 512 / 2];
  }
  for (const Op& op : OpsOf(ShardLayer(net.layer(1), spec).forward, OpKind::kReduceScatter)) {
    ++reductions[op.bytes.count() / 512 / 2];
  }
  EXPECT_EQ(gathers, (std::map<int64_t, int>{{8, 2}, {256, 2}}));
  EXPECT_EQ(reductions, (std::map<int64_t, int>{{8, 2}, {256, 2}}));
}

class LayerStateFoldingTest : public testing::TestWithParam<int> {};

TEST_P(LayerStateFoldingTest, FoldedAndUnfoldedAgree) {
  const Workload net = Llama();
  States states(net.layers.size());
  states[0].is_trained = states[1].is_trained = false;
  states[0].is_cached = true;
  states[2].storage = WeightStorage::kCsr;
  states[2].weight_density = 0.2;
  states[3].token_share = 0.125;
  states[3].attention_density = 0.5;
  states[4].adapter_rank = 4;
  const Workload changed = With(net, states);
  const Cluster cluster = MakeCluster(2, 8);
  PlanDegrees degrees = Degrees(2, 2);
  degrees.zero = GetParam();
  const Plan plan = MakePlan(degrees, changed, cluster);
  EXPECT_EQ(Simulate(plan, changed, cluster, false).makespan(),
            Simulate(plan, changed, cluster, true).makespan());
}

INSTANTIATE_TEST_SUITE_P(Zero, LayerStateFoldingTest, testing::Values(0, 1, 2, 3));

}  // namespace
}  // namespace stagecraft
