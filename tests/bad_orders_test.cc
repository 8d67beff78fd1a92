// Tests of pipeline schedules on the command line and in files: every name runs, and what is
// impossible is refused in one sentence.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/bad_input.h"

namespace stagecraft {
namespace {

using bad_input::Case;
using Json = nlohmann::json;

const std::string kJob =
    "simulate --model gpt2-medium --cluster h100-sxm:1x8 --pp 4 --micro-batch 1 --global-batch 16 "
    "--seq 512 ";

constexpr const char* kCsv = "0F0,0F1,,0B0,0B1\n,1F0,1F1,1B0,1B1\n";

using BadOrdersTest = bad_input::FolderTest;

Json Simulated(const std::string& line) {
  const bad_input::Result result = bad_input::RunLine(line + " --json --quiet");
  EXPECT_EQ(result.code, kExitOk) << line << "\n" << result.err;
  return Json::parse(result.out.empty() ? "{}" : result.out);
}

// `simulate` gives a plan that a search writes the same step time as the search, whatever the
// schedule is, and whether or not there are backwards.
TEST_F(BadOrdersTest, APlanThatASearchWritesTakesWhatTheSearchSays) {
  const std::string batch = "--model gpt2-medium --cluster h100-sxm:1x4 ";
  for (const char* schedule :
       {"gpipe", "1f1b", "interleaved", "bfs", "zb-h1", "zb-h2", "zb-auto", "zb-v", "v-half",
        "v-min", "dualpipe", "dualpipe-v", "chimera", "list"}) {
    for (const char* passes : {"", " --forward-only"}) {
      const std::string file = Expand("$T/plan.yaml");
      const std::string line = "search " + batch +
                               "--pp 2 --global-batch 16 --seq 256 --no-explain --top 1 --quiet "
                               "--algorithm exhaustive --cost-model analytical --json --schedule " +
                               schedule + passes + " -o " + file;
      const bad_input::Result result = bad_input::RunLine(line);
      ASSERT_EQ(result.code, kExitOk) << line << "\n" << result.err;
      const double found = Json::parse(result.out)["plans"][0]["evaluation"]["step_time_ms"];
      const Json step = Simulated("simulate " + batch + "--cost-model analytical --plan " + file);
      EXPECT_EQ(step["step_time_ms"], found) << line;
    }
  }
}

TEST_F(BadOrdersTest, EveryNameRuns) {
  const double base = Simulated(kJob)["step_time_ms"];
  for (const char* flags : {"gpipe",
                            "1f1b",
                            "1f1b --warmup b",
                            "interleaved --vpp 2",
                            "interleaved --vpp 2 --order-group 5",
                            "bfs --vpp 3",
                            "zb-h1",
                            "zb-h2",
                            "zb-h1 --post-validation",
                            "zb-auto",
                            "zb-auto --activation-limit 2",
                            "zb-auto --published-search",
                            "zb-v",
                            "v-half",
                            "v-min",
                            "dualpipe",
                            "dualpipe-v",
                            "chimera",
                            "chimera --vpp 4",
                            "chimera --two-forwards-slot",
                            "list",
                            "list --vpp 2 --activation-limit 0"}) {
    const Json step = Simulated(kJob + "--schedule " + flags);
    // No schedule takes less time than the work of its fullest stage, or more than twice 1F1B's.
    EXPECT_GT(step["step_time_ms"], 0.5 * base) << flags;
    EXPECT_LT(step["step_time_ms"], 2 * base) << flags;
    double parts = 0;
    for (const auto& [name, part] : step["breakdown_ms"].items()) parts += part.get<double>();
    EXPECT_NEAR(parts, step["step_time_ms"], 1e-6 * base) << flags;
  }
}

// A file with the pass orders of 1F1B gives the same step time as 1F1B.
TEST_F(BadOrdersTest, AnOrderFileIsAnOrder) {
  Write("1f1b.csv", "0F0,0F1,,0B0,0F2,0B1,0F3,0B2,,0B3\n,1F0,1B0,1F1,1B1,1F2,1B2,1F3,1B3,\n");
  const std::string job =
      "simulate --model gpt2 --cluster h100-sxm:1x2 --pp 2 --micro-batch 1 --global-batch 4 --seq "
      "512 ";
  EXPECT_EQ(Simulated(Expand(job + "--order-file $T/1f1b.csv"))["step_time_ms"],
            Simulated(job + "--schedule 1f1b")["step_time_ms"]);
}

// That a plan does not fit is a result that says so, not an error.
TEST_F(BadOrdersTest, APlanOverCapacityDoesNotFit) {
  const std::string job =
      "simulate --model llama3-70b --cluster h100-sxm:1x8 --pp 8 --micro-batch 1 --global-batch 8 "
      "--seq 8192 ";
  const Json step = Simulated(job);
  EXPECT_FALSE(step["fits"]);
  for (const Json& stage : step["memory"]) EXPECT_GT(stage["peak"], stage["capacity"]);
  EXPECT_NE(bad_input::RunLine(job + "--quiet").out.find("does not fit"), std::string::npos);
  EXPECT_TRUE(Simulated(kJob)["fits"]);
}

TEST_F(BadOrdersTest, FlagsThatCannotBeAreNamed) {
  Write("two.csv", kCsv);
  Write("skips.csv", "0F0,0F1,,0B0\n,1F0,1F1,1B0,1B1\n");
  Write("repeats.csv", "0F0,0F1,0F0,0B0,0B1\n,1F0,1F1,1B0,1B1\n");
  Write("none.csv", ",,\n,,\n");
  Write("one.csv", "0F0,0B0\n");
  Write("stuck.csv", "0F0,0B0,0F1,0B1\n1F1,1B1,1F0,1B0\n");
  Write("letters.csv", "0F0,0X1\n1F0,1B0\n");
  std::vector<Case> cases = {
      {"--schedule zb", "--schedule: got \"zb\", want one of gpipe, 1f1b, interleaved"},
      {"--schedule custom", "--schedule: got \"custom\""},
      {"--schedule zb-v --vpp 3", "order: zb-v with 3 chunks per stage, want 2"},
      {"--schedule zb-h1 --vpp 2", "order: zb-h1 with 2 chunks per stage, want 1"},
      {"--schedule bfs", "order: bfs with 1 chunk per stage, want at least 2"},
      {"--schedule chimera --vpp 3", "order: chimera with 4 stages and 3 chunks of each"},
      {"--schedule zb-h1 --order-group 4", "--order-group: changes nothing with schedule zb-h1"},
      {"--vpp 2 --order-group 3", "--order-group: got 3, want at least the 4 stages"},
      {"--schedule zb-h1 --warmup b", "--warmup: changes nothing with schedule zb-h1"},
      {"--warmup c", "--warmup: got \"c\", want a or b"},
      {"--activation-limit 2", "--activation-limit: changes nothing with schedule 1f1b"},
      {"--schedule zb-auto --activation-limit 0", "--activation-limit: got 0"},
      {"--schedule zb-auto --activation-limit nan", "--activation-limit: "},
      {"--schedule zb-auto --activation-limit 0.01", "memory limit of stage"},
      {"--schedule list --activation-limit 0.01", "memory limit of stage 0"},
      {"--two-forwards-slot", "--two-forwards-slot: changes nothing with schedule 1f1b"},
      {"--schedule zb-h1 --published-search",
       "--published-search: changes nothing with schedule zb-h1, want it with zb-auto"},
      {"--schedule chimera --zero 2", "zero: 2 with chimera, want 0 or 1"},
      {"--order-file $T/absent.csv", "absent.csv"},
      {"--order-file $T/none.csv", "none.csv: got no passes, want cells like 0F0 or 3B1"},
      {"--order-file $T/one.csv", "one.csv: got 1 rank with passes, want --pp 4"},
      {"--order-file $T/two.csv --schedule 1f1b", "--order-file: cannot be given together with"},
      {"--order-file $T/two.csv", "two.csv: got 2 ranks with passes, want --pp 4"},
      {"--order-file $T/skips.csv", "skips.csv: rank 0 lacks backward of micro-batch 1"},
      {"--order-file $T/repeats.csv", "repeats.csv: rank 0 runs forward of micro-batch 0 twice"},
      {"--order-file $T/stuck.csv",
       "stuck.csv: deadlock: rank 0 waits for backward of micro-batch 0 on rank 1, which waits for "
       "forward of micro-batch 1 on rank 0"},
      {"--stage-layers 12,0,6,6", "stages[1].chunks[0]: got no layers, want at least one layer"},
      {"--order-file $T/letters.csv", "letters.csv"},
  };
  for (Case& bad : cases) bad.line = kJob + bad.line;
  cases.push_back(
      {"simulate --model gpt2 --cluster h100-sxm:1x8 --pp 4 --micro-batch 1 "
       "--global-batch 12 --seq 512 --schedule dualpipe",
       "order: dualpipe with 6 micro-batches per pipeline, want an even number, at least "
       "twice the 4 stages"});
  Write("few.csv", kCsv);
  cases.push_back(
      {"simulate --model gpt2 --cluster h100-sxm:1x2 --pp 2 --micro-batch 1 "
       "--global-batch 8 --seq 512 --order-file $T/few.csv",
       "order: "});
  ExpectRefused(cases);
}

// `validate` uses the published search for rows that were run with the authors' own scheduler.
// Users can ask for the same with flags or in a plan file.
TEST_F(BadOrdersTest, TheAuthorsZeroBubbleSearchCanBeAskedFor) {
  bool differs = false;
  for (const std::string limit : {"0.8", "1", "1.3", "1.7", "2"}) {
    for (const bool is_published : {false, true}) {
      const std::string flags = kJob + "--zero 0 --schedule zb-auto --activation-limit " + limit;
      const Json by_flags = Simulated(flags + (is_published ? " --published-search" : ""));
      Write("plan.textproto",
            "micro_batch: 1 global_batch: 16 sequence: 512 zero: 0 degrees { pp: 4 } "
            "order: ZERO_BUBBLE_AUTO activation_limit: " +
                limit + (is_published ? " published_search: true" : ""));
      const Json by_file = Simulated(
          Expand("simulate --model gpt2-medium --cluster h100-sxm:1x8 --plan $T/plan.textproto"));
      EXPECT_EQ(by_flags["fingerprint"], by_file["fingerprint"]) << limit << is_published;
      if (is_published) differs |= by_flags["fingerprint"] != Simulated(flags)["fingerprint"];
    }
  }
  EXPECT_TRUE(differs);
}

TEST_F(BadOrdersTest, PlanFilesSayWhichOrderIsWrong) {
  const std::string head =
      "micro_batch: 1 global_batch: 2 sequence: 64 zero: 0 degrees { pp: 2 } order: CUSTOM ";
  const std::vector<std::pair<const char*, const char*>> plans = {
      {"", "orders: got none, want one for each stage of a custom schedule"},
      {"orders: \"F0 F1 B0 B1\"", "want one for each of 2 stages"},
      {"orders: \"F0 F1 B0 B1\" orders: \"F0 B0 F1 X1\"", "orders[1]: got \"X1\""},
      {"orders: \"F0 F1 B0 B1\" orders: \"F0 B0 F1\"", "order: "},
      {"orders: \"F0 F1 B0 B1\" orders: \"F0 B0 B0 F1\"", "order: "},
      {"orders: \"F0 B0 F1 B1\" orders: \"F1 B1 F0 B0\"", "deadlock"},
      {"orders: \"F0 F1 B0 B1\" orders: \"F0 B0 F1 B1\" activation_limit: -1", "activation_limit"},
      {"orders: \"F0 F1 B0 B1\" orders: \"F0 B0 F1 B1\" order_group: 1",
       "order_group: got 1, want at least the 2 stages"},
  };
  std::vector<Case> cases;
  for (const auto& [orders, wants] : plans) {
    const std::string name = std::to_string(cases.size()) + ".textproto";
    Write(name, head + orders);
    cases.push_back({"simulate --model gpt2 --cluster h100-sxm:1x2 --plan $T/" + name, wants});
  }
  Write("sound.textproto", head + "orders: \"F0 F1 B0 B1\" orders: \"F0 I0 F1 I1 W0 W1\"");
  EXPECT_GT(Simulated(Expand("simulate --model gpt2 --cluster h100-sxm:1x2 --plan "
                             "$T/sound.textproto"))["step_time_ms"],
            0);
  ExpectRefused(cases);
}

}  // namespace
}  // namespace stagecraft
