#include "sim/plan/plan_proto.h"

#include <gtest/gtest.h>

#include <cctype>
#include <iterator>
#include <string>
#include <vector>

#include "costmodel/check.h"
#include "costmodel/enum_to_proto.h"
#include "costmodel/proto_file.h"
#include "sim/cluster/cluster_spec.h"
#include "sim/pipeline/pipeline_schedule.h"
#include "sim/pipeline/vocabulary_placement.h"
#include "sim/workload/workload_catalogue.h"

namespace stagecraft {
namespace {

// A GPT of 6 blocks, so 8 layers, and 16 heads, on 16 GPUs.
const Workload& SmallWorkload() {
  static const Workload workload = LoadWorkload("megatron:6x1024x16", AttentionBackend::kFlash);
  return workload;
}

const Cluster& SmallCluster() {
  static const Cluster cluster = ParseCluster("h100-sxm:2x8");
  return cluster;
}

Plan ReadFor(const Workload& workload, const std::string& text,
             const std::string& extension = ".textproto") {
  PlanProto proto;
  ParseProtoText(text, "plan" + extension, extension, &proto);
  CheckPlanStructure(proto, "plan" + extension);
  return PlanFromProto(proto, workload, SmallCluster(), "plan" + extension);
}

Plan Read(const std::string& text, const std::string& extension = ".textproto") {
  return ReadFor(SmallWorkload(), text, extension);
}

// Plan has no ==, so plans are compared by their protos, field by field.
std::string Bytes(const Plan& plan) { return ToProto(plan).DebugString(); }

constexpr const char* kBatch = "micro_batch: 1 global_batch: 16 sequence: 2048 ";
// Two stages of 4 layers with 2 x 4 devices each.
constexpr const char* kFirst =
    "stages { chunks { first: 0 count: 4 } tensor_parallel: 4 "
    "replicas { devices: [0, 1, 2, 3] } replicas { devices: [4, 5, 6, 7] } } ";
constexpr const char* kSecond =
    "stages { chunks { first: 4 count: 4 } tensor_parallel: 4 "
    "replicas { devices: [8, 9, 10, 11] } replicas { devices: [12, 13, 14, 15] } } ";

TEST(PlanProtoTest, DegreesAndStagesGiveTheSamePlan) {
  const Plan stages = Read(std::string(kBatch) + kFirst + kSecond);
  const Plan degrees = Read(std::string(kBatch) + "degrees { tp: 4 pp: 2 }");
  EXPECT_EQ(Bytes(stages), Bytes(degrees));
  EXPECT_EQ(stages.zero, 1);
  EXPECT_TRUE(stages.sequence_parallel);
  EXPECT_EQ(stages.gradient_bytes, 4);
}

TEST(PlanProtoTest, KeepsHowExpertsExchangeRowsAndWhatIsComputedAgain) {
  const Workload experts = LoadWorkload("mixtral-8x7b", AttentionBackend::kFlash);
  const Plan plan =
      ReadFor(experts, std::string(kBatch) +
                           "degrees { tp: 4 pp: 2 ep: 2 } precision: FP8 fp8_recipe: BLOCK "
                           "optimizer: ADAM_16BIT expert_sends: ONCE_PER_NODE "
                           "dispatches_8_bits: true pairs_passes: true recompute_norms: true "
                           "recompute_activations: true keeps_8_bits: true "
                           "framework { exposes_exchanges: true multiplies_experts_apart: true }");
  EXPECT_EQ(plan.fp8_recipe, Fp8Recipe::kBlock);
  EXPECT_EQ(plan.optimizer, Optimizer::kAdam16Bit);
  EXPECT_EQ(plan.expert_exchange, (ExpertExchange{ExpertSends::kOncePerNode, true}));
  EXPECT_EQ(Name(plan.recomputed_parts), "norms,activations");
  EXPECT_TRUE(plan.schedule_options.pairs_passes);
  EXPECT_TRUE(plan.keeps_8_bits);
  EXPECT_FALSE(plan.framework.hides_exchanges);
  EXPECT_TRUE(plan.framework.multiplies_experts_apart);
  EXPECT_EQ(Bytes(ReadFor(experts, ToProto(plan).DebugString())), Bytes(plan));
}

TEST(PlanProtoTest, WordsOfRecomputedParts) {
  for (const char* names :
       {"none", "norms", "latents", "activations", "norms,latents,activations"}) {
    EXPECT_EQ(Name(FindRecomputedParts(names).value()), names);
  }
  for (const char* names : {"", "norm", "norms,", ",norms", "norms latents"}) {
    EXPECT_FALSE(FindRecomputedParts(names).has_value()) << names;
  }
}

TEST(PlanProtoTest, RecomputedLayersCanBeGivenInTwoWays) {
  const Plan block = Read(std::string(kBatch) +
                          "degrees { tp: 4 pp: 2 recompute: FULL recompute_num_layers: [2, 1] }");
  const Plan listed = Read(std::string(kBatch) +
                           "degrees { tp: 4 pp: 2 recompute: NONE "
                           "recompute_layers { first: 1 count: 2 } "
                           "recompute_layers { first: 4 count: 1 } }");
  EXPECT_EQ(Bytes(block), Bytes(listed));
  EXPECT_EQ(block.stages[1].recomputed, (std::vector<LayerRange>{{4, 1}}));
  const Plan again = Read(ToProto(block).DebugString());
  EXPECT_EQ(Bytes(again), Bytes(block));
}

TEST(PlanProtoTest, YamlReadsAsAPersonWouldWriteIt) {
  const Plan plan = Read(
      "schema: 1\ndegrees: {tp: 2, pp: 2, virtual_stages: 2, recompute: full}\n"
      "micro_batch: 1\nglobal_batch: 32\nsequence: 2048\nprecision: fp16\n"
      "order: interleaved\nsequence_parallel: false\nzero: 0\n",
      ".yaml");
  EXPECT_EQ(plan.schedule, PipelineSchedule::kInterleaved);
  EXPECT_EQ(plan.chunk_count(), 2);
  EXPECT_EQ(plan.stages[1].replicas.size(), 4u);
  EXPECT_EQ(plan.stages[0].recompute, Recompute::kFull);
  EXPECT_EQ(plan.gradient_bytes, 2);
  EXPECT_FALSE(plan.sequence_parallel);
  EXPECT_EQ(plan.zero, 0);
}

TEST(PlanProtoTest, AbsentOrderFollowsTheChunks) {
  EXPECT_EQ(Read(std::string(kBatch) + "degrees { pp: 2 virtual_stages: 2 }").schedule,
            PipelineSchedule::kInterleaved);
  EXPECT_EQ(Read(std::string(kBatch) + "degrees { pp: 2 }").schedule,
            PipelineSchedule::kOneForwardOneBackward);
}

TEST(PlanProtoTest, StageLayersAreBlocksOfEachStage) {
  const Plan plan = Read(std::string(kBatch) + "degrees { tp: 4 pp: 2 stage_layers: [2, 4] }");
  EXPECT_EQ(plan.stages[0].chunks[0], (LayerRange{0, 3}));
  EXPECT_EQ(plan.stages[1].chunks[0], (LayerRange{3, 5}));
}

TEST(PlanProtoTest, OnlyKernelsOfTrainingAreChosen) {
  EXPECT_EQ(Read(std::string(kBatch) + "degrees { tp: 4 pp: 2 } attention_kernel: FLASH2")
                .attention_kernel,
            AttentionKernel::kFlash2);
  for (const char* other : {"FLASH", "FUSED", "TRITON"}) {
    EXPECT_THROW(Read(std::string(kBatch) + "degrees { tp: 4 pp: 2 } attention_kernel: " + other),
                 InputError)
        << other;
  }
}

// Also stages that differ in replicas, degrees and recomputation, and idle devices.
TEST(PlanProtoTest, RoundTripKeepsEveryField) {
  std::vector<Plan> plans = {
      Read(std::string(kBatch) + kFirst + kSecond),
      Read(std::string(kBatch) + "degrees { pp: 2 virtual_stages: 2 }"),
      Read(std::string(kBatch) + "order: GPIPE forward_only: true degrees { tp: 8 cp: 2 }")};
  Plan odd = plans[0];
  odd.stages[1].tensor_parallel = 2;
  odd.stages[1].context_parallel = 2;
  odd.stages[1].recompute = Recompute::kFull;
  odd.stages[1].replicas = {{8, 9, 12, 13}};
  odd.precision = DType::kFp8;
  odd.fp8_recipe = Fp8Recipe::kCurrent;
  odd.attention_kernel = AttentionKernel::kFlash3;
  odd.zero = 0;
  odd.gradient_bytes = 2;
  odd.overlap_grad_reduce = false;
  odd.overlap_param_gather = true;
  odd.sequence_parallel = false;
  odd.rank_order = "pp-dp-ep-cp-tp";
  plans.push_back(odd);
  odd = plans[0];
  const int replicas = static_cast<int>(odd.stages[0].replicas.size());
  odd.stages[0].replica_micro_batches.assign(replicas, 1);
  odd.stages[0].replica_micro_batches[0] += static_cast<int>(odd.micro_batches()) - replicas;
  odd.zero = 0;
  plans.push_back(odd);
  odd.gradient_sync.method = SyncMethod::kRollingServer;
  odd.gradient_sync.step = 7;
  odd.gradient_sync.dead_server = 1;
  odd.gradient_sync.timeout = 3_us;
  plans.push_back(odd);
  odd.gradient_sync = {};
  odd.gradient_sync.method = SyncMethod::kGossip;
  odd.gradient_sync.peers = 1;
  plans.push_back(odd);
  odd = plans[0];
  odd.offload.optimizer = true;
  odd.offload.activations = 0.25;
  odd.offload.host_memory = stagecraft::Bytes(int64_t{1} << 39);
  plans.push_back(odd);
  for (const VocabularyPlacement placement :
       {VocabularyPlacement::kVocab1, VocabularyPlacement::kVocab2,
        VocabularyPlacement::kInterlaced}) {
    odd = plans[0];
    odd.schedule_options.vocabulary = placement;
    plans.push_back(odd);
  }
  for (const Plan& plan : plans) {
    const PlanProto proto = ToProto(plan);
    const Plan back = PlanFromProto(proto, SmallWorkload(), SmallCluster(), "p");
    EXPECT_EQ(Bytes(back), proto.DebugString());
    EXPECT_EQ(back.stages[0].replicas, plan.stages[0].replicas);
    EXPECT_EQ(back.rank_order, plan.rank_order);
    EXPECT_EQ(back.precision, plan.precision);
    EXPECT_EQ(back.fp8_recipe, plan.fp8_recipe);
    EXPECT_EQ(back.attention_kernel, plan.attention_kernel);
    for (size_t s = 0; s < plan.stages.size(); ++s) {
      EXPECT_EQ(back.stages[s].replica_micro_batches, plan.stages[s].replica_micro_batches);
    }
    EXPECT_EQ(back.schedule, plan.schedule);
    EXPECT_EQ(back.gradient_sync, plan.gradient_sync);
    EXPECT_EQ(back.offload, plan.offload);
    EXPECT_EQ(back.schedule_options.vocabulary, plan.schedule_options.vocabulary);
    // Through each file format too.
    EXPECT_EQ(Bytes(Read(proto.DebugString())), proto.DebugString());
    EXPECT_EQ(Bytes(Read(proto.SerializeAsString(), ".pb")), proto.DebugString());
  }
}

struct BadPlan {
  std::string text;
  std::string want;  // somewhere in the sentence
  std::string extension = ".textproto";
};

void ExpectRefused(const BadPlan& bad) {
  try {
    Read(bad.text, bad.extension);
    ADD_FAILURE() << "accepted: " << bad.text;
  } catch (const InputError& error) {
    const std::string sentence = error.what();
    EXPECT_TRUE(sentence.starts_with("plan" + bad.extension + ":")) << sentence;
    EXPECT_NE(sentence.find(bad.want), std::string::npos) << sentence << "\nwant: " << bad.want;
    EXPECT_EQ(sentence.find('\n'), std::string::npos) << sentence;
  }
}

// Makes a plan from the batch numbers with `text` after them.
BadPlan After(const std::string& text, const std::string& want) { return {kBatch + text, want}; }

// Adds a second stage with these chunks and devices.
std::string Second(const std::string& chunks, const std::string& devices) {
  return std::string(kFirst) + "stages { tensor_parallel: 4 " + chunks + " replicas { devices: [" +
         devices + "] } } ";
}

TEST(PlanProtoTest, BadStagesAreRefusedInOneSentence) {
  const std::string kLast = "chunks { first: 4 count: 4 }";
  const std::vector<BadPlan> cases = {
      After(Second(kLast, "8, 9, 10, 8"),
            "stages[1].replicas[0].devices[3]: got 8, which the plan "
            "uses twice"),
      After(Second(kLast, "8, 9, 10, 7"), "got 7, which the plan uses twice"),
      After(Second(kLast, "8, 9, 10, 16"), "device 16 is not one of the 16 devices"),
      After(Second(kLast, "8, 9, 10, -1"), "devices[3]: got -1, want 0 to"),
      After(Second(kLast, "8, 9, 10, 2147483647"), "devices[3]: got 2147483647"),
      After(Second(kLast, "8, 9, 10"),
            "stages[1].replicas[0].devices: got 3, want "
            "tensor_parallel 4 x context_parallel 1 = 4"),
      After(Second("chunks { first: 5 count: 3 }", "8, 9, 10, 11"), "got 5, want 4"),
      After(Second("chunks { first: 3 count: 5 }", "8, 9, 10, 11"), "got 3, want 4"),
      After(Second("chunks { first: 4 count: 3 }", "8, 9, 10, 11"), "hold 7 layers, but"),
      After(Second("chunks { first: 4 count: 5 }", "8, 9, 10, 11"), "of 8 in all"),
      After(Second("chunks { first: 4 }", "8, 9, 10, 11"), "chunks[0].count: got 0, want 1 to"),
      After(Second("chunks { first: -4 count: 8 }", "8, 9, 10, 11"), "first: got -4"),
      After(Second("chunks { first: 4 count: 2147483647 }", "8, 9, 10, 11"), "got 2147483647"),
      After(Second("", "8, 9, 10, 11"), "stages[1].chunks: got none"),
      After(Second(kLast + "chunks { first: 8 count: 1 }", "8, 9, 10, 11"), "got 2, want 1"),
      After("stages { chunks { count: 8 } }", "stages[0].replicas: got none"),
      After("stages { chunks { count: 8 } tensor_parallel: 3 replicas { devices: [0, 1, 2] } }",
            "3 does not divide the 16 attention heads"),
      After("stages { chunks { count: 8 } tensor_parallel: 0 replicas { devices: 0 } }",
            "stages[0].tensor_parallel: got 0, want 1 to"),
      After("stages { chunks { count: 8 } context_parallel: -2 replicas { devices: 0 } }",
            "stages[0].context_parallel: got -2"),
      After("stages { chunks { count: 8 } tensor_parallel: 1000000 context_parallel: 1000000 "
            "replicas { devices: 0 } }",
            "= 1000000000000"),
      After("order: INTERLEAVED stages { chunks { count: 8 } replicas { devices: 0 } }",
            "order: interleaved with 1 chunk per stage, want at least 2"),
  };
  for (const BadPlan& bad : cases) ExpectRefused(bad);
}

TEST(PlanProtoTest, BadNumbersAreRefusedInOneSentence) {
  const std::vector<BadPlan> cases = {
      After("", "got neither stages nor degrees"),
      After(std::string(kFirst) + kSecond + "degrees {}", "got both stages and degrees"),
      After("degrees { tp: 3 }", "does not divide the 16 devices"),
      After("degrees { tp: 16 pp: 2 }", "does not divide the 16 devices"),
      After("gradient_sync: RING_ALL_REDUCE zero: 1 degrees {}", "ring wants zero 0"),
      After("gradient_sync: GOSSIP sync_peers: -1 degrees {}", "sync_peers: got -1, want 0 to"),
      After("gradient_sync: BYTEPS sync_servers: 1 degrees { dp: 16 }",
            "that are not parameter servers"),
      After("dead_server: 1 degrees {}", "dead_server: got 1, want none with all-reduce"),
      After("sync_timeout_ns: -1 degrees {}", "sync_timeout_ns: got -1, want 0 to"),
      After("degrees { tp: -1 }", "degrees.tp: got -1, want 1 to"),
      After("degrees { pp: 0 }", "degrees.pp: got 0"),
      After("degrees { dp: 0 }", "degrees.dp: got 0"),
      After("degrees { dp: 3 }", "dp: tp 1 x cp 1 x pp 1 x dp 3 = 3, but"),
      After("degrees { tp: 1000000 pp: 1000000 cp: 1000000 }", "does not divide"),
      After("degrees { ep: 2 }", "expert_parallel: got 2"),
      After("degrees { pp: 16 }", "more than the 8 layers"),
      After("degrees { tp: 4 pp: 2 stage_layers: [2, 3] }", "2 stages with 5 layers in all"),
      After("degrees { pp: 2 stage_layers: [6] }", "got 1 numbers, want one for each of pp 2"),
      After("degrees { pp: 2 stage_layers: [-1, 7] }", "stage_layers[0]: got -1"),
      After("schema: 2 degrees {}", "schema: got 2"),
      After("zero: 4 degrees {}", "zero: got 4, want 0 to 3"),
      After("gradient_bytes: 3 degrees {}", "gradient_bytes: got 3, want 2 or 4"),
      After("rank_order: \"tp-pp\" degrees {}", "rank_order: got \"tp-pp\", want tp, cp"),
      After("rank_order: \"tp-tp-cp-ep-dp-pp\" degrees {}", "rank_order: got"),
      {"micro_batch: 3 global_batch: 16 sequence: 1 degrees {}",
       "want a multiple of micro_batch 3"},
      {"micro_batch: 0 global_batch: 16 sequence: 1 degrees {}", "micro_batch: got 0, want 1 to"},
      {"global_batch: -16 micro_batch: 1 sequence: 1 degrees {}", "global_batch: got -16"},
      {"global_batch: 16 micro_batch: 1 degrees {}", "sequence: got 0"},
      {"global_batch: 9223372036854775807 micro_batch: 1 sequence: 1 degrees {}",
       "global_batch: got 9223372036854775807"},
      {"micro_batch: 1 global_batch: 17 sequence: 2048 degrees {}", "is not a multiple"},
  };
  for (const BadPlan& bad : cases) ExpectRefused(bad);
}

TEST(PlanProtoTest, ASplitVocabularyIsRefusedWhereItIsNotSimulated) {
  const std::string kEight = "chunks { first: 4 count: 4 }";
  const std::vector<BadPlan> cases = {
      After("vocabulary: VOCAB_1 order: GPIPE degrees { pp: 2 }",
            "vocabulary: vocab-1 with schedule gpipe, want it with 1f1b or v-half or v-min"),
      After("vocabulary: VOCAB_2 degrees { pp: 2 virtual_stages: 2 }",
            "vocabulary: vocab-2 with schedule interleaved, want it with 1f1b or v-half or v-min"),
      After("vocabulary: INTERLACED degrees { tp: 2 }",
            "vocabulary: interlaced with one pipeline stage, want at least 2"),
      After("vocabulary: INTERLACED order: V_HALF degrees { pp: 2 virtual_stages: 2 }",
            "vocabulary: interlaced with schedule v-half, want it with 1f1b"),
      After("vocabulary: VOCAB_1 forward_only: true degrees { pp: 2 }",
            "vocabulary: vocab-1 with forward passes alone, want a training step"),
      After("vocabulary: VOCAB_1 offload_activations: 0.5 host_memory_bytes: 1000000000000 "
            "degrees { pp: 2 }",
            "vocabulary: vocab-1 with offload_activations 0.5, want 0"),
      After("vocabulary: VOCAB_1 zero: 0 " + Second(kEight, "8, 9, 10, 11"),
            "vocabulary: vocab-1 with stages of different degrees, want the same"),
      After("vocabulary: VOCAB_1 degrees { pp: 2 balance_head: true }",
            "redistributed vocabulary placement: got it with vocabulary vocab-1"),
      After("vocabulary: 9 degrees { pp: 2 }", "9"),
  };
  for (const BadPlan& bad : cases) ExpectRefused(bad);
  PlanProto proto;
  ParseProtoText(std::string(kBatch) + "vocabulary: VOCAB_1 degrees { pp: 2 }", "p", ".textproto",
                 &proto);
  const Workload t5 = LoadWorkload("t5-base", AttentionBackend::kFlash);
  try {
    PlanFromProto(proto, t5, SmallCluster(), "p");
    ADD_FAILURE() << "accepted";
  } catch (const InputError& error) {
    EXPECT_EQ(std::string(error.what()),
              "p: vocabulary: vocab-1 but t5-base looks up tokens in another layer, too");
  }
}

// Blocks that are left over go to the last stages, as the head is no longer there.
TEST(PlanProtoTest, ASplitVocabularyLeavesBlocksEven) {
  const Plan plan = Read(std::string(kBatch) + "vocabulary: VOCAB_1 degrees { tp: 4 pp: 4 }");
  EXPECT_EQ(plan.stages[0].chunks[0], (LayerRange{0, 2}));
  EXPECT_EQ(plan.stages[1].chunks[0], (LayerRange{2, 1}));
  EXPECT_EQ(plan.stages[2].chunks[0], (LayerRange{3, 2}));
  EXPECT_EQ(plan.stages[3].chunks[0], (LayerRange{5, 3}));
}

TEST(PlanProtoTest, FilesThatAreNoPlansAreRefusedInOneSentence) {
  const std::string binary =
      ToProto(Read(std::string(kBatch) + kFirst + kSecond)).SerializeAsString();
  const std::vector<BadPlan> cases = {
      After("degrees { tp: 99999999999 }", "out of range"),
      After("degrees { tp: nan }", "Expected integer"),
      After("degrees { tp: 1.5 }", "Expected integer"),
      After("order: ONE_F_ONE_B degrees {}", "Unknown enumeration value"),
      After("order: 70 degrees {}", "70"),
      After("degrees { tensor_parallel: 4 }", "has no field named \"tensor_parallel\""),
      After("degrees { tp: 4", "want a PlanProto in text format"),
      After("degrees { tp: 4 tp: 4 }", "tp"),
      {"", "got an empty file"},
      {binary.substr(0, binary.size() - 4), "damaged or cut short", ".pb"},
      {"\x7f"
       "ELF\x02\x01\x01",
       "damaged", ".pb"},
      {std::string("\x38\x46\x20\x01\x28\x10\x30\x01\x1a\x00", 10), "order: got 70", ".pb"},
      {"micro_batch: .nan\n", "micro_batch", ".yaml"},
      {"[1, 2]", "want", ".json"},
  };
  for (const BadPlan& bad : cases) ExpectRefused(bad);
}

TEST(PlanProtoTest, StructureIsCheckedWithoutWorkloadOrCluster) {
  PlanProto proto;
  ParseProtoText(std::string(kBatch) + "degrees { tp: 1000 }", "p", ".textproto", &proto);
  CheckPlanStructure(proto, "p");
  proto.mutable_degrees()->set_tp(0);
  EXPECT_THROW(CheckPlanStructure(proto, "p"), InputError);
}

TEST(PlanProtoTest, StagesTakeAsManyReplicasAsTheySay) {
  PlanProto proto;
  proto.set_micro_batch(1);
  proto.set_global_batch(6);
  proto.set_sequence(64);
  proto.set_order(PlanProto::ONE_FORWARD_ONE_BACKWARD);
  proto.mutable_degrees()->set_tp(2);
  proto.mutable_degrees()->set_pp(2);
  proto.mutable_degrees()->add_stage_replicas(3);
  proto.mutable_degrees()->add_stage_replicas(1);
  const Cluster cluster = ParseCluster("h100-sxm:1x8");
  const Workload workload = LoadWorkload("gpt2-medium", AttentionBackend::kFlash);
  const Plan plan = PlanFromProto(proto, workload, cluster, "p");
  EXPECT_EQ(plan.stages[0].replicas, (std::vector<std::vector<int>>{{0, 1}, {2, 3}, {4, 5}}));
  EXPECT_EQ(plan.stages[1].replicas, (std::vector<std::vector<int>>{{6, 7}}));
  EXPECT_EQ(plan.zero, 1);
}

TEST(PlanProtoTest, PlansThatNeverFlushKeepTheirOptions) {
  PlanProto proto;
  proto.set_micro_batch(4);
  proto.set_global_batch(8);
  proto.set_sequence(64);
  proto.set_order(PlanProto::PIPEDREAM);
  proto.set_vertical_sync(true);
  proto.mutable_degrees()->set_pp(4);
  const Cluster cluster = ParseCluster("h100-sxm:1x8");
  const Workload workload = LoadWorkload("llama3-8b", AttentionBackend::kFlash);
  const Plan plan = PlanFromProto(proto, workload, cluster, "p");
  EXPECT_EQ(plan.schedule, PipelineSchedule::kPipeDream);
  EXPECT_EQ(plan.zero, 0);
  const PlanProto again = ToProto(plan);
  EXPECT_EQ(again.order(), PlanProto::PIPEDREAM);
  EXPECT_TRUE(again.vertical_sync());
}

// The name of a schedule in files, which spell out what names abbreviate.
std::string NameInFiles(PipelineSchedule schedule) {
  std::string name = Name(schedule);
  if (name == "1f1b") return "ONE_FORWARD_ONE_BACKWARD";
  if (name == "bfs") return "BREADTH_FIRST";
  if (name.starts_with("zb-")) name = "zero-bubble-" + name.substr(3);
  for (char& c : name) c = c == '-' ? '_' : static_cast<char>(std::toupper(c));
  return name;
}

TEST(PlanProtoTest, FilesHaveAllOrdersByTheSameNames) {
  const google::protobuf::EnumDescriptor& in_files = *PlanProto::Order_descriptor();
  ASSERT_EQ(in_files.value_count(), std::ssize(kPipelineScheduleTraits) + 1);
  for (const PipelineScheduleTraits& traits : kPipelineScheduleTraits) {
    const auto value = EnumToProto<PlanProto::Order>(traits.schedule);
    EXPECT_EQ(PlanProto::Order_Name(value), NameInFiles(traits.schedule));
  }
}

TEST(PlanProtoTest, TheSearchOfAZeroBubbleOrderIsKept) {
  PlanProto proto;
  proto.set_micro_batch(1);
  proto.set_global_batch(8);
  proto.set_sequence(64);
  proto.set_order(PlanProto::ZERO_BUBBLE_AUTO);
  proto.mutable_degrees()->set_pp(4);
  const Cluster cluster = ParseCluster("h100-sxm:1x4");
  const Workload workload = LoadWorkload("gpt2-medium", AttentionBackend::kFlash);
  for (const bool is_published : {false, true}) {
    proto.set_published_search(is_published);
    const Plan plan = PlanFromProto(proto, workload, cluster, "p");
    EXPECT_EQ(plan.schedule_options.search,
              is_published ? ZeroBubbleSearch::kPublished : ZeroBubbleSearch::kThorough);
    EXPECT_EQ(ToProto(plan).published_search(), is_published);
  }
}

}  // namespace
}  // namespace stagecraft
