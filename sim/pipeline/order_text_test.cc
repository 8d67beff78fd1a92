#include "sim/pipeline/order_text.h"

#include <gtest/gtest.h>

#include "costmodel/check.h"
#include "sim/pipeline/dual_pipe.h"

namespace stagecraft {
namespace {

TEST(OrderTextTest, AWordIsAPass) {
  const PassOrder order = OrderFromText("F0  1B12\tI3 W3", "orders[0]");
  ASSERT_EQ(order.size(), 4u);
  EXPECT_EQ(order[1], (Pass{Phase::kBackward, 1, 12}));
  EXPECT_EQ(order[3], (Pass{Phase::kBackwardWeight, 0, 3}));
}

TEST(OrderTextTest, OrdersComeBackAsTheyWere) {
  for (const PassOrder& order : DualPipeOrders(4, 10)) {
    EXPECT_EQ(OrderFromText(OrderToText(order), ""), order);
  }
}

TEST(OrderTextTest, WordsThatAreNoPassesAreNamed) {
  for (const char* text :
       {"F", "X0", "F0B0", "F-1", "F99999999999", "99999F0", "F0 +", "F0+", "1"}) {
    EXPECT_THROW(OrderFromText(text, "orders[2]"), InputError) << text;
  }
  try {
    OrderFromText("F0 G1", "plan.yaml: orders[2]");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(),
                 "plan.yaml: orders[2]: got \"G1\", want passes like F0, B0, I0, W0 or, of chunk "
                 "1, 1F0");
  }
}

}  // namespace
}  // namespace stagecraft
