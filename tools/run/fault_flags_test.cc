#include "tools/run/fault_flags.h"

#include <gtest/gtest.h>

#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "costmodel/error_of.h"
#include "runtime/host_training.h"
#include "tools/run/run_request.h"
#include "tools/verb/command.h"
#include "tools/verb/flags.h"

namespace stagecraft {
namespace {

// What a command line asks for on this many ranks.
RunRequest Ask(const std::string& text, int ranks = 2, const std::string& executor = "host") {
  std::istringstream words(text);
  Args args;
  for (std::string word; words >> word;) args.push_back(word);
  Flags flags("run", "Runs.");
  FaultFlags faults;
  std::optional<int> steps, warm_up;
  faults.Register(flags);
  FlagGroup group = flags.In(FlagTopic::kMeasurement);
  group.Add("--steps", steps, {"<n>", "Steps."});
  group.Add("--warm-up", warm_up, {"<n>", "Steps before."});
  std::ostringstream out;
  EXPECT_FALSE(flags.Parse(args, out));
  RunRequest request;
  faults.Apply(flags, executor, steps, request);
  faults.ApplyRanks(ranks, request);
  return request;
}

TEST(FaultFlagsTest, SlowRanksAreListedByRank) {
  EXPECT_EQ(Ask("--slow 1=0.5").speeds, (std::vector<double>{1, 0.5}));
  EXPECT_EQ(Ask("--slow 2=0.25,0=1 --slow 1=1e-2", 4).speeds,
            (std::vector<double>{1, 0.01, 0.25, 1}));
  EXPECT_TRUE(Ask("").speeds.empty());
  EXPECT_FALSE(Ask("--slow 1=0.5").measured_run);
}

TEST(FaultFlagsTest, KillsComeInTheOrderOfSteps) {
  const RunRequest request =
      Ask("--steps 40 --kill 1@step=30,0@step=7 --kill 0@step=30 --checkpoint-every 10 "
          "--checkpoint-folder here");
  ASSERT_TRUE(request.measured_run);
  EXPECT_EQ(request.measured_run->steps, 40);
  EXPECT_EQ(request.measured_run->checkpoint_every, 10);
  EXPECT_EQ(request.measured_run->folder, "here");
  EXPECT_EQ(request.measured_run->kills, (std::vector<RankKill>{{0, 7}, {1, 30}, {0, 30}}));
  EXPECT_EQ(Ask("--steps 40 --kill 1@step=1").measured_run->checkpoint_every, 0);
  EXPECT_TRUE(Ask("--steps 40 --checkpoint-every 7").measured_run->kills.empty());
}

TEST(FaultFlagsTest, MistakesAreNamedInOneSentence) {
  const auto refusal = [](const std::string& text, const std::string& executor = "host") {
    return ErrorOf([&] { Ask(text, 2, executor); });
  };
  for (const char* text : {"1", "x=0.5", "=0.5", "1=", "1=x", "1=0.5x", "-1=0.5", "1.5=1"}) {
    EXPECT_EQ(refusal(std::string("--slow ") + text),
              std::string("--slow: got \"") + text + "\", want RANK=SPEED, such as 1=0.5");
  }
  for (const char* speed : {"0", "-0.5", "1.5", "inf", "nan"}) {
    EXPECT_EQ(refusal(std::string("--slow 1=") + speed),
              std::string("--slow: got speed ") + speed + " of rank 1, want above 0 and at most 1");
  }
  EXPECT_EQ(refusal("--slow 2=0.5"), "--slow: got rank 2, want 0 to 1, the ranks of the plan");
  EXPECT_EQ(refusal("--slow 1=0.5,1=0.7"), "--slow: got rank 1 twice, want each once");
  for (const char* text : {"1", "1@20", "1@step=", "1@step=x", "x@step=1", "-1@step=2"}) {
    EXPECT_EQ(refusal(std::string("--steps 40 --kill ") + text),
              std::string("--kill: got \"") + text + "\", want RANK@step=N, such as 1@step=20");
  }
  for (const char* step : {"0", "40", "41", "-1"}) {
    EXPECT_EQ(refusal(std::string("--steps 40 --kill 1@step=") + step),
              std::string("--kill: got step ") + step + ", want one above 0 and below --steps 40");
  }
  EXPECT_EQ(refusal("--steps 40 --kill 2@step=3"),
            "--kill: got rank 2, want 0 to 1, the ranks of the plan");
  EXPECT_EQ(refusal("--steps 40 --kill 1@step=3,1@step=3"),
            "--kill: got \"1@step=3\" twice, want each once");
  EXPECT_EQ(refusal("--kill 1@step=3"),
            "--kill: got no --steps, want the number of steps of the run");
  EXPECT_EQ(refusal("--checkpoint-every 3"),
            "--checkpoint-every: got no --steps, want the number of steps of the run");
  EXPECT_EQ(refusal("--steps 9 --warm-up 1 --checkpoint-every 3"),
            "--warm-up: got it with --checkpoint-every, want none: every step of the run counts");
  for (const char* text : {"", "--steps 9 --kill 1@step=3 "}) {
    EXPECT_EQ(refusal(std::string(text) + "--checkpoint-folder here"),
              "--checkpoint-folder: got it without --checkpoint-every, want both");
  }
  EXPECT_EQ(refusal("--steps 9 --checkpoint-every 0"), "--checkpoint-every: got 0, want 1 or more");
  for (const char* text : {"--slow 1=0.5", "--kill 1@step=3", "--checkpoint-every 3"}) {
    const std::string flag = std::string(text).substr(0, std::string(text).find(' '));
    EXPECT_EQ(refusal(std::string("--steps 9 ") + text, "cuda"),
              flag + ": got it with --executor cuda, want --executor host");
  }
}

}  // namespace
}  // namespace stagecraft
