#include "sim/dynamics/dynamics_proto.h"

#include <gtest/gtest.h>

#include "costmodel/error_of.h"
#include "costmodel/proto_file.h"
#include "sim/workload/workload_catalogue.h"

namespace stagecraft {
namespace {

Workload Gpt() { return LoadWorkload("megatron:24x1024x16", AttentionBackend::kFlash); }

Dynamics Read(const std::string& yaml, const std::string& network = "megatron:24x1024x16") {
  DynamicsProto proto;
  ParseProtoText(yaml, "d.yaml", ".yaml", &proto);
  return DynamicsFromProto(proto, LoadWorkload(network, AttentionBackend::kFlash), "d.yaml");
}
std::string ErrorIn(const std::string& yaml) {
  return ErrorOf([&] { Read(yaml); });
}

TEST(DynamicsProtoTest, EveryKindOfChangeIsRead) {
  const Dynamics dynamics = Read(
      "pruning: {final_sparsity: 0.9, first_step: 2, end_step: 10, interval: 2, storage: masked}\n"
      "freezing: {first_step: 5, interval: 6, blocks_each: 2, most_blocks: 12, caches_outputs: "
      "true}\n"
      "early_exit: {first_block: 6, every: 3, share: 0.2, end_step: 100, interval: 10, head: "
      "tied}\n"
      "mixture_of_depths: {capacity: 0.125, every: 2}\n"
      "sparse_attention: {least_density: 0.1, most_density: 0.5, interval: 50}\n",
      "llama2-7b");
  EXPECT_EQ(dynamics.pruning->schedule.final, 0.9);
  EXPECT_EQ(dynamics.pruning->storage, WeightStorage::kMasked);
  EXPECT_EQ(dynamics.freezing->most_blocks, 12);
  EXPECT_TRUE(dynamics.freezing->caches_outputs);
  EXPECT_EQ(dynamics.early_exit->every, 3);
  EXPECT_EQ(dynamics.early_exit->head, ExitHead::kTied);
  EXPECT_EQ(dynamics.mixture_of_depths->capacity, 0.125);
  EXPECT_EQ(dynamics.sparse_attention->interval, 50);
}

TEST(DynamicsProtoTest, ImpossibleFilesAreOneSentenceEach) {
  EXPECT_EQ(ErrorIn("pruning: {final_sparsity: 1, end_step: 10, interval: 2}"),
            "d.yaml: pruning.final_sparsity: got 1, want from 0 to below 1");
  EXPECT_EQ(ErrorIn("pruning: {final_sparsity: 0.5, end_step: 10}"),
            "d.yaml: pruning.interval: got 0, want 1 or more");
  EXPECT_EQ(ErrorIn("pruning: {final_sparsity: 0.5, first_step: 10, end_step: 10, interval: 1}"),
            "d.yaml: pruning.end_step: got 10, want above first_step, 10");
  EXPECT_EQ(
      ErrorIn("freezing: {interval: 5, blocks_each: 1, most_blocks: 24}"),
      "d.yaml: freezing.most_blocks: got 24, want from 1 to 23, as the network has 24 blocks");
  EXPECT_EQ(ErrorIn("experts: {concentration: 1, interval: 5}"),
            "d.yaml: experts: got a network without experts, want one that has some");
  EXPECT_EQ(ErrorIn("early_exit: {first_block: 2, every: 2, share: 1, interval: 1}"),
            "d.yaml: early_exit.share: got 1, want above 0 and below 1");
  EXPECT_EQ(
      ErrorIn("freezing: {interval: 5, blocks_each: 1, most_blocks: 2, caches_outputs: true}"),
      "d.yaml: freezing.caches_outputs: got it for a network whose embedding shares weights "
      "with trained layers, which change what frozen blocks hand on, want it left out");
  EXPECT_EQ(ErrorIn("mixture_of_depths: {capacity: 2, every: 2}"),
            "d.yaml: mixture_of_depths.capacity: got 2, want above 0, at most 1");
  EXPECT_NE(ErrorIn("states: s.csv\nmixture_of_depths: {capacity: 1, every: 2}").find("one or the"),
            std::string::npos);
}

TEST(MeasuredChangesTest, LayersKeepTheirStateUntilARowChangesIt) {
  const std::vector<NetworkChange> changes = MeasuredChanges(
      "step,layer,trained,weight_density,storage\n"
      "10,1,no,,\n10,2,,0.5,csr\n20,2,,0.25,csr\n",
      "s.csv", Gpt());
  ASSERT_EQ(changes.size(), 2u);
  EXPECT_EQ(changes[0].step, 10);
  EXPECT_FALSE(changes[0].states[1].is_trained);
  EXPECT_EQ(changes[0].states[2].weight_density, 0.5);
  EXPECT_FALSE(changes[1].states[1].is_trained);
  EXPECT_EQ(changes[1].states[2].weight_density, 0.25);
  EXPECT_EQ(changes[1].states[2].storage, WeightStorage::kCsr);
}

TEST(MeasuredChangesTest, DetachedLayersAndExitsHaveColumns) {
  const std::vector<NetworkChange> changes = MeasuredChanges(
      "step,layer,trained,detached,exit_head\n10,0,,yes,\n10,3,,no,tied\n10,4,,,own\n", "s.csv",
      Gpt());
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_TRUE(changes[0].states[0].is_detached);
  EXPECT_FALSE(changes[0].states[0].is_trained);
  EXPECT_FALSE(changes[0].states[3].is_detached);
  EXPECT_EQ(changes[0].states[3].exit_head, ExitHead::kTied);
  EXPECT_EQ(changes[0].states[4].exit_head, ExitHead::kOwn);
}

TEST(MeasuredChangesTest, WrongRowsNameTheirPlace) {
  const auto error = [](const std::string& text) {
    return ErrorOf([&] { MeasuredChanges(text, "s.csv", Gpt()); });
  };
  EXPECT_EQ(error("step,layer\n5,26\n"),
            "s.csv:2: layer: got \"26\", want a whole number from 0 to 25");
  EXPECT_EQ(error("step,layer\n5,1\n4,1\n"),
            "s.csv:3: step: got \"4\", want 5 or more, as steps ascend");
  EXPECT_EQ(error("step,layer,token_share\n5,1,1.5\n"),
            "s.csv:2: token_share: got \"1.5\", want a number from 0 to 1");
  EXPECT_EQ(error("step,layer,exit_head\n5,1,big\n"),
            "s.csv:2: exit_head: got \"big\", want none, own or tied");
  EXPECT_EQ(error("step,layer\n5\n"), "s.csv:2: got 1 fields, want 2, as the header has");
  EXPECT_EQ(error("step,layer\n"), "s.csv: got no rows, want one or more");
  EXPECT_EQ(error("layer\n1\n"),
            "s.csv: got a table without the columns step and layer, want both");
}

}  // namespace
}  // namespace stagecraft
