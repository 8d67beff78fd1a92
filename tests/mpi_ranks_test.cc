// Starts the program under mpirun: what the ranks of a search or a sweep find together is what one
// process finds, to the byte.
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "costmodel/proto_file.h"
#include "runtime/scratch_folder.h"
#include "tools/verb/command.h"

namespace stagecraft {
namespace {

struct Outcome {
  int code = 0;
  std::string out, err;

  // The lines of `err` that the program wrote, without those of mpirun.
  std::vector<std::string> Sentences() const {
    std::vector<std::string> sentences;
    std::istringstream lines(err);
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with("stagecraft ")) sentences.push_back(line);
    }
    return sentences;
  }
};

class MpiRanksTest : public testing::Test {
 protected:
  std::string File(const std::string& name) const { return folder_.File(name.c_str()); }

  // Runs a line of a shell.
  Outcome Shell(const std::string& line) const {
    const std::string out = File("out"), err = File("err");
    const int status = std::system(fmt::format("({}) >{} 2>{} </dev/null", line, out, err).c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, ReadFile(out), ReadFile(err)};
  }
  Outcome Alone(const std::string& words) const { return Shell("tools/stagecraft " + words); }
  // Runs the same on several ranks. `before` is what the shell of each rank does first.
  Outcome Together(int ranks, const std::string& words, const std::string& before = "") const {
    std::string command = "tools/stagecraft " + words;
    if (!before.empty()) command = fmt::format("sh -c '{} exec {}'", before, command);
    // Tests may run side by side in containers that share /tmp and /dev/shm.
    return Shell(
        fmt::format("OMPI_MCA_orte_tmpdir_base={0} OMPI_MCA_btl_vader_backing_directory={0} mpirun "
                    "--allow-run-as-root --oversubscribe --bind-to none -n {1} {2}",
                    folder_.path(), ranks, command));
  }

 private:
  const ScratchFolder folder_{testing::TempDir()};
};

// Leaves out what differs from run to run.
std::string WithoutTimes(const std::string& text) {
  static const std::regex json("\"(seconds|wall_ms|evaluations_per_s)\": [^\\n]*");
  static const std::regex words("in [0-9.]+ s(?=[;\\n])");
  // The last column of the comparison of algorithms.
  static const std::regex seconds(
      "\\n(random|exhaustive|beam|dp|mcmc|differentiable|policy)( [^\\n]*?) +[0-9.]+(?=\\n)");
  const std::string without = std::regex_replace(std::regex_replace(text, json, "$1"), words, "");
  return std::regex_replace(without, seconds, "\n$1$2");
}

struct SearchCase {
  const char* what;
  std::string words;
  int code = kExitOk;
};

const SearchCase kCases[] = {
    {"equal boards",
     "--model examples/config.json --cluster a100-sxm4-80gb:1x8 --global-batch 64 --seq 4096"},
    {"two nodes, all schedules, part of the space",
     "--model gpt2-medium --cluster h100-sxm:2x4 --global-batch 32 --seq 1024 --schedule all "
     "--budget 300evals"},
    {"mixed boards",
     "--model examples/config.json --cluster h100-sxm:1x4+a100-sxm4-80gb:1x4 --global-batch 16 "
     "--seq 2048 --budget 400evals"},
    {"a mixture of experts",
     "--model mixtral-8x7b --cluster h100-sxm:2x8 --global-batch 32 --seq 2048 --budget 200evals"},
    {"all algorithms",
     "--model examples/config.json --cluster h100-sxm:1x4 --global-batch 16 --seq 2048 "
     "--compare-algorithms --budget 60evals"},
    {"a Pareto front",
     "--model examples/config.json --cluster h100-sxm:1x4 --global-batch 16 --seq 2048 --objective "
     "pareto --fewer-devices"},
    {"nothing fits",
     "--model llama3-70b --cluster a100-sxm4-40gb:1x2 --global-batch 8 --seq 4096 --tp 1",
     kExitInfeasible},
};

TEST_F(MpiRanksTest, ASearchPrintsWhatOneProcessPrints) {
  for (const SearchCase& one : kCases) {
    SCOPED_TRACE(one.what);
    for (const auto& [form, ranks] : {std::pair{" --json", 3}, {"", 2}}) {
      const std::string words = "search --quiet " + one.words + form;
      const Outcome alone = Alone(words);
      ASSERT_EQ(alone.code, one.code) << alone.err;
      const Outcome together = Together(ranks, words);
      EXPECT_EQ(together.code, one.code) << together.err;
      EXPECT_EQ(WithoutTimes(together.out), WithoutTimes(alone.out)) << ranks << " ranks";
      EXPECT_TRUE(together.Sentences().empty()) << together.err;
    }
  }
}

TEST_F(MpiRanksTest, ASearchWritesItsFilesOnce) {
  const std::string words = "search --quiet " + kCases[0].words + " --no-explain -o ";
  ASSERT_EQ(Alone(words + File("alone.yaml")).code, kExitOk);
  ASSERT_EQ(Together(4, words + File("together.yaml")).code, kExitOk);
  EXPECT_EQ(ReadFile(File("together.yaml")), ReadFile(File("alone.yaml")));
}

TEST_F(MpiRanksTest, AMistakeIsOneSentence) {
  for (const std::string bad :
       {"--model examples/config.json --cluster h100-sxm:1x8 --global-batch 64 --tp 3",
        "--model nowhere.json --cluster h100-sxm:1x8 --global-batch 64", "--bogus",
        "--model gpt2 --cluster h100-sxm:1x8 --global-batch 64 -o nowhere/best.yaml"}) {
    const Outcome alone = Alone("search " + bad);
    ASSERT_EQ(alone.code, kExitBadInput);
    const Outcome together = Together(3, "search " + bad);
    EXPECT_EQ(together.code, kExitBadInput) << together.err;
    EXPECT_EQ(together.out, "");
    EXPECT_EQ(together.Sentences(), alone.Sentences()) << bad << "\n" << together.err;
  }
}

TEST_F(MpiRanksTest, AMistakeOfOneRankNamesIt) {
  std::filesystem::copy_file("examples/config.json", File("config.json"));
  const std::string words = fmt::format(
      "search --quiet --model $MODEL --cluster h100-sxm:1x8 --global-batch 64 --seq 2048");
  const std::string before = fmt::format(
      "MODEL={}; if [ $OMPI_COMM_WORLD_RANK = 1 ]; then cd {}; fi;", "config.json", "/");
  // Every rank but rank 1 begins in the folder of the file. The program is named by its path.
  const std::string program = std::filesystem::absolute("tools/stagecraft").string();
  const Outcome outcome =
      Shell(fmt::format("cd {} && OMPI_MCA_orte_tmpdir_base={} mpirun --allow-run-as-root "
                        "--oversubscribe --bind-to none -n 3 sh -c '{} exec {} {}'",
                        std::filesystem::path(File("config.json")).parent_path().string(),
                        File("."), before, program, words));
  EXPECT_EQ(outcome.code, kExitBadInput) << outcome.err;
  EXPECT_EQ(outcome.out, "");
  const std::vector<std::string> sentences = outcome.Sentences();
  ASSERT_EQ(sentences.size(), 1u) << outcome.err;
  EXPECT_TRUE(sentences[0].starts_with("stagecraft search: rank 1: ")) << sentences[0];
  EXPECT_NE(sentences[0].find("config.json"), std::string::npos) << sentences[0];
}

// A search that takes minutes.
constexpr const char* kLongSearch =
    "search --quiet --json --no-explain --model llama3-405b --cluster h100-sxm:2048x8 "
    "--global-batch 2048 --seq 8192 --schedule all";

// Returns what a shell does to send a signal to rank 1 after this long; the rank keeps the number
// of its shell.
std::string SignalRankOne(const char* signal, const char* seconds) {
  return fmt::format("if [ $OMPI_COMM_WORLD_RANK = 1 ]; then (sleep {}; kill -{} $$) & fi;",
                     seconds, signal);
}

TEST_F(MpiRanksTest, ASearchOfWhichOneRankIsToldToStopEndsForAllWithABound) {
  const Outcome outcome = Together(3, kLongSearch, SignalRankOne("TERM", "4"));
  EXPECT_EQ(outcome.code, kExitInterrupted) << outcome.err;
  const nlohmann::json answer = nlohmann::json::parse(outcome.out, nullptr, false);
  ASSERT_FALSE(answer.is_discarded()) << outcome.out << outcome.err;
  EXPECT_EQ(answer["interrupted"], true);
  EXPECT_EQ(answer["optimal"], false);
  EXPECT_GT(answer["bound_ms"], 0);
  for (const nlohmann::json& plan : answer["plans"]) {
    EXPECT_GE(plan["evaluation"]["step_time_ms"], answer["bound_ms"]);
  }
}

TEST_F(MpiRanksTest, ARankThatDiesEndsAll) {
  const Outcome outcome = Together(3, kLongSearch, SignalRankOne("KILL", "2"));
  EXPECT_NE(outcome.code, kExitOk);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(outcome.Sentences(),
            std::vector<std::string>{"stagecraft search: rank 1 has died, and all others end"})
      << outcome.err;
}

// All rows of a table, a line each.
std::string Rows(const std::string& database, const std::string& select) {
  sqlite3* connection = nullptr;
  EXPECT_EQ(sqlite3_open_v2(database.c_str(), &connection, SQLITE_OPEN_READONLY, nullptr),
            SQLITE_OK);
  sqlite3_stmt* statement = nullptr;
  EXPECT_EQ(sqlite3_prepare_v2(connection, select.c_str(), -1, &statement, nullptr), SQLITE_OK)
      << sqlite3_errmsg(connection);
  std::string rows;
  while (sqlite3_step(statement) == SQLITE_ROW) {
    for (int column = 0; column < sqlite3_column_count(statement); ++column) {
      const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement, column));
      rows += text == nullptr ? "NULL" : text;
      rows += '|';
    }
    rows += '\n';
  }
  sqlite3_finalize(statement);
  sqlite3_close(connection);
  return rows;
}

std::string Contents(const std::string& database) {
  return Rows(database, "SELECT * FROM grids") +
         Rows(database, "SELECT * FROM runs ORDER BY grid, point");
}

TEST_F(MpiRanksTest, ASweepOnFourRanksFillsTheDatabaseOfOneProcessAndOfFourShards) {
  std::ofstream(File("grid.yaml"))
      << "flags:\n  model: [gpt2-tiny, gpt2, llama2-70b]\n"
         "  cluster: [h100-sxm:1x4, h100-sxm:1x8]\n  global-batch: [16, 32]\n  seq: 128\n"
         "  tp: [1, 2, 4]\n  pp: [1, 2, 4]\n  micro-batch: [1, 3]\n";
  const auto sweep = [&](const std::string& database) {
    return fmt::format("sweep {} -o {} --quiet", File("grid.yaml"), File(database));
  };
  ASSERT_EQ(Alone(sweep("alone.db")).code, kExitOk);
  const Outcome together = Together(4, sweep("together.db"));
  ASSERT_EQ(together.code, kExitOk) << together.err;
  std::string parts;
  for (int shard = 0; shard < 4; ++shard) {
    const std::string part = fmt::format("part{}.db", shard);
    ASSERT_EQ(Alone(sweep(part) + fmt::format(" --shard {}/4", shard)).code, kExitOk);
    parts += " " + File(part);
  }
  ASSERT_EQ(Alone("merge" + parts + " -o " + File("merged.db")).code, kExitOk);
  const std::string want = Contents(File("alone.db"));
  EXPECT_EQ(std::count(want.begin(), want.end(), '\n'), 1 + 3 * 2 * 2 * 3 * 3 * 2);
  EXPECT_EQ(Contents(File("together.db")), want);
  EXPECT_EQ(Contents(File("merged.db")), want);
  EXPECT_FALSE(std::filesystem::exists(File("together.db.rank1")));
}

}  // namespace
}  // namespace stagecraft
