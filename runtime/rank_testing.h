// Helpers for tests whose ranks run the test program itself.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <string>

#include "runtime/rank_launcher.h"

namespace stagecraft {

// Runs this program under mpirun as `ranks` processes; what they print as a RankLine() goes to
// stderr.
inline LaunchEnd LaunchSelf(int ranks) {
  std::array<char, 4096> self = {};
  if (readlink("/proc/self/exe", self.data(), self.size() - 1) <= 0)
    return {1, "no program of its own", -1};
  return LaunchRanks(ranks, {self.data(), "--rank"},
                     [](const std::string& line) { std::fprintf(stderr, "%s\n", line.c_str()); });
}

// Returns the result of main(): that of `rank` in a process that LaunchSelf() started, otherwise
// that of all tests.
inline int RunRankOrTests(int argc, char** argv, int (*rank)()) {
  if (argc > 1 && std::string(argv[1]) == "--rank") return rank();
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}

}  // namespace stagecraft
