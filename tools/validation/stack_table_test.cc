#include "tools/stacks/stack_table.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "costmodel/check.h"

namespace stagecraft {
namespace {

TEST(StackTableTest, EmbeddedTableHasTheStacksOfTheReadme) {
  for (const char* stack :
       {"megatron-2020", "megatron-2021", "megatron-core", "nemo", "megatron-deepspeed",
        "deepspeed", "fsdp", "internevo", "ddp", "oneflow", "torchgpipe", "sailor", "other"}) {
    EXPECT_NE(StackTable::Embedded().Find(stack), nullptr) << stack;
  }
  EXPECT_EQ(StackTable::Embedded().Find("nemo")->zero, 1);
}

TEST(StackTableTest, EveryValueSaysWhereItComesFrom) {
  for (const std::string& name : StackTable::Embedded().Names()) {
    const StackDefaults& stack = *StackTable::Embedded().Find(name);
    // Each stack states at least these.
    for (const char* key : {"recompute", "order", "zero", "overlap_grad_reduce",
                            "sequence_parallel", "attention", "optimizer"}) {
      EXPECT_NE(stack.Find(key), nullptr) << name << ' ' << key;
    }
    for (const StackValue& value : stack.values) {
      EXPECT_GT(value.origin.size(), 10u) << name << ' ' << value.key;
      EXPECT_LE(value.origin.size(), 64u) << name << ' ' << value.key;  // 100 columns with its key
    }
  }
  const StackDefaults& ddp = *StackTable::Embedded().Find("ddp");
  EXPECT_EQ(ddp.Find("bucket_bytes")->value, std::to_string(25 << 20));
  EXPECT_EQ(ddp.Find("bucket_bytes")->origin, "PyTorch DistributedDataParallel: bucket_cap_mb=25");
  EXPECT_EQ(ddp.Find("zero")->value, "0");
  EXPECT_EQ(ddp.Find("overlap_grad_reduce")->value, "true");
  EXPECT_EQ(ddp.Find("vocabulary_multiple"), nullptr);
}

TEST(StackTableTest, WordsAreThoseOfTheFlags) {
  const StackDefaults& fsdp = *StackTable::Embedded().Find("fsdp");
  EXPECT_EQ(fsdp.Find("backward_prefetch")->value, "post");
  EXPECT_EQ(fsdp.framework.backward_prefetch, BackwardPrefetch::kAfter);
  const StackDefaults& torchtitan = *StackTable::Embedded().Find("torchtitan");
  EXPECT_EQ(torchtitan.Find("backward_prefetch")->value, "pre");
  EXPECT_EQ(torchtitan.framework.backward_prefetch, BackwardPrefetch::kBefore);
  EXPECT_EQ(fsdp.framework.shard_copies, ShardCopies::kGradients);
  EXPECT_EQ(torchtitan.framework.shard_copies, ShardCopies::kParameters);
  const StackDefaults& internevo = *StackTable::Embedded().Find("internevo");
  EXPECT_EQ(internevo.Find("parameter_exchange")->value, "broadcasts");
  EXPECT_EQ(internevo.framework.parameter_exchange, ParameterExchange::kBroadcasts);
}

TEST(StackTableTest, SomeStacksRunCodeThatComposesOperators) {
  const StackTable& table = StackTable::Embedded();
  for (const char* id : {"ddp", "fsdp", "torchtitan", "other"}) {
    EXPECT_TRUE(table.Find(id)->framework.composes_operators) << id;
  }
  for (const char* id : {"megatron-2021", "megatron-core", "nemo", "internevo", "oneflow"}) {
    EXPECT_FALSE(table.Find(id)->framework.composes_operators) << id;
  }
}

// What says how much memory the software takes says what it launches, too.
TEST(StackTableTest, WordsOfMemoryAreThoseOfKernels) {
  const StackDefaults& ddp = *StackTable::Embedded().Find("ddp");
  EXPECT_TRUE(ddp.framework.updates_by_operations);
  EXPECT_TRUE(ddp.framework.autocasts);
  const StackDefaults& torchtitan = *StackTable::Embedded().Find("torchtitan");
  EXPECT_TRUE(torchtitan.framework.updates_by_operations);
  EXPECT_FALSE(torchtitan.framework.autocasts);
  EXPECT_FALSE(StackTable::Embedded().Find("nemo")->framework.updates_by_operations);
}

// A stack `a` with `more` in it, and the origins of what it always has.
std::string StackText(const std::string& more) {
  return "stacks { id: \"a\" recompute: \"none\" order: \"1f1b\" attention: \"flash\" " + more +
         " origins { field: [\"recompute\", \"order\", \"attention\"] origin: \"a paper\" } }";
}

TEST(StackTableTest, BadTablesSayWhere) {
  const std::string good = StackText("");
  const std::pair<std::string, const char*> cases[] = {
      {"stacks { id: \"a\" recompute: \"some\" }",
       "t: stacks[0].recompute: got \"some\", want one of none, selective, full"},
      {good + good, "t: stacks[1].since: got \"\", want a later month than in the entry before it"},
      {good + "stacks { id: \"a\" since: \"2024-13\" }",
       "t: stacks[1].since: got \"2024-13\", want a month, as 2024-07"},
      {StackText("since: \"2024-07\""),
       "t: stacks[0].since: got \"2024-07\", want none in the first entry of a stack"},
      {good, "t: gpt_vocabulary: got 0, want > 0"},
      {good + "\nstacks { zeroes: 1 }",
       "t:2:16: Message type \"stagecraft.StackProto\" has no field named \"zeroes\", want a "
       "StackTableProto in text format"},
      {StackText("optimizer: \"lamb\""),
       "t: stacks[0].optimizer: got \"lamb\", want one of adam, sgd"},
      {StackText("embedding_placement: \"vocab-1\""),
       "t: stacks[0].embedding_placement: got \"vocab-1\", want one of first-last, redistributed"},
      {StackText("context_exchange: \"star\""),
       "t: stacks[0].context_exchange: got \"star\", want one of ring, gather, ulysses"},
      {StackText("backward_prefetch: \"before\""),
       "t: stacks[0].backward_prefetch: got \"before\", want one of pre, post"},
      {StackText("parameter_exchange: \"star\""),
       "t: stacks[0].parameter_exchange: got \"star\", want one of gather, broadcasts"},
      {StackText("cross_entropy: \"fused\""),
       "t: stacks[0].cross_entropy: got \"fused\", want one of in-place, copies, eager"},
      {StackText("weight_update: \"apex\""),
       "t: stacks[0].weight_update: got \"apex\", want one of fused, foreach, deepspeed"},
      {StackText("elementwise_traffic: 0.5"),
       "t: stacks[0].elementwise_traffic: got 0.5, want 1 to 100"},
      {StackText("gradient_bytes: 3"), "t: stacks[0].gradient_bytes: got 3, want 2 or 4"},
      {StackText("fp16_gradient_bytes: 0"), "t: stacks[0].fp16_gradient_bytes: got 0, want 2 or 4"},
      {StackText("zero: 4"), "t: stacks[0].zero: got 4, want 0 to 3"},
      {StackText("bucket_bytes: -1"), "t: stacks[0].bucket_bytes: got -1, want 0 to 1000000000"},
      {StackText("zero: 0"), "t: stacks[0].origins: got none for \"zero\", want one"},
      {StackText("origins { field: \"zero\" origin: \"a paper\" }"),
       "t: stacks[0].origins: got one for \"zero\", want a field that the stack sets"},
      {StackText("origins { field: \"order\" origin: \"a paper\" }"),
       "t: stacks[0].origins[1].field: got \"order\" twice, want it once"},
      {StackText("zero: 0 origins { field: \"zero\" }"),
       "t: stacks[0].origins[0].origin: got none, want a source"},
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

TEST(StackTableTest, LaterEntriesChangeWhatTheySet) {
  const StackTable table = StackTable::Parse(
      StackText("zero: 0 origins { field: \"zero\" origin: \"a paper\" }") +
          "stacks { id: \"a\" since: \"2024-07\" zero: 3 origins { field: \"zero\" origin: "
          "\"code\" } }"
          "gpt_vocabulary: 1 bert_vocabulary: 1 sentence_tokens: 1 span_tokens: 1",
      "t");
  EXPECT_EQ(table.Find("a", "2024-06")->zero, 0);
  EXPECT_EQ(table.Find("a", "2024-06")->Find("zero")->origin, "a paper");
  EXPECT_EQ(table.Find("a", "2024-07")->zero, 3);
  EXPECT_EQ(table.Find("a")->zero, 3);
  EXPECT_EQ(table.Find("a")->recompute, "none");
  EXPECT_EQ(table.Find("a")->Find("zero")->origin, "code");
  EXPECT_EQ(table.Find("a")->Find("order")->origin, "a paper");
  EXPECT_EQ(table.Find("b"), nullptr);
}

}  // namespace
}  // namespace stagecraft
