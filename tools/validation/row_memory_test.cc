#include "tools/validation/row_memory.h"

#include <gtest/gtest.h>

#include "tools/stacks/stack_table.h"
#include "tools/validation/completed_row.h"

namespace stagecraft {
namespace {

const FrameworkMemory& StackFramework(const char* stack) {
  return StackTable::Embedded().Find(stack)->memory;
}

CompletedRow MegatronRow() {
  CompletedRow completed;
  completed.megatron_layers = true;
  completed.memory = StackFramework("megatron-core");
  completed.row.attention_backend = "unfused";
  return completed;
}

TEST(RowMemoryTest, DeterministicProductsHaveEightWorkspacesOfFourMebibytes) {
  CompletedRow completed = MegatronRow();
  EXPECT_EQ(RowFramework(completed).blas_workspace, Bytes());
  completed.facts.deterministic = true;
  EXPECT_EQ(RowFramework(completed).blas_workspace, Bytes(32 << 20));
}

TEST(RowMemoryTest, LocalLayersKeepTheirScores) {
  CompletedRow completed = MegatronRow();
  EXPECT_TRUE(RowFramework(completed).keeps_score_buffer);
  completed.facts.transformer_engine = true;
  EXPECT_FALSE(RowFramework(completed).keeps_score_buffer);
  EXPECT_TRUE(RowFramework(completed).has_transformer_engine);
}

TEST(RowMemoryTest, FactsTakePrecedenceOverWhatMegatronUsuallyHolds) {
  CompletedRow completed = MegatronRow();
  EXPECT_TRUE(RowFramework(completed).makes_attention_mask);
  EXPECT_TRUE(RowFramework(completed).fuses_weight_gradients);
  EXPECT_TRUE(RowFramework(completed).fuses_softmax);
  completed.facts.makes_attention_mask = false;
  completed.facts.fuses_weight_gradients = false;
  completed.facts.fuses_softmax = false;
  EXPECT_FALSE(RowFramework(completed).makes_attention_mask);
  EXPECT_FALSE(RowFramework(completed).fuses_weight_gradients);
  EXPECT_FALSE(RowFramework(completed).fuses_softmax);
}

TEST(RowMemoryTest, OtherStacksArePlainPyTorch) {
  CompletedRow completed;
  completed.facts.deterministic = completed.facts.transformer_engine = true;
  EXPECT_FALSE(RowFramework(completed).has_transformer_engine);
  EXPECT_FALSE(RowFramework(completed).makes_attention_mask);
}

TEST(RowMemoryTest, StacksAreMegatronsIfTheTableSaysSo) {
  EXPECT_TRUE(StackFramework("megatron-core").makes_attention_mask);
  EXPECT_TRUE(StackFramework("nemo").makes_attention_mask);
  EXPECT_FALSE(StackFramework("fsdp").makes_attention_mask);
}

TEST(RowMemoryTest, StacksSayWhatTheyHoldBesideTheNetwork) {
  const FrameworkMemory deepspeed = StackFramework("megatron-deepspeed");
  EXPECT_EQ(deepspeed.update, UpdateKind::kDeepspeed);
  EXPECT_EQ(deepspeed.cross_entropy, CrossEntropy::kCopies);
  EXPECT_FALSE(deepspeed.keeps_gradients);
  EXPECT_FALSE(deepspeed.fuses_weight_gradients);
  EXPECT_TRUE(deepspeed.has_global_groups);
  EXPECT_TRUE(StackFramework("torchtitan").wraps_layers);
  EXPECT_EQ(StackFramework("torchtitan").cross_entropy, CrossEntropy::kEager);
  EXPECT_TRUE(StackFramework("ddp").casts_weights);
  EXPECT_TRUE(StackFramework("megatron-core").keeps_gradients);
}

}  // namespace
}  // namespace stagecraft
