#include "runtime/run_log.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <vector>

#include "costmodel/units.h"
#include "runtime/scratch_folder.h"

namespace stagecraft {
namespace {

using What = LogEntry::What;

TEST(RunLogTest, WhatAProcessAppendsSurvivesItsDeath) {
  const ScratchFolder folder;
  const RunLog log(folder.File("log"));
  EXPECT_TRUE(log.Read().empty());
  const LogEntry late = {What::kStep, 0, 3, 5_ms}, early = {What::kDying, 1, 3, 4_ms};
  log.Append(late);
  const pid_t child = fork();
  if (child == 0) {
    log.Append(early);
    kill(getpid(), SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(log.Read(), (std::vector<LogEntry>{early, late}));
}

}  // namespace
}  // namespace stagecraft
