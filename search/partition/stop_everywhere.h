// StopEverywhere(): stops a solver at its first look at a StopSign, then at a later one, and so on,
// for tests.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "search/partition/stop_sign.h"

namespace stagecraft {

struct Stops {
  int without_answer = 0;  // how often Stopped was thrown
  int with_answer = 0;
};

// Runs `solve`(stop) again and again until it is not stopped any more. Passes every answer that it
// returns, of which the last is complete, to `look`(answer).
template <typename Solve, typename Look>
Stops StopEverywhere(const Solve& solve, const Look& look) {
  Stops stops;
  for (int64_t looks = 0;; looks += 1 + looks / 8) {
    SCOPED_TRACE("after " + std::to_string(looks) + " looks");
    const StopSign stop = StopSign::AfterLooks(looks);
    try {
      look(solve(stop));
      if (!stop.was_obeyed()) return stops;
      ++stops.with_answer;
    } catch (const Stopped&) {
      EXPECT_TRUE(stop.was_obeyed());
      ++stops.without_answer;
    }
  }
}

}  // namespace stagecraft
