#include "runtime/cuda/stand_in/failing_calls.h"

#include <gtest/gtest.h>

#include <exception>
#include <map>

namespace stagecraft {
namespace {

// Whether failures of the function may go unnoticed, since it releases something or reads sensors.
bool MayGoUnnoticed(const std::string& function) {
  for (const char* const part : {"Destroy", "Free", "Pop", "nvml"}) {
    if (function.find(part) != std::string::npos) return true;
  }
  return false;
}

std::string ErrorOn(const StandInGpu& gpu, const std::function<std::string()>& error_of) {
  UseStandIn(gpu);
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

void FailEveryCall(const StandInGpu& gpu, const std::function<std::string()>& error_of,
                   const std::map<std::string, int>& unnoticed) {
  ASSERT_EQ(ErrorOn(gpu, error_of), "");
  ExpectNothingLeft("no call fails");
  const std::map<std::string, int> calls = StandInCalls();
  std::map<std::string, int> gone_unnoticed;
  std::string names;
  for (const auto& [function, times] : calls) {
    for (int nth = 1; nth <= times && !testing::Test::HasFailure(); ++nth) {
      StandInGpu failing = gpu;
      failing.fails = {function, nth};
      const std::string call = function + " " + std::to_string(nth);
      if (ErrorOn(failing, error_of).empty() && !MayGoUnnoticed(function)) {
        ++gone_unnoticed[function];
        names += "\n" + call;
      }
      ExpectNothingLeft(call);
    }
  }
  if (testing::Test::HasFailure()) return;
  EXPECT_EQ(gone_unnoticed, unnoticed) << "no error reports the failures of" << names;
}

}  // namespace stagecraft
