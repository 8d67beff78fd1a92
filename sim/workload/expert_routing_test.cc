#include "sim/workload/expert_routing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

namespace stagecraft {
namespace {

Operator Router(int experts, int per_token, int groups = 1, int groups_per_token = 1) {
  Operator op;
  op.experts = experts;
  op.experts_per_token = per_token;
  op.expert_groups = groups;
  op.groups_per_token = groups_per_token;
  return op;
}

// Counts over all equally likely choices of groups, and of experts among them.
double Counted(const Operator& op, int places) {
  const int of_group = op.experts / op.expert_groups;
  const int of_place = op.experts / places;
  int64_t sum = 0, choices = 0;
  std::vector<char> groups(op.expert_groups, 0);
  std::fill(groups.end() - op.groups_per_token, groups.end(), 1);
  do {
    std::vector<int> offered;
    for (int expert = 0; expert < op.experts; ++expert) {
      if (groups[expert / of_group] != 0) offered.push_back(expert);
    }
    std::vector<char> chosen(offered.size(), 0);
    std::fill(chosen.end() - op.experts_per_token, chosen.end(), 1);
    do {
      std::set<int> there;
      for (size_t i = 0; i < offered.size(); ++i) {
        if (chosen[i] != 0) there.insert(offered[i] / of_place);
      }
      sum += static_cast<int64_t>(there.size());
      ++choices;
    } while (std::next_permutation(chosen.begin(), chosen.end()));
  } while (std::next_permutation(groups.begin(), groups.end()));
  return static_cast<double>(sum) / static_cast<double>(choices);
}

// A token has two of four experts, two on each node: both lie on one node in one third of the
// cases.
TEST(ExpertRoutingTest, TwoExpertsOnTwoNodes) {
  EXPECT_NEAR(ExpectedPlaces(Router(4, 2), 2), 5.0 / 3, 1e-12);
  EXPECT_DOUBLE_EQ(ExpectedPlaces(Router(4, 2), 1), 1);
  EXPECT_DOUBLE_EQ(ExpectedPlaces(Router(4, 2), 4), 2);
  EXPECT_DOUBLE_EQ(ExpectedPlaces(Router(4, 4), 2), 2);
}

TEST(ExpertRoutingTest, AgreesWithCountingAllChoices) {
  for (const auto& [groups, offered] : {std::pair(1, 1), {2, 1}, {4, 2}, {4, 3}, {4, 4}}) {
    for (const int per_token : {1, 2, 3}) {
      if (per_token > 8 / groups * offered) continue;
      const Operator op = Router(8, per_token, groups, offered);
      for (const int places : {1, 2, 4, 8}) {
        EXPECT_NEAR(ExpectedPlaces(op, places), Counted(op, places), 1e-12)
            << groups << " groups, " << offered << " offered, " << per_token << " per token, "
            << places << " places";
      }
    }
  }
}

// A token of DeepSeek-V3 goes to at most 4 of 8 nodes, for 8 of 256 experts.
TEST(ExpertRoutingTest, NodeLimitedRoutingSendsToFewerNodes) {
  const double limited = ExpectedPlaces(Router(256, 8, 8, 4), 8);
  EXPECT_NEAR(limited, 3.63, 0.01);
  EXPECT_NEAR(ExpectedPlaces(Router(256, 8), 8), 5.30, 0.01);
  EXPECT_LT(ExpectedPlaces(Router(256, 8, 8, 4), 64), ExpectedPlaces(Router(256, 8), 64));
}

}  // namespace
}  // namespace stagecraft
