// Tests that the same input gives the same timeline whatever compiled the program: the stored
// fingerprints of whole command lines are compared with those of builds by gcc and by clang, with
// and without optimisation.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "tools/verb/command.h"

namespace stagecraft {
namespace {

nlohmann::json Simulate(const std::string& flags) {
  std::istringstream words("simulate --json --quiet " + flags);
  Args args;
  for (std::string word; words >> word;) args.push_back(word);
  std::istringstream in;
  std::ostringstream out;
  std::ostringstream err;
  EXPECT_EQ(RunCommandLine(args, in, out, err), kExitOk) << err.str();
  return nlohmann::json::parse(out.str());
}

// Each line of the file has a fingerprint, the step time in ms, and flags.
TEST(FingerprintTest, WholeCommandLinesKeepTheirTimelines) {
  const std::string path = "tests/golden/fingerprints.txt";
  std::ifstream golden(path);
  ASSERT_TRUE(golden) << path;
  std::ostringstream fresh;
  bool is_equal = true;
  int cases = 0;
  for (std::string line; std::getline(golden, line);) {
    if (line.empty() || line[0] == '#') {
      fresh << line << '\n';
      continue;
    }
    std::istringstream fields(line);
    std::string fingerprint, step_time, flags;
    fields >> fingerprint >> step_time;
    std::getline(fields >> std::ws, flags);
    const nlohmann::json result = Simulate(flags);
    const std::string now =
        result["fingerprint"].get<std::string>() + " " + result["step_time_ms"].dump();
    EXPECT_EQ(now, fingerprint + " " + step_time) << flags;
    is_equal = is_equal && now == fingerprint + " " + step_time;
    fresh << now << ' ' << flags << '\n';
    ++cases;
  }
  EXPECT_GE(cases, 8);
  if (is_equal) return;
  const char* folder = std::getenv("TEST_UNDECLARED_OUTPUTS_DIR");
  const std::string file = std::string(folder == nullptr ? "." : folder) + "/fingerprints.new.txt";
  std::ofstream(file) << fresh.str();
  ADD_FAILURE() << "wrote " << file;
}

TEST(FingerprintTest, TwoRunsGiveTheSameBytes) {
  const std::string flags =
      "--model llama3-8b --cluster h100-sxm:2x8 --tp 2 --pp 2 --global-batch 64 --seq 2048";
  nlohmann::json first = Simulate(flags);
  nlohmann::json second = Simulate(flags);
  for (nlohmann::json* result : {&first, &second}) {
    result->erase("wall_ms");
    result->erase("tasks_per_s");
  }
  EXPECT_EQ(first.dump(), second.dump());
}

TEST(FingerprintTest, UnfoldingChangesNoTime) {
  const std::string flags =
      "--model llama3-8b --cluster h100-sxm:4x8 --tp 4 --pp 4 --global-batch 64 --seq 2048";
  const nlohmann::json folded = Simulate(flags);
  const nlohmann::json unfolded = Simulate(flags + " --unfold");
  EXPECT_EQ(folded["step_time_ms"], unfolded["step_time_ms"]);
  EXPECT_EQ(unfolded["simulated_ranks"], 32);
  EXPECT_EQ(folded["simulated_ranks"], 4);
}

}  // namespace
}  // namespace stagecraft
