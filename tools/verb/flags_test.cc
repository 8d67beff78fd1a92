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
  std::string model, order = "1f1b";
  std::vector<int> layers;
  std::string help;
  bool helped = false;
};

Values Parse(const Args& args) {
  Values values;
  CLI::App app("predicts a step", "stagecraft simulate");
  app.footer("Example: stagecraft simulate --tp 8");
  app.add_option("--tp", values.tp, "tensor-parallel degree");
  app.add_option("--global-batch", values.batch);
  app.add_option("--seed", values.seed);
  app.add_option("--rate", values.rate);
  app.add_flag("--overlap,!--no-overlap", values.overlaps);
  app.add_option("--model", values.model);
  app.add_option("--schedule", values.order)->check(OneOf({"gpipe", "1f1b"}));
  app.add_option("--layers", values.layers)->delimiter(',');
  std::ostringstream out;
  values.helped = ParseFlags(app, args, out);
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

TEST(FlagsTest, HelpIsPrintedWithItsExampleWhateverElseIsWrong) {
  const Values values = Parse({"--tp", "x", "--help"});
  EXPECT_TRUE(values.helped);
  EXPECT_NE(values.help.find("tensor-parallel degree"), std::string::npos);
  EXPECT_NE(values.help.find("Example: stagecraft simulate --tp 8"), std::string::npos);
}

TEST(FlagsTest, MistakesAreOneSentenceThatOpensWithTheFlag) {
  const struct {
    Args args;
    const char* want;
  } kCases[] = {
      {{"--tq", "8"}, "--tq: unknown flag; did you mean \"--tp\""},
      {{"--tq=8"}, "--tq: unknown flag; did you mean \"--tp\""},
      {{"8"}, "\"8\": want no words but flags here"},
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
  };
  for (const auto& test : kCases) {
    const std::string error = ErrorOf(test.args);
    EXPECT_NE(error.find(test.want), std::string::npos)
        << test.args[0] << ": " << error << "\nwant: " << test.want;
    EXPECT_EQ(error.find('\n'), std::string::npos) << error;
  }
}

}  // namespace
}  // namespace stagecraft
