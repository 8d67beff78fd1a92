// Stops solvers at their first look at a StopSign, at a later one, and so on, for tests.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "search/partition/stop_sign.h"

namespace stagecraft {

struct Stops {
  int without_answer = 0;  // Stopped was thrown
  int with_answer = 0;
};

// Runs `solve`(stop) until it comes to its end; passes every answer that it returns, of which the
// last is complete, to `look`(answer).
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
