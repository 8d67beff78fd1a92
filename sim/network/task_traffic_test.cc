#include "sim/network/task_traffic.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "sim/network/collective_patterns.h"

namespace stagecraft {
namespace {

// One link of a byte a nanosecond.
class TaskTrafficTest : public ::testing::Test {
 protected:
  TaskTrafficTest() {
    const LinkId link = traffic_.network().AddLink(Bandwidth(1e9), Duration());
    route_ = traffic_.network().AddRoute(std::vector<LinkId>{link});
  }

  int32_t Message(int64_t bytes, Duration least = {}) {
    Exchange exchange;
    exchange.parts.push_back({SendReceive(Bytes(bytes)), {route_}, {}});
    exchange.least = least;
    return traffic_.AddExchange(std::move(exchange));
  }
  int32_t Pause(Duration time) {
    Exchange exchange;
    exchange.least = time;
    return traffic_.AddExchange(std::move(exchange));
  }
  // Runs to the next end, and expects that only `task` ends.
  Duration EndOf(int32_t task) {
    const std::span<const int32_t> ended = traffic_.Advance(Duration::Max());
    EXPECT_EQ(std::vector<int32_t>(ended.begin(), ended.end()), std::vector<int32_t>{task});
    return traffic_.now();
  }

  TaskTraffic traffic_;
  RouteId route_ = 0;
};

TEST_F(TaskTrafficTest, ExchangesOfATaskFollowOneAnother) {
  traffic_.Bind(2, traffic_.AddSequence({Message(100), Pause(50_ns), Message(200)}));
  EXPECT_FALSE(traffic_.Has(0));
  EXPECT_TRUE(traffic_.Has(2));
  traffic_.Start(2, 10_ns);
  EXPECT_TRUE(traffic_.running());
  EXPECT_EQ(EndOf(2), 360_ns);
  EXPECT_FALSE(traffic_.running());
}

// The second message of task 0 meets that of task 1 after 100 ns, when 200 bytes are left of it.
TEST_F(TaskTrafficTest, LaterExchangesShareLinksToo) {
  traffic_.Bind(0, traffic_.AddSequence({Pause(100_ns), Message(200)}));
  traffic_.Bind(1, traffic_.AddSequence({Message(300)}));
  traffic_.Start(0, 0_ns);
  traffic_.Start(1, 0_ns);
  const std::span<const int32_t> ended = traffic_.Advance(Duration::Max());
  EXPECT_EQ(std::vector<int32_t>(ended.begin(), ended.end()), (std::vector<int32_t>{0, 1}));
  EXPECT_EQ(traffic_.now(), 500_ns);
}

TEST_F(TaskTrafficTest, AnExchangeLastsAsLongAsWhatUsesNoLinks) {
  traffic_.Bind(0, traffic_.AddSequence({Message(100, 130_ns), Message(100, 70_ns)}));
  traffic_.Start(0, 0_ns);
  EXPECT_EQ(EndOf(0), 230_ns);
}

}  // namespace
}  // namespace stagecraft
