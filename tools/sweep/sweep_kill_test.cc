// Sweeps that are killed at random instants: what is left goes on to the rows of an undisturbed
// sweep. SWEEP_KILLS=100 kills as often as that; the default is short.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "costmodel/random.h"
#include "tools/sweep/sweep_testing.h"
#include "tools/verb/command.h"

namespace stagecraft {
namespace {

constexpr int kUsualKills = 10;

class SweepKillTest : public SweepTest {
 protected:
  // Starts a rank of two in a process of its own.
  pid_t Start(int rank) const {
    const pid_t child = fork();
    if (child != 0) return child;
    setenv("OMPI_COMM_WORLD_RANK", std::to_string(rank).c_str(), 1);
    setenv("OMPI_COMM_WORLD_SIZE", "2", 1);
    std::ostringstream out, err;
    const int code =
        RunWords("sweep $grid.yaml -o $runs.db --threads 1", folder_.string(), out, err);
    if (code != kExitOk) std::fprintf(stderr, "%s", err.str().c_str());
    _exit(code);
  }

  // Starts both ranks, and kills them after this time unless they have ended. Returns whether both
  // ended by themselves, which must be well.
  bool RunAndKill(std::chrono::microseconds time) const {
    const std::vector<pid_t> ranks = {Start(0), Start(1)};
    const auto end = std::chrono::steady_clock::now() + time;
    bool have_ended = true;
    for (const pid_t rank : ranks) {
      int status = 0;
      pid_t waited = 0;
      while ((waited = waitpid(rank, &status, WNOHANG)) == 0 &&
             std::chrono::steady_clock::now() < end) {
        std::this_thread::sleep_for(std::chrono::microseconds(200));
      }
      if (waited == 0) {
        kill(rank, SIGKILL);
        waitpid(rank, &status, 0);
      }
      if (WIFEXITED(status)) {
        EXPECT_EQ(WEXITSTATUS(status), kExitOk);
      }
      have_ended = have_ended && WIFEXITED(status);
    }
    return have_ended;
  }
};

TEST_F(SweepKillTest, WhatIsLeftOfAKilledSweepGoesOnToTheSameRows) {
  Write("grid.yaml",
        "flags:\n  model: [gpt2-tiny, gpt2, llama2-70b]\n  cluster: [h100-sxm:1x4, h100-sxm:1x8]\n"
        "  global-batch: [16, 32, 64, 128, 256]\n  seq: 128\n  tp: [1, 2, 4]\n  pp: [1, 2, 4]\n"
        "  micro-batch: [1, 2, 3, 4]\n  zero: [0, 1]\n");
  const auto begin = std::chrono::steady_clock::now();
  const std::string whole = WholeTable();
  const auto whole_time = std::chrono::duration_cast<std::chrono::microseconds>(
      std::chrono::steady_clock::now() - begin);
  const char* const wanted = std::getenv("SWEEP_KILLS");
  const int kills = wanted == nullptr ? kUsualKills : std::atoi(wanted);
  const uint64_t seed = 26;
  Random random(seed);
  int killed = 0;
  for (int i = 0; i < kills; ++i) {
    // A sweep that ended begins anew, so that every kill meets one that works.
    if (RunAndKill(std::chrono::microseconds(random.Integer(1000, whole_time.count())))) {
      EXPECT_EQ(Table("runs.db"), whole) << "after " << i << " kills, seed " << seed;
      std::filesystem::remove(Path("runs.db"));
    } else {
      ++killed;
    }
  }
  EXPECT_GT(killed, kills / 4);
  ASSERT_TRUE(RunAndKill(std::chrono::minutes(2)));
  EXPECT_EQ(Table("runs.db"), whole) << "seed " << seed;
  // A rank that begins after the first one has ended may leave its file for the next command.
  EXPECT_EQ(Run("sweep $grid.yaml -o $runs.db").code, kExitOk);
  EXPECT_EQ(Table("runs.db"), whole) << "seed " << seed;
  EXPECT_FALSE(Exists("runs.db.rank1"));
}

}  // namespace
}  // namespace stagecraft
