#include "runtime/cuda/stand_in/failing_calls.h"

#include <gtest/gtest.h>

#include <exception>
#include <limits>
#include <map>

namespace stagecraft {
namespace {

// How many failures of the function nobody has to hear of.
int MostUnnoticed(const std::string& function, const std::map<std::string, int>& unnoticed) {
  for (const char* const part : {"Destroy", "Free", "Pop", "nvml"}) {
    if (function.find(part) != std::string::npos) return std::numeric_limits<int>::max();
  }
  const auto own = unnoticed.find(function);
  return own == unnoticed.end() ? 0 : own->second;
}

std::string ErrorOn(const StandInBoard& board, const std::function<std::string()>& error_of) {
  UseStandIn(board);
  try {
    return error_of();
  } catch (const std::exception& error) {
    return error.what();
  }
}

void ExpectNothingLeft(const std::string& call) {
  for (const std::string& leak : StandInLeaks()) ADD_FAILURE() << call << ": " << leak;
  EXPECT_EQ(StandInGatesRunOut(), 0) << call;
}

}  // namespace

void FailEveryCall(const StandInBoard& board, const std::function<std::string()>& error_of,
                   const std::map<std::string, int>& unnoticed) {
  ASSERT_EQ(ErrorOn(board, error_of), "");
  ExpectNothingLeft("no call fails");
  const std::map<std::string, int> calls = StandInCalls();
  for (const auto& [function, times] : calls) {
    int left = MostUnnoticed(function, unnoticed);
    for (int nth = 1; nth <= times && !testing::Test::HasFailure(); ++nth) {
      StandInBoard failing = board;
      failing.fails = {function, nth};
      const std::string call = function + " " + std::to_string(nth);
      const std::string error = ErrorOn(failing, error_of);
      if (error.empty() && --left < 0) ADD_FAILURE() << "nobody hears of a failure of " << call;
      ExpectNothingLeft(call);
    }
  }
}

StandInBoard CheckedBoard() {
  StandInBoard board;
  board.cache = 1 << 16;
  board.has_data = false;
  return board;
}

}  // namespace stagecraft
