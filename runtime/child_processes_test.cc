#include "runtime/child_processes.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <map>
#include <string>
#include <vector>

#include "costmodel/error_of.h"
#include "runtime/processor_count.h"
#include "runtime/rank_launcher.h"

namespace stagecraft {
namespace {

ChildProcess Shell(const std::string& script, std::vector<std::string> variables = {}) {
  return {{"/bin/sh", "-c", script}, std::move(variables)};
}

struct Heard {
  ChildrenEnd end;
  std::map<int, std::vector<std::string>> out, err;  // by process
  double seconds = 0;
};

Heard RunAll(const std::vector<ChildProcess>& processes) {
  Heard run;
  const auto begin = std::chrono::steady_clock::now();
  run.end = RunProcesses(processes, [&](const ChildLine& line) {
    (line.is_error ? run.err : run.out)[line.process].push_back(line.text);
  });
  run.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return run;
}

using Lines = std::vector<std::string>;

TEST(ChildProcessesTest, LinesAreHeardByProcessAndStream) {
  const Heard run = RunAll({Shell("echo a; echo; echo c"), Shell("echo e >&2; printf last")});
  EXPECT_EQ(run.end.failed, -1);
  EXPECT_EQ(run.end.exit_code, 0);
  EXPECT_EQ(run.out.at(0), (Lines{"a", "", "c"}));
  EXPECT_EQ(run.out.at(1), (Lines{"last"}));
  EXPECT_EQ(run.err.at(1), (Lines{"e"}));
}

TEST(ChildProcessesTest, AProcessHasItsOwnVariablesBesideOurs) {
  setenv("STAGECRAFT_TEST_KEPT", "kept", 1);
  setenv("STAGECRAFT_TEST_REPLACED", "old", 1);
  const Heard run = RunAll({Shell("echo $STAGECRAFT_TEST_KEPT $STAGECRAFT_TEST_REPLACED $MINE",
                                  {"STAGECRAFT_TEST_REPLACED=new", "MINE=1"})});
  EXPECT_EQ(run.out.at(0), (Lines{"kept new 1"}));
}

TEST(ChildProcessesTest, TheFirstThatFailsIsNamedAndTheOthersAreEnded) {
  const Heard run = RunAll({Shell("exec sleep 100"), Shell("exit 3"), Shell("exec sleep 100")});
  EXPECT_EQ(run.end.failed, 1);
  EXPECT_EQ(run.end.exit_code, 3);
  EXPECT_EQ(run.end.signal, 0);
  EXPECT_LT(run.seconds, 20);
}

// If SIGCHLD is ignored, a process does not learn how its children end, and it inherits that
// setting.
TEST(ChildProcessesTest, AFailureIsNoticedEvenIfSigchldWasIgnored) {
  std::signal(SIGCHLD, SIG_IGN);
  const Heard run = RunAll({Shell("exit 3")});
  EXPECT_EQ(run.end.failed, 0);
  EXPECT_EQ(run.end.exit_code, 3);
}

TEST(ChildProcessesTest, AProcessThatDoesNotEndWhenAskedIsKilled) {
  const Heard run =
      RunAll({Shell("trap '' TERM; echo on; exec sleep 100"), Shell("sleep 0.3; kill -9 $$")});
  EXPECT_EQ(run.end.failed, 1);
  EXPECT_EQ(run.end.exit_code, 137);
  EXPECT_EQ(run.end.signal, SIGKILL);
  EXPECT_LT(run.seconds, 20);
}

TEST(ChildProcessesTest, AllAreEndedWhenTheyAreToStop) {
  std::atomic<bool> stop = false;
  std::vector<std::string> said;
  const ChildrenEnd end = RunProcesses(
      {Shell("trap 'echo asked; exit 3' TERM; echo on; sleep 100 & wait"), Shell("exec sleep 100")},
      [&](const ChildLine& line) {
        said.push_back(line.text);
        stop = true;
      },
      &stop);
  EXPECT_TRUE(end.was_stopped);
  EXPECT_EQ(end.failed, -1);
  EXPECT_EQ(said, (Lines{"on", "asked"}));
}

TEST(ChildProcessesTest, ThoseThatHaveEndedAreNotStopped) {
  const std::atomic<bool> stop = false;
  const ChildrenEnd end = RunProcesses(
      {Shell("exit 0")}, [](const ChildLine&) {}, &stop);
  EXPECT_FALSE(end.was_stopped);
}

// Ctrl-C in a terminal reaches a whole group of processes, of which only ours is to decide.
TEST(ChildProcessesTest, TheyAreNotInOurGroupAndReadNothing) {
  const Heard run = RunAll({Shell("cut -d ' ' -f 5 /proc/$$/stat; cat; echo end")});
  ASSERT_EQ(run.out.at(0).size(), 2u);
  EXPECT_NE(run.out.at(0)[0], std::to_string(getpgrp()));
  EXPECT_EQ(run.out.at(0)[1], "end");
}

TEST(ChildProcessesTest, AProgramThatDoesNotExistIsNamedAndAllProcessesEnd) {
  EXPECT_EQ(ErrorOf([] {
              RunAll({Shell("exec sleep 100"), {{"/no/such/program"}, {}}});
            }),
            "run: cannot start /no/such/program: No such file or directory");
}

TEST(RankLauncherTest, BareRanksAreToldWhatTorchrunWouldTellThem) {
  std::map<int, std::string> said;
  const LaunchEnd end = LaunchBareRanks(
      2, {"/bin/sh", "-c", "echo $RANK of $WORLD_SIZE, $LOCAL_RANK, $MASTER_ADDR $MASTER_PORT"},
      [&](const ChildLine& line) { said[line.process] = line.text; });
  EXPECT_EQ(end.exit_code, 0);
  EXPECT_EQ(end.death, "");
  EXPECT_TRUE(said[0].starts_with("0 of 2, 0, 127.0.0.1 ")) << said[0];
  EXPECT_TRUE(said[1].starts_with("1 of 2, 1, 127.0.0.1 ")) << said[1];
  EXPECT_EQ(said[0].substr(14), said[1].substr(14));
  EXPECT_GT(std::stoi(said[0].substr(said[0].rfind(' '))), 1023);
}

// Limits the test to a host of one core with two threads, as MPI sees it.
TEST(RankLauncherTest, RanksMayShareACore) {
  if (ProcessorCount() < 2) GTEST_SKIP() << "ranks are bound where there is a processor for each";
  setenv("HWLOC_SYNTHETIC", "core:1 pu:2", 1);
  setenv("HWLOC_THISSYSTEM", "1", 1);
  const LaunchEnd end = LaunchRanks(2, {"/bin/true"}, [](const std::string&) {});
  unsetenv("HWLOC_SYNTHETIC");
  unsetenv("HWLOC_THISSYSTEM");
  EXPECT_EQ(end.exit_code, 0);
}

TEST(RankLauncherTest, ABareRankThatDiesIsNamed) {
  const auto death = [](const std::string& script) {
    return LaunchBareRanks(2, {"/bin/sh", "-c", "test $RANK = 0 && exec sleep 100; " + script},
                           [](const ChildLine&) {})
        .death;
  };
  EXPECT_EQ(death("kill -9 $$"), "rank 1: killed by signal 9");
  EXPECT_EQ(death("exit 5"), "rank 1: ended with code 5");
}

}  // namespace
}  // namespace stagecraft
