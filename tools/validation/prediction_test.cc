#include "tools/validation/prediction.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "costmodel/analytical_model.h"
#include "costmodel/check.h"
#include "sim/cluster.h"
#include "tools/validation/row_cluster.h"
#include "tools/validation/row_plan.h"

namespace stagecraft {
namespace {

MeasuredRow Gpt() {
  MeasuredRow row;
  row.source = "paper";
  row.stack = "megatron-core";
  row.model_kind = "gpt";
  row.layers = 8;
  row.hidden = 1024;
  row.heads = 16;
  row.seq = 1024;
  row.global_batch = 32;
  row.tp = 2;
  row.pp = 4;
  row.dp = 2;
  row.n_gpus = 16;
  row.n_nodes = 2;
  row.gpus_per_node = 8;
  row.gpu_id = "a100-sxm4-80gb";
  row.intra_kind = "nvlink3-nvswitch";
  row.inter_gbit_per_node = "1600";
  row.dtype = "bf16";
  row.metric_kind = "step_time";
  row.value = 1;
  row.is_scored = true;
  return row;
}

Prediction Predict(const MeasuredRow& row) {
  return PredictRow(row, StackTable::Embedded(), AnalyticalModel());
}

bool Uses(const Prediction& prediction, const std::string& what) {
  const auto& used = prediction.defaults_used;
  return std::find(used.begin(), used.end(), what) != used.end();
}

TEST(PredictionTest, NamesEveryDefaultItUsed) {
  const Prediction prediction = Predict(Gpt());
  ASSERT_TRUE(prediction.value.has_value()) << prediction.reason;
  EXPECT_EQ(prediction.defaults_used,
            (std::vector<std::string>{"vocab 50257", "vocab padded to 50432", "attention flash",
                                      "order interleaved", "interleave 2", "micro_batch 1",
                                      "recompute none", "sequence_parallel no", "zero 1",
                                      "overlap_grad_reduce yes", "network as 8 x 200 Gbit/s"}));
}

TEST(PredictionTest, WhatARowStatesIsNoDefault) {
  MeasuredRow row = Gpt();
  row.vocab = 50432;
  row.attention_backend = "unfused";
  row.order = "1f1b";
  row.micro_batch = 2;
  row.recompute_kind = "full";
  row.sequence_parallel = "yes";
  row.zero = "0";
  row.overlap_grad_reduce = "no";
  row.inter_gbit_per_node = "100";
  const Prediction prediction = Predict(row);
  ASSERT_TRUE(prediction.value.has_value()) << prediction.reason;
  EXPECT_TRUE(prediction.defaults_used.empty());
}

TEST(PredictionTest, InterleavingThatDoesNotDivideBecomesOneForwardOneBackward) {
  MeasuredRow row = Gpt();
  row.layers = 10;
  EXPECT_TRUE(Uses(Predict(row), "order 1f1b"));
}

// Fused attention kernels take 8- and 16-bit operands.
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
      {[](MeasuredRow& r) { r.model_kind = "bert"; }, "model kind bert is not simulated"},
      {[](MeasuredRow& r) { r.model_kind = ""; }, "model kind is not stated"},
      {[](MeasuredRow& r) { r.stack = "mystery"; }, "stack \"mystery\" is not known"},
      {[](MeasuredRow& r) { r.gpu_id = "abacus"; }, "GPU \"abacus\" is not in the catalogue"},
      {[](MeasuredRow& r) { r.intra_kind = "string"; }, "wiring \"string\" is not known"},
      {[](MeasuredRow& r) { r.inter_gbit_per_node = "fast"; },
       "network \"fast\" is not a number of Gbit/s"},
      {[](MeasuredRow& r) { r.gpus_per_node = 5; },
       "16 boards of a100-sxm4-80gb do not fill nodes of 5"},
      {[](MeasuredRow& r) { r.dtype = "nvfp4"; }, "number format nvfp4 is not simulated"},
      {[](MeasuredRow& r) { r.order = "zb-h1"; }, "pipeline order zb-h1 is not simulated"},
      {[](MeasuredRow& r) { r.ep = 2; }, "expert parallelism is not simulated yet"},
      {[](MeasuredRow& r) { r.zero = "7"; }, "zero 7 is not a kind of sharding"},
      {[](MeasuredRow& r) { r.vocab_placement = "vocab-1"; },
       "vocabulary placement vocab-1 is not simulated"},
      {[](MeasuredRow& r) { r.stack = "megatron-2021"; }, "micro-batch is not stated"},
      {[](MeasuredRow& r) { r.metric_kind = "mfu"; }, "FLOP convention is not stated"},
      {[](MeasuredRow& r) { r.metric_kind = "joy"; }, "metric kind joy is not predicted"},
      {[](MeasuredRow& r) { r.metric_kind = "peak_memory_allocated"; },
       "which rank's memory it is, is not stated"},
  };
  for (const auto& [change, reason] : cases) {
    MeasuredRow row = Gpt();
    change(row);
    const Prediction prediction = Predict(row);
    EXPECT_FALSE(prediction.value.has_value()) << reason;
    EXPECT_EQ(prediction.reason, reason);
  }
}

// Sharding over a single rank shares nothing out.
TEST(PredictionTest, EveryZeroOfOneReplicaIsNone) {
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
  row.order = "1f1b";
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

// 4 stages, 8 micro-batches of 1 + 1 + 1 ms: (p - 1) / (m + p - 1) = 3 / 11.
TEST(PredictionTest, BubbleOfOneForwardOneBackward) {
  MeasuredRow row = Gpt();
  row.metric_kind = "bubble_rate";
  row.order = "1f1b";
  row.stage_times_ms = "1,1,1,0";
  row.micro_batch = 2;
  EXPECT_NEAR(Predict(row).value.value(), 3.0 / 11, 1e-9);
  row.order = "interleaved";
  row.interleave = 3;
  EXPECT_NEAR(Predict(row).value.value(), 1.0 / 9, 1e-9);
  row.stage_times_ms = "1,1,1";
  EXPECT_EQ(Predict(row).reason, "stage times \"1,1,1\" are not four numbers of milliseconds");
}

TEST(PredictionTest, LayerPassesAddUp) {
  MeasuredRow row = Gpt();
  row.metric_kind = "layer_time";
  row.micro_batch = 4;
  const auto seconds = [&](const char* metric) {
    row.metric = metric;
    return Predict(row).value.value();
  };
  EXPECT_DOUBLE_EQ(seconds("layer_fwd_bwd_time"),
                   seconds("layer_forward_time") + seconds("layer_backward_time"));
}

TEST(PredictionTest, KernelsAreTimesOrRates) {
  MeasuredRow row;
  row.gpu_id = "a100-sxm4-80gb";
  row.dtype = "fp16";
  row.op = "gemm";
  row.m = row.n = row.k = 4096;
  row.metric_kind = "kernel_time";
  const double seconds = Predict(row).value.value();
  row.metric_kind = "kernel_tflops";
  EXPECT_NEAR(Predict(row).value.value(), 2 * 4096.0 * 4096 * 4096 / seconds * 1e-12, 1e-6);
}

// Bus bandwidth of n ranks: 2 (n - 1) / n x bytes / time.
TEST(PredictionTest, CollectivesAreTimesOrBusBandwidths) {
  MeasuredRow row;
  row.gpu_id = "a100-sxm4-80gb";
  row.intra_kind = "nvlink3-nvswitch";
  row.n_gpus = row.gpus_per_node = 4;
  row.collective = "all_reduce";
  row.bytes = 1 << 30;
  row.metric_kind = "collective_time";
  const double seconds = Predict(row).value.value();
  row.metric_kind = "collective_busbw";
  EXPECT_NEAR(Predict(row).value.value(), 1.5 * 1.073741824 / seconds, 1e-6);
}

TEST(RowClusterTest, MixturesAreGroupsInRankOrder) {
  MeasuredRow row = Gpt();
  row.gpu_id = "v100-sxm2-32gb*8+a100-sxm4-80gb*16";
  row.intra_kind = "v100-sxm2-32gb:nvlink2-cube-mesh+a100-sxm4-80gb:nvlink3-nvswitch";
  row.inter_gbit_per_node = "v100-sxm2-32gb:100+a100-sxm4-80gb:1600";
  row.n_gpus = 24;
  std::vector<std::string> defaults;
  const Cluster cluster = BuildRowCluster(row, defaults);
  ASSERT_EQ(cluster.groups().size(), 2u);
  EXPECT_EQ(cluster.groups()[0].type.wiring, Wiring::kCubeMesh);
  EXPECT_EQ(cluster.groups()[1].count, 2);
  EXPECT_EQ(cluster.groups()[1].type.nics, 8);
  EXPECT_EQ(cluster.device(8).id, "a100-sxm4-80gb");
}

TEST(RowClusterTest, TheBoardWinsOverTheNodesOwn) {
  MeasuredRow row = Gpt();
  row.node_id = "dgx-a100";
  row.gpu_id = "a100-sxm4-40gb";
  std::vector<std::string> defaults;
  EXPECT_EQ(BuildRowCluster(row, defaults).device(0).id, "a100-sxm4-40gb");
  EXPECT_TRUE(defaults.empty());
}

TEST(RowClusterTest, AnUnstatedNetworkIsTheReferenceNodes) {
  MeasuredRow row = Gpt();
  row.inter_gbit_per_node = "";
  std::vector<std::string> defaults;
  BuildRowCluster(row, defaults);
  EXPECT_EQ(defaults, (std::vector<std::string>{"network of dgx-a100: 8 x 200 Gbit/s"}));
}

TEST(StackTableTest, EmbeddedTableHasTheStacksOfTheReadme) {
  for (const char* stack :
       {"megatron-2020", "megatron-2021", "megatron-core", "nemo", "megatron-deepspeed",
        "deepspeed", "fsdp", "internevo", "ddp", "oneflow", "torchgpipe", "sailor", "other"}) {
    EXPECT_NE(StackTable::Embedded().Find(stack), nullptr) << stack;
  }
  EXPECT_EQ(StackTable::Embedded().Find("nemo")->zero, 1);
}

TEST(StackTableTest, BadTablesSayWhere) {
  const std::string good =
      "stacks { id: \"a\" recompute: \"none\" order: \"1f1b\" attention: \"flash\" }";
  const std::pair<std::string, const char*> cases[] = {
      {"stacks { id: \"a\" recompute: \"some\" }",
       "t: stacks[0].recompute: got \"some\", want one of none, selective, full"},
      {good + good, "t: stacks[1].id: got \"a\" twice, want it once"},
      {good, "t: gpt_vocabulary: got 0, want > 0"},
  };
  for (const auto& [text, error] : cases) {
    try {
      StackTable::Parse(text, "t");
      ADD_FAILURE() << text;
    } catch (const InputError& caught) {
      EXPECT_STREQ(caught.what(), error);
    }
  }
}

}  // namespace
}  // namespace stagecraft
