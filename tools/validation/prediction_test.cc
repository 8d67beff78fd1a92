#include "tools/validation/prediction.h"

#include <gtest/gtest.h>

#include "sim/cluster/cluster.h"
#include "tools/validation/prediction_testing.h"
#include "tools/validation/row_plan.h"
#include "tools/validation/test_rows.h"

namespace stagecraft {
namespace {

TEST(PredictionTest, NamesEveryDefaultItUsed) {
  const Prediction prediction = Predict(Gpt());
  ASSERT_TRUE(prediction.value.has_value()) << prediction.reason;
  EXPECT_EQ(prediction.defaults_used,
            (std::vector<std::string>{"vocab 50257", "vocab padded to 50432", "attention flash",
                                      "order interleaved", "interleave 2", "micro_batch 1",
                                      "recompute none", "sequence_parallel no", "overlap_p2p yes",
                                      "gradient_bytes 4", "zero 1", "overlap_grad_reduce yes",
                                      "network as 8 x 200 Gbit/s"}));
}

TEST(PredictionTest, WhatARowStatesIsNoDefault) {
  MeasuredRow row = Gpt();
  row.vocab = 50432;
  row.attention_backend = "unfused";
  row.schedule = "1f1b";
  row.micro_batch = 2;
  row.recompute_kind = "full";
  row.sequence_parallel = "yes";
  row.zero = "0";
  row.overlap_grad_reduce = "no";
  row.inter_gbit_per_node = "100";
  row.gradient_bytes = "4";
  const Prediction prediction = Predict(row);
  ASSERT_TRUE(prediction.value.has_value()) << prediction.reason;
  // No column says this.
  EXPECT_EQ(prediction.defaults_used, std::vector<std::string>{"overlap_p2p no"});
}

TEST(PredictionTest, InterleavingThatDoesNotDivideBecomesOneForwardOneBackward) {
  MeasuredRow row = Gpt();
  row.layers = 10;
  EXPECT_TRUE(Uses(Predict(row), "order 1f1b"));
}

// The time of a row whose column has another word, over its time before.
double Slowdown(const MeasuredRow& row, const MeasuredRow& other) {
  const Prediction before = Predict(row), after = Predict(other);
  EXPECT_TRUE(before.value && after.value) << before.reason << after.reason;
  return *after.value / *before.value;
}

TEST(PredictionTest, ColumnsOfTheFrameworkChangeTheStep) {
  MeasuredRow row = Gpt();
  row.hidden = 8192;  // large enough that no GPU waits for its host
  row.heads = 64;
  row.seq = 4096;
  row.sequence_parallel = "yes";
  MeasuredRow other = row;
  other.compiled = "yes";
  EXPECT_LT(Slowdown(row, other), 1);
  other = row;
  other.gradient_bytes = "2";
  EXPECT_LT(Slowdown(row, other), 1);
  other = row;
  other.overlap_tp = "yes";
  EXPECT_LT(Slowdown(row, other), 1);
  other = row;
  other.recompute_kind = "selective";
  other.recompute_detail = "operators";
  EXPECT_GT(Slowdown(row, other), 1.1);
}

TEST(PredictionTest, AFrameworkThatIsAStackComesBeforeTheStack) {
  MeasuredRow row = Gpt();
  row.tp = row.pp = 1;
  row.dp = 16;
  row.stack = "fsdp";
  row.zero = "3";
  MeasuredRow other = row;
  other.framework = "torchtitan";  // gathers before the layer that computes
  EXPECT_LT(Slowdown(row, other), 1);
  other.framework = "pytorch";
  EXPECT_EQ(Slowdown(row, other), 1);
}

TEST(PredictionTest, ColumnsThatContradictEachOtherAreReasons) {
  const auto reason = [](auto change) {
    MeasuredRow row = Gpt();
    change(row);
    return Predict(row).reason;
  };
  EXPECT_EQ(reason([](MeasuredRow& row) { row.software_date = "2024"; }),
            "software_date \"2024\" is not a month, as 2024-07");
  EXPECT_EQ(reason([](MeasuredRow& row) { row.compiled = "maybe"; }),
            "compiled \"maybe\" is neither yes nor no");
  EXPECT_EQ(reason([](MeasuredRow& row) { row.gradient_bytes = "8"; }),
            "gradients of 8 bytes are not simulated");
  EXPECT_EQ(reason([](MeasuredRow& row) {
              row.dtype = "fp32";
              row.gradient_bytes = "2";
            }),
            "gradient_bytes 2 contradicts dtype fp32");
  EXPECT_EQ(reason([](MeasuredRow& row) { row.fp8_recipe = "delayed"; }),
            "fp8_recipe delayed contradicts dtype bf16");
  EXPECT_EQ(reason([](MeasuredRow& row) {
              row.tp = 1;
              row.dp = 4;
              row.overlap_tp = "yes";
            }),
            "overlap_tp yes contradicts tp 1");
  EXPECT_EQ(reason([](MeasuredRow& row) {
              row.recompute_kind = "full";
              row.recompute_detail = "operators";
            }),
            "recompute_detail operators does not fit recompute_kind full");
}

// Fused attention kernels take only 8- and 16-bit operands.
TEST(PredictionTest, AttentionOf32BitsIsUnfused) {
  MeasuredRow row = Gpt();
  row.dtype = "fp32";
  EXPECT_TRUE(Uses(Predict(row), "attention unfused"));
}

TEST(PredictionTest, RatesAndTimesAgree) {
  MeasuredRow row = Gpt();
  const double seconds = Predict(row).value.value();
  row.metric_kind = "tokens_per_s_per_gpu";
  EXPECT_NEAR(Predict(row).value.value(), 32 * 1024 / 16 / seconds, 1e-6 / seconds);
}

TEST(PredictionTest, SourcesOfPassesAloneHaveNoOptimizer) {
  MeasuredRow row = Gpt();
  const double with = Predict(row).value.value();
  row.source = "NeuSight-dist";
  const Prediction without = Predict(row);
  EXPECT_LT(without.value.value(), with);
  EXPECT_TRUE(Uses(without, "no optimizer"));
}

TEST(PredictionTest, WhatCannotBeSimulatedHasAReason) {
  const std::pair<void (*)(MeasuredRow&), const char*> cases[] = {
      {[](MeasuredRow& r) { r.model_kind = "a3c"; }, "model kind a3c is not simulated"},
      {[](MeasuredRow& r) { r.model_kind = "autoencoder"; },
       "model kind autoencoder is not simulated"},
      {[](MeasuredRow& r) { r.model_kind = ""; }, "model kind is not stated"},
      {[](MeasuredRow& r) { r.stack = "mystery"; }, "stack \"mystery\" is not known"},
      {[](MeasuredRow& r) { r.gpu_id = "abacus"; }, "GPU \"abacus\" is not in the catalogue"},
      {[](MeasuredRow& r) { r.intra_kind = "string"; }, "wiring \"string\" is not known"},
      {[](MeasuredRow& r) { r.inter_gbit_per_node = "fast"; },
       "network \"fast\" is not a number of Gbit/s"},
      {[](MeasuredRow& r) { r.gpus_per_node = 5; },
       "16 GPUs of a100-sxm4-80gb do not fill nodes of 5"},
      {[](MeasuredRow& r) { r.dtype = "int8"; }, "number format int8 is not simulated"},
      {[](MeasuredRow& r) { r.attention_backend = "unfused", r.attention_version = "flash2"; },
       "attention_backend unfused contradicts attention_version flash2"},
      {[](MeasuredRow& r) { r.attention_version = "flash9"; }, "attention flash9 is not simulated"},
      {[](MeasuredRow& r) { r.schedule = "zb-h3"; }, "pipeline schedule zb-h3 is not simulated"},
      {[](MeasuredRow& r) { r.ep = 2; }, "rows of expert parallelism do not describe the experts"},
      {[](MeasuredRow& r) { r.zero = "7"; }, "zero 7 is not a kind of sharding"},
      {[](MeasuredRow& r) { r.vocab_placement = "vocab-3"; },
       "vocabulary placement vocab-3 is not simulated"},
      {[](MeasuredRow& r) { r.vocab_placement = "vocab-1"; },
       "vocabulary: vocab-1 with schedule interleaved, want it with 1f1b or v-half or v-min"},
      {[](MeasuredRow& r) { r.vocab_placement = "redistributed"; },
       "layers per stage of the redistributed placement are not stated"},
      {[](MeasuredRow& r) { r.stack = "megatron-2021"; }, "micro-batch is not stated"},
      {[](MeasuredRow& r) { r.metric_kind = "mfu"; }, "FLOP convention is not stated"},
      {[](MeasuredRow& r) { r.metric_kind = "joy"; }, "metric kind joy is not predicted"},
      {[](MeasuredRow& r) { r.metric_kind = "peak_memory_allocated"; },
       "the rank whose memory was measured is not stated"},
  };
  for (const auto& [change, reason] : cases) {
    MeasuredRow row = Gpt();
    change(row);
    const Prediction prediction = Predict(row);
    EXPECT_FALSE(prediction.value.has_value()) << reason;
    EXPECT_EQ(prediction.reason, reason);
  }
}

TEST(PredictionTest, SchedulesInAVHaveTwoChunksPerStage) {
  MeasuredRow row = Gpt();
  row.schedule = "v-half";
  row.interleave = 1;
  const double named = *Predict(row).value;
  row.schedule = "other:v-half";  // the tables have no word of their own for it
  EXPECT_EQ(*Predict(row).value, named);
  row.vocab_placement = "vocab-1";
  EXPECT_NE(*Predict(row).value, named);
  row.schedule = "other:w-half";
  EXPECT_EQ(Predict(row).reason, "pipeline schedule other:w-half is not simulated");
}

// The plan has two stages of two replicas each.
TEST(RowPlanTest, StagesTakeTheGpusTheyName) {
  MeasuredRow row = Gpt();
  row.gpu_id = "a100-sxm4-80gb*2+v100-sxm2-32gb*2";
  row.intra_kind = "";
  row.inter_gbit_per_node = "100";
  row.gpus_per_node = row.n_nodes = 0;
  row.schedule = "1f1b";
  row.dtype = "fp16";
  row.tp = 1;
  row.pp = row.dp = 2;
  row.n_gpus = 4;
  using Replicas = std::vector<std::vector<int>>;
  const auto replicas = [&](const char* stage_gpus) {
    row.stage_gpus = stage_gpus;
    CompletedRow completed = CompleteRow(row, RowFacts(), StackTable::Embedded());
    const Plan plan = BuildRowPlan(completed).plan;
    return std::pair(plan.stages[0].replicas, plan.stages[1].replicas);
  };
  EXPECT_EQ(replicas("v100-sxm2-32gb,v100-sxm2-32gb|a100-sxm4-80gb,a100-sxm4-80gb"),
            std::pair(Replicas({{2}, {3}}), Replicas({{0}, {1}})));
  EXPECT_EQ(replicas("a100-sxm4-80gb,v100-sxm2-32gb|a100-sxm4-80gb,v100-sxm2-32gb"),
            std::pair(Replicas({{0}, {2}}), Replicas({{1}, {3}})));
  EXPECT_EQ(replicas("v100-sxm2-32gb|a100-sxm4-80gb"),
            std::pair(Replicas({{2}, {3}}), Replicas({{0}, {1}})));
  EXPECT_TRUE(Predict(row).value.has_value()) << Predict(row).reason;
  row.stage_gpus = "a100-sxm4-80gb|a100-sxm4-80gb";
  EXPECT_EQ(Predict(row).reason, "the stages take more GPUs \"a100-sxm4-80gb\" than the row has");
  row.stage_gpus = "a100-sxm4-80gb";
  EXPECT_EQ(Predict(row).reason, "GPUs of 1 stages are stated, but pp is 2");
}

// Over a single rank nothing can be sharded.
TEST(PredictionTest, ZeroOfAnyLevelOnOneReplicaIsNone) {
  MeasuredRow row = Gpt();
  row.n_gpus = 8;
  row.n_nodes = 1;
  row.dp = 1;
  row.zero = "3";
  EXPECT_TRUE(Predict(row).value.has_value());
}

TEST(PredictionTest, MemoryOfTheFullestRankIsTheMost) {
  MeasuredRow row = Gpt();
  row.metric_kind = "peak_memory_allocated";
  row.schedule = "1f1b";
  const auto memory = [&](const char* rank) {
    row.rank = rank;
    return Predict(row).value.value();
  };
  EXPECT_GE(memory("max"), memory("first"));
  EXPECT_GE(memory("max"), memory("last"));
  const double allocated = memory("max");
  row.metric_kind = "peak_memory_reserved";
  EXPECT_GT(memory("max"), allocated);
}

// Reserved memory is the allocator's: without NCCL's buffers and the context, which nvidia-smi
// shows.
TEST(PredictionTest, WhatLiesOutsideOfTheAllocatorCountsOnlyIfTheMetricSaysSo) {
  MeasuredRow row = Gpt();
  row.schedule = "1f1b";
  row.rank = "max";
  row.metric_kind = "peak_memory_reserved";
  const Prediction reserved = Predict(row);
  EXPECT_TRUE(Uses(reserved, "reserved, without buffers and CUDA context"));
  row.metric_kind = "peak_memory_allocated";
  row.metric = "peak_memory_max";
  const Prediction shown = Predict(row);
  EXPECT_GT(*shown.value, *reserved.value + 1.1e9);
  ASSERT_TRUE(shown.value_without.has_value());
  EXPECT_LT(*shown.value_without, *reserved.value);
}

// With 4 stages and 8 micro-batches of 1 + 1 + 1 ms, 1F1B is idle for (p - 1) / (m + p - 1) = 3/11.
TEST(PredictionTest, BubbleRatesAreThoseOfTheFormulas) {
  MeasuredRow row = Gpt();
  row.metric_kind = "bubble_rate";
  row.schedule = "1f1b";
  row.stage_times_ms = "1,1,1,0";
  row.micro_batch = 2;
  EXPECT_NEAR(Predict(row).value.value(), 3.0 / 11, 1e-9);
  row.schedule = "interleaved";
  row.interleave = 3;
  EXPECT_NEAR(Predict(row).value.value(), 1.0 / 9, 1e-9);
  // ZB-H1 is idle for (p - 1)(F + B - W) = 3 of 27 ms; with twice the memory no bubble is left.
  row.schedule = "zb-h1";
  EXPECT_NEAR(Predict(row).value.value(), 3.0 / 27, 1e-9);
  row.schedule = "zb-auto-2p";
  EXPECT_NEAR(Predict(row).value.value(), 0, 1e-9);
  row.stage_times_ms = "1,1,1";
  EXPECT_EQ(Predict(row).reason, "stage times \"1,1,1\" are not four numbers of milliseconds");
}

TEST(PredictionTest, TimesHaveAnIntervalMemoryHasNone) {
  MeasuredRow row = Gpt();
  EXPECT_GE(Predict(row).spread.value(), 0);
  row.metric_kind = "tokens_per_s";
  EXPECT_EQ(Predict(row).spread, Predict(Gpt()).spread);
  row.metric_kind = "peak_memory_allocated";
  row.rank = "max";
  EXPECT_FALSE(Predict(row).spread.has_value());
}

// The metric peak_memory is that of nvidia-smi, which includes the CUDA context.
TEST(PredictionTest, MemoryCountsTheContextIfItsMetricDoes) {
  MeasuredRow row = Gpt();
  row.metric_kind = "peak_memory_reserved";
  row.rank = "first-last";
  const double reserved = Predict(row).value.value();
  row.metric = "peak_memory";
  EXPECT_GT(Predict(row).value.value(), reserved + 1e9);
}

}  // namespace
}  // namespace stagecraft
