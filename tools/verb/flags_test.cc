#include "tools/verb/flags.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

#include "costmodel/check.h"

namespace stagecraft {
namespace {

struct Values {
  int tp = 1;
  int64_t batch = 1;
  uint64_t seed = 0;
  double rate = 1;
  bool overlaps = true;
  std::string model, order = "1f1b", output;
  std::vector<int> layers;
  std::string help;
  bool helped = false;
};

Values Parse(const Args& args) {
  Values values;
  Flags flags("simulate", "Predicts a step.");
  flags.AddExample("simulate --tp 8");
  FlagGroup plan = flags.In(FlagTopic::kParallelism);
  plan.Add("--tp", values.tp, {"<n>", "Tensor-parallel degree.", "1 or more", "1"});
  plan.Add("--global-batch", values.batch, {"<n>", "Samples."});
  plan.Add("--seed", values.seed, {"<n>", "Seed."});
  plan.Add("--rate", values.rate, {"<x>", "Rate."}).Between(0.0, 1e6);
  plan.Add("--overlap,!--no-overlap", values.overlaps, {"", "Overlap.", "", "on"});
  plan.Add("--model", values.model, {"<name>", "Model."});
  plan.Add("--schedule", values.order, {"<name>", "Schedule."}).OneOf({"gpipe", "1f1b"});
  plan.Add("--layers", values.layers, {"<n,...>", "Layers."}).SplitAtCommas();
  flags.In(FlagTopic::kOutput).Add("-o,--output", values.output, {"<file>", "File."});
  std::ostringstream out;
  values.helped = flags.Parse(args, out);
  values.help = out.str();
  return values;
}

std::string ErrorOf(const Args& args) {
  try {
    Parse(args);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(FlagsTest, ValuesReachTheirVariables) {
  const Values values =
      Parse({"--tp", "8", "--global-batch=010", "--rate", "1e-3", "--no-overlap", "--model", "gpt",
             "--layers", "1,2,3", "--seed", "18446744073709551615"});
  EXPECT_EQ(values.tp, 8);
  EXPECT_EQ(values.batch, 10);
  EXPECT_EQ(values.seed, UINT64_MAX);
  EXPECT_EQ(values.rate, 1e-3);
  EXPECT_FALSE(values.overlaps);
  EXPECT_EQ(values.model, "gpt");
  EXPECT_EQ(values.layers, (std::vector<int>{1, 2, 3}));
  EXPECT_FALSE(values.helped);
}

TEST(FlagsTest, NumbersMayHaveSuffixes) {
  EXPECT_EQ(Parse({"--global-batch", "4M"}).batch, 4'000'000);
  EXPECT_EQ(Parse({"--global-batch", "1.5k"}).batch, 1500);
  EXPECT_EQ(Parse({"--global-batch", "8Ki"}).batch, 8192);
  EXPECT_EQ(Parse({"--rate", "0.2M"}).rate, 2e5);
  EXPECT_EQ(Parse({"--layers", "1k,2"}).layers, (std::vector<int>{1000, 2}));
  for (const char* text : {"1.5", "1.0005k", "k", "1x", "1e3", "-1k"}) {
    EXPECT_EQ(ErrorOf({"--seed", text}).find("--seed: got"), 0u) << text;
  }
  EXPECT_NE(ErrorOf({"--tp", "4G"}).find("--tp: got \"4000000000\", want a whole number that fits"),
            std::string::npos)
      << ErrorOf({"--tp", "4G"});
}

TEST(FlagsTest, SamplesCountInPowersOf1024AndTimesInSeconds) {
  Flags flags("train", "Trains.");
  int64_t sequence = 0;
  double wait = 0;
  flags.In(FlagTopic::kTraining).Add("--seq", sequence, {"<n>", "Tokens."}).InBinary();
  flags.In(FlagTopic::kTraining)
      .Add("--wait", wait, {"<seconds>", "Time."})
      .Between(0.0, 1e6)
      .InSeconds();
  std::ostringstream out;
  EXPECT_FALSE(flags.Parse({"--seq", "128k", "--wait", "10min"}, out));
  EXPECT_EQ(sequence, 131072);
  EXPECT_EQ(wait, 600);
  try {
    flags.Parse({"--wait", "10m"}, out);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(),
                 "--wait: got \"10m\", want a finite number such as 30, 30s or 10min");
  }
}

TEST(FlagsTest, HelpIsPrintedWithItsExampleWhateverElseIsWrong) {
  const Values values = Parse({"--tp", "x", "--help"});
  EXPECT_TRUE(values.helped);
  EXPECT_EQ(values.help,
            R"(Predicts a step.

Usage: stagecraft simulate [flags]

Examples:
  stagecraft simulate --tp 8

Parallelism:
  --tp <n>                    Tensor-parallel degree. [1 or more; default: 1]
  --global-batch <n>          Samples.
  --seed <n>                  Seed.
  --rate <x>                  Rate. [0 to 1e+06]
  --[no-]overlap              Overlap. [default: on]
  --model <name>              Model.
  --schedule <name>           Schedule. [gpipe, 1f1b]
  --layers <n,...>            Layers.

Output:
  -o, --output <file>         File.
)");
}

// Seventeen flags, of which one is common.
TEST(FlagsTest, OfManyFlagsTheCommonOnesAreShownFirst) {
  Flags flags("simulate", "Predicts a step.");
  int values[17] = {};
  FlagGroup group = flags.In(FlagTopic::kCluster);
  for (int i = 0; i < 17; ++i) {
    Flag flag = group.Add("--flag" + std::to_string(i), values[i], {"<n>", "A number."});
    if (i == 3) flag.Common();
  }
  std::ostringstream common, all;
  EXPECT_TRUE(flags.Parse({"--help"}, common));
  EXPECT_NE(common.str().find("--flag3 <n>"), std::string::npos);
  EXPECT_EQ(common.str().find("--flag4 <n>"), std::string::npos);
  EXPECT_NE(common.str().find("stagecraft simulate --help-all lists 16 more flags."),
            std::string::npos)
      << common.str();
  EXPECT_TRUE(flags.Parse({"--help-all"}, all));
  EXPECT_NE(all.str().find("--flag4 <n>"), std::string::npos);
  EXPECT_EQ(all.str().find("more flags"), std::string::npos);
}

TEST(FlagsTest, LongTextIsWrappedAtEightyColumns) {
  Flags flags("simulate", "Predicts a step.");
  flags.AddExample("simulate --model llama3-70b --cluster h100-sxm:8x8 --tp 8 --pp 4 --seq 8192");
  bool value = false;
  std::string text;
  flags.In(FlagTopic::kCluster)
      .Add("--a-name-that-is-too-long-for-its-column,!--no-such", value,
           {"", "Words that go on until they need a second line, and a third one after it, too."});
  flags.AddTerm("term", "what it means");
  std::ostringstream out;
  EXPECT_TRUE(flags.Parse({"-h"}, out));
  EXPECT_EQ(out.str(),
            R"(Predicts a step.

Usage: stagecraft simulate [flags]

Examples:
  stagecraft simulate --model llama3-70b --cluster h100-sxm:8x8 --tp 8 --pp 4 \
      --seq 8192

Cluster:
  --[no-]a-name-that-is-too-long-for-its-column
                              Words that go on until they need a second line,
                              and a third one after it, too.
  term                        what it means
)");
}

TEST(FlagsTest, WhatWasGivenIsKnownByEachOfItsNames) {
  Flags flags("simulate", "Predicts a step.");
  std::string file, other;
  bool explains = true;
  FlagGroup group = flags.In(FlagTopic::kOutput);
  const Flag output = group.Add("-o,--output", file, {"<file>", "File."});
  group.Add("--other", other, {"<file>", "File."});
  group.Add("--explain,!--no-explain", explains, {"", "Explain."});
  std::ostringstream out;
  EXPECT_FALSE(flags.Parse({"--output", "a.pb", "--no-explain"}, out));
  EXPECT_TRUE(output.is_given());
  EXPECT_EQ(output.name(), "-o");
  EXPECT_EQ(output.text(), "a.pb");
  EXPECT_TRUE(flags.IsGiven("--output"));
  EXPECT_TRUE(flags.IsGiven("--no-explain"));
  EXPECT_FALSE(flags.IsGiven("--other"));
  ASSERT_EQ(flags.Given().size(), 2u);
  EXPECT_EQ(flags.Given()[1].name(), "--explain");
}

TEST(FlagsTest, MistakesAreOneSentenceThatOpensWithTheFlag) {
  const struct {
    Args args;
    const char* want;
  } kCases[] = {
      {{"--tq", "8"}, "--tq: unknown flag; did you mean \"--tp\""},
      {{"--tq=8"}, "--tq: unknown flag; did you mean \"--tp\""},
      {{"--tensor-model-parallel-size", "8"},
       "--tensor-model-parallel-size: unknown flag; here it is --tp"},
      {{"--tensor_parallel_degree=8"}, "--tensor_parallel_degree: unknown flag; here it is --tp"},
      {{"8"}, "\"8\": got a word, want only flags here"},
      {{"--tp"}, "--tp: got no value, want one"},
      {{"--tp", "1", "--tp", "2"}, "--tp: given 2 times, want it once"},
      {{"--tp", "--model", "x"}, "--tp: got no value, the next word is the flag --model"},
      {{"--model", "--tp", "8"}, "--model: got no value, the next word is the flag --tp"},
      {{"--tp", "x"}, "--tp: got \"x\", want a whole number"},
      {{"--tp", "1.5"}, "--tp: got \"1.5\", want a whole number"},
      {{"--tp", "3000000000"}, "--tp: got \"3000000000\", want a whole number that fits"},
      {{"--global-batch", "99999999999999999999"}, "want a whole number of at most 64 bits"},
      {{"--seed", "-1"}, "--seed: got \"-1\", want a whole number of at least 0"},
      {{"--rate", "nan"}, "--rate: got \"nan\", want a finite number"},
      {{"--rate", "1e999"}, "--rate: got \"1e999\", want a finite number"},
      {{"--schedule", "1f2b"}, "--schedule: got \"1f2b\", want one of gpipe, 1f1b; did you mean"},
      {{"--layers", "1,x"}, "--layers: got \"x\", want a whole number"},
      {{"--overlap=maybe"}, "--overlap"},
      {{"--rate", "-1"}, "--rate: got -1, want 0 to 1"},
      {{"-o"}, "-o: got no value, want one"},
      {{"--output", "a", "-o", "b"}, "-o: given 2 times, want it once"},
  };
  for (const auto& test : kCases) {
    const std::string error = ErrorOf(test.args);
    EXPECT_NE(error.find(test.want), std::string::npos)
        << test.args[0] << ": " << error << "\nwant: " << test.want;
    EXPECT_EQ(error.find('\n'), std::string::npos) << error;
  }
}

TEST(FlagsTest, ASecondParseLeavesVariablesOfFlagsThatAreNotGiven) {
  int tp = 1, pp = 1;
  Flags flags("simulate", "Predicts a step.");
  flags.In(FlagTopic::kParallelism).Add("--tp", tp, {"<n>", "Tensor-parallel degree."});
  flags.In(FlagTopic::kParallelism).Add("--pp", pp, {"<n>", "Stages."});
  std::ostringstream out;
  EXPECT_FALSE(flags.Parse({"--tp=8", "--pp", "010"}, out));
  EXPECT_FALSE(flags.Parse({"--pp=020"}, out));
  EXPECT_EQ(pp, 20);
  EXPECT_EQ(tp, 8);
  EXPECT_FALSE(flags.IsGiven("--tp"));
  EXPECT_THROW(flags.Parse({"--pp", "--tp", "2"}, out), InputError);
}

TEST(FlagsTest, AllFlagsAreListedAsTheyWereAdded) {
  int tp = 1;
  bool is_compiled = false;
  std::string model;
  Flags flags("simulate", "Predicts a step.");
  flags.In(FlagTopic::kParallelism).Add("--tp", tp, {"<n>", "Tensor-parallel degree."});
  flags.In(FlagTopic::kNetwork).Add("--model", model, {"<name>", "Model."});
  flags.In(FlagTopic::kNetwork).Add("--compiled", is_compiled, {"", "Compiled."});
  const std::vector<Flag> all = flags.All();
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].name(), "--tp");
  EXPECT_FALSE(all[0].is_switch() || all[0].takes_text());
  EXPECT_TRUE(all[1].takes_text());
  EXPECT_TRUE(all[2].is_switch());
}

}  // namespace
}  // namespace stagecraft
