#include "tools/partition/answer_errors.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <stdexcept>

namespace stagecraft {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

PartitionAnswer Sound() {
  PartitionAnswer answer;
  answer.bottleneck_s = 0.5;
  answer.latency_s = 2;
  answer.bound_s = 2 * (1 + 1e-12);  // equal to the latency but for rounding
  answer.dp_time_s = 3;
  answer.minibatches_per_s = 2;
  answer.bound_minibatches_per_s = 2.5;
  answer.stages.resize(2);
  answer.stages[0].nodes = {"a"};
  answer.stages[0].time_s = 0.5;
  answer.stages[1].nodes = {"b", "c"};
  answer.stages[1].memory_bytes = 7;
  return answer;
}

TEST(AnswerErrorsTest, NothingIsWrongWithASoundAnswerOrNone) {
  EXPECT_EQ(FindErrors(Sound()), std::vector<std::string>());
  EXPECT_EQ(FindErrors(PartitionAnswer()), std::vector<std::string>());
  EXPECT_NO_THROW(RequireSound(Sound()));
}

TEST(AnswerErrorsTest, ImpossibleFiguresAreFound) {
  const std::vector<std::function<void(PartitionAnswer&)>> changes = {
      [](PartitionAnswer& a) { a.bottleneck_s = -1; },
      [](PartitionAnswer& a) { a.latency_s = kInfinity; },
      [](PartitionAnswer& a) { a.latency_s = 1.9; },
      [](PartitionAnswer& a) { a.dp_time_s = std::numeric_limits<double>::quiet_NaN(); },
      [](PartitionAnswer& a) { a.bound_s = -kInfinity; },
      [](PartitionAnswer& a) { a.minibatches_per_s = kInfinity; },
      [](PartitionAnswer& a) { a.minibatches_per_s = 2.6; },
      [](PartitionAnswer& a) { a.added_minibatches_per_s = kInfinity; },
      [](PartitionAnswer& a) { a.bound_minibatches_per_s = kInfinity; },
      [](PartitionAnswer& a) { a.stages[1].time_s = -1e-9; },
      [](PartitionAnswer& a) { a.stages[0].memory_bytes = kInfinity; },
      [](PartitionAnswer& a) { a.stages[0].nodes.clear(); },
      [](PartitionAnswer& a) { a.stages[0].replicas = 0; },
      [](PartitionAnswer& a) { a.stages[1].tensor = 0; },
  };
  for (size_t i = 0; i < changes.size(); ++i) {
    PartitionAnswer answer = Sound();
    changes[i](answer);
    EXPECT_FALSE(FindErrors(answer).empty()) << i;
    EXPECT_THROW(RequireSound(answer), std::runtime_error) << i;
  }
}

}  // namespace
}  // namespace stagecraft
