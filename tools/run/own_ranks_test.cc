// Shells play the processes of a run.
#include "tools/run/own_ranks.h"

#include <gtest/gtest.h>

#include <sstream>
#include <stdexcept>

#include "costmodel/error_of.h"

namespace stagecraft {
namespace {

class OwnRanksTest : public testing::Test {
 protected:
  void Shells(const std::string& script) { RunOwnRanks(2, {"/bin/sh", "-c", script}, out_, err_); }
  std::ostringstream out_, err_;
};

TEST_F(OwnRanksTest, WhatTheyPrintIsPassedOn) {
  Shells("test $RANK = 0 || exit 0; echo report; echo step 1 of 2 >&2");
  EXPECT_EQ(out_.str(), "report\n");
  EXPECT_EQ(err_.str(), "step 1 of 2\n");
}

TEST_F(OwnRanksTest, BadInputIsSaidOnceInTheWordsOfTheRankThatSawItFirst) {
  EXPECT_EQ(ErrorOf([&] {
              Shells("sleep 0.$((RANK * 3)); echo stagecraft run: rank $RANK: no GPU >&2; exit 2");
            }),
            "rank 0: no GPU");
  EXPECT_EQ(err_.str(), "");
}

TEST_F(OwnRanksTest, ARankThatFailsOrDiesIsNamedAndTheOthersStop) {
  const auto failure = [&](const std::string& script) -> std::string {
    try {
      Shells("test $RANK = 0 && exec sleep 100; " + script);
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(failure("echo stagecraft run: cudaMalloc: broken >&2; exit 1"),
            "rank 1: cudaMalloc: broken; all processes were stopped");
  EXPECT_EQ(failure("kill -9 $$"), "rank 1: killed by signal 9; all processes were stopped");
  EXPECT_EQ(failure("exit 7"), "rank 1: ended with code 7; all processes were stopped");
}

TEST_F(OwnRanksTest, TheOwnProgramIsThisTest) {
  EXPECT_TRUE(OwnProgram().ends_with("own_ranks_test")) << OwnProgram();
}

}  // namespace
}  // namespace stagecraft
