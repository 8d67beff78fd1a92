#include "sim/plan/rank_order.h"

#include <gtest/gtest.h>

namespace stagecraft {
namespace {

using Dimensions = std::vector<std::string>;

TEST(RankOrderTest, NamesEveryDimensionOnce) {
  EXPECT_EQ(ParseRankOrder("pp-dp-tp-cp-ep"), (Dimensions{"pp", "dp", "tp", "cp", "ep"}));
  EXPECT_EQ(ParseRankOrder(kDefaultRankOrder), (Dimensions{"tp", "cp", "ep", "dp", "pp"}));
}

TEST(RankOrderTest, AnythingElseIsNone) {
  for (const char* text : {"", "tp-pp", "tp-tp-cp-ep-dp", "tp-cp-ep-dp-pp-", "tp-cp-ep-dp-xx"}) {
    EXPECT_FALSE(ParseRankOrder(text).has_value()) << text;
  }
  EXPECT_EQ(RankOrderProblem("tp-pp"),
            "got \"tp-pp\", want tp, cp, ep, dp and pp once each, joined by '-'");
}

}  // namespace
}  // namespace stagecraft
