#include "sim/network/fair_shares.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "costmodel/random.h"

namespace stagecraft {
namespace {

// link 0 (10): two flows
TEST(FairSharesTest, TwoFlowsOnOneLinkHaveHalfEach) {
  FairShares shares;
  const RouteId route = shares.AddRoute(std::vector<LinkId>{shares.AddLink(10)});
  shares.Join(0, route);
  shares.Settle();
  EXPECT_EQ(shares.rate(0), 10);
  shares.Join(1, route);
  shares.Settle();
  EXPECT_EQ(shares.rate(0), 5);
  EXPECT_EQ(shares.rate(1), 5);
  shares.Leave(0);
  shares.Settle();
  EXPECT_EQ(shares.rate(1), 10);
}

TEST(FairSharesTest, WhatACapLeavesGoesToTheOthers) {
  FairShares shares;
  const RouteId route = shares.AddRoute(std::vector<LinkId>{shares.AddLink(12)});
  shares.Join(0, route, 2);
  shares.Join(1, route);
  shares.Join(2, route);
  shares.Settle();
  EXPECT_EQ(shares.rate(0), 2);
  EXPECT_EQ(shares.rate(1), 5);
  EXPECT_EQ(shares.rate(2), 5);
}

// Link 0 (10) has two flows, link 1 (16) three, one of them over both. A half
// of 10 is less than a third of 16: link 0 binds first, 11 are left for two.
TEST(FairSharesTest, TheNarrowestShareIsFilledFirst) {
  FairShares shares;
  const LinkId first = shares.AddLink(10);
  const LinkId second = shares.AddLink(16);
  const RouteId both = shares.AddRoute(std::vector<LinkId>{first, second});
  const RouteId only_first = shares.AddRoute(std::vector<LinkId>{first});
  const RouteId only_second = shares.AddRoute(std::vector<LinkId>{second});
  shares.Join(0, both);
  shares.Join(1, only_first);
  shares.Join(2, only_second);
  shares.Join(3, only_second);
  shares.Settle();
  EXPECT_EQ(shares.rate(0), 5);
  EXPECT_EQ(shares.rate(1), 5);
  EXPECT_EQ(shares.rate(2), 5.5);
  EXPECT_EQ(shares.rate(3), 5.5);
  EXPECT_EQ(shares.state(second), LinkState::kFull);
  shares.SetCapacity(first, 0);
  shares.Settle();
  EXPECT_EQ(shares.rate(0), 0);
  EXPECT_EQ(shares.rate(2), 8);
}

// A flow leaves link 0; what its neighbour gains there it takes from a third
// flow on link 1, which the change itself never touched.
TEST(FairSharesTest, AChangePassesOnOverSharedLinks) {
  FairShares shares;
  const LinkId first = shares.AddLink(4);
  const LinkId second = shares.AddLink(12);
  shares.Join(0, shares.AddRoute(std::vector<LinkId>{first}));
  shares.Join(1, shares.AddRoute(std::vector<LinkId>{first, second}));
  shares.Join(2, shares.AddRoute(std::vector<LinkId>{second}));
  shares.Settle();
  EXPECT_EQ(shares.rate(2), 10);
  shares.Leave(0);
  shares.Settle();
  EXPECT_EQ(shares.rate(1), 4);
  EXPECT_EQ(shares.rate(2), 8);
}

// Links, routes of one to four of them, and flows that come and go, as one seed draws them.
class RandomShares {
 public:
  explicit RandomShares(uint64_t seed) : random_(seed) {
    const int links = static_cast<int>(random_.Integer(2, 12));
    for (int link = 0; link < links; ++link) {
      capacities_.push_back(static_cast<double>(random_.Integer(1, 40)));
      shares_.AddLink(capacities_.back());
    }
    for (int i = 0; i < 20; ++i) {
      std::vector<LinkId> route;
      const int64_t length = random_.Integer(1, 4);
      for (int hop = 0; hop < length; ++hop) {
        const LinkId link = static_cast<LinkId>(random_.Integer(0, links - 1));
        if (std::find(route.begin(), route.end(), link) == route.end()) route.push_back(link);
      }
      shares_.AddRoute(route);
    }
  }

  // Makes a few arrivals, departures and changes of capacity at one instant.
  void Change() {
    const int64_t changes = random_.Integer(1, 4);
    int64_t settled = static_cast<int64_t>(flows_.size());  // one that comes stays for now
    for (int i = 0; i < changes; ++i) {
      const int64_t kind = random_.Integer(0, 9);
      if (kind == 0) {
        const LinkId link = static_cast<LinkId>(random_.Integer(0, shares_.link_count() - 1));
        capacities_[link] = static_cast<double>(random_.Integer(0, 40));
        shares_.SetCapacity(link, capacities_[link]);
      } else if (kind < 6 || settled == 0) {
        const RouteId route = static_cast<RouteId>(random_.Integer(0, 19));
        const bool is_capped = random_.Integer(0, 2) == 0;
        const double cap =
            is_capped ? 0.5 * static_cast<double>(random_.Integer(1, 20)) : FairShares::kNoCap;
        flows_.push_back({next_++, route, cap});
        shares_.Join(flows_.back().id, route, cap);
      } else {
        const int64_t index = random_.Integer(0, --settled);
        shares_.Leave(flows_[index].id);
        flows_.erase(flows_.begin() + index);
      }
    }
    shares_.Settle();
  }

  // Checks (1) and (2), and for (3) that the rates are those of the same flows joined all at once.
  void Check() {
    FairShares anew;
    for (const double capacity : capacities_) anew.AddLink(capacity);
    for (RouteId route = 0; route < 20; ++route) anew.AddRoute(shares_.route(route));
    for (const Flow& flow : flows_) anew.Join(flow.id, flow.route, flow.cap);
    anew.Settle();
    std::vector<double> load(capacities_.size(), 0);
    for (const Flow& flow : flows_) {
      ASSERT_NEAR(shares_.rate(flow.id), anew.rate(flow.id), 1e-7);
      ASSERT_LE(shares_.rate(flow.id), flow.cap);
      for (const LinkId link : shares_.route(flow.route)) load[link] += shares_.rate(flow.id);
    }
    for (size_t link = 0; link < load.size(); ++link) {
      ASSERT_LE(load[link], capacities_[link] + 1e-7);
    }
    for (const Flow& flow : flows_) ASSERT_TRUE(HasBottleneck(flow, load)) << flow.id;
  }

 private:
  struct Flow {
    FlowId id;
    RouteId route;
    double cap;
  };

  bool HasBottleneck(const Flow& flow, const std::vector<double>& load) const {
    const double rate = shares_.rate(flow.id);
    if (rate >= flow.cap - 1e-7) return true;
    for (const LinkId link : shares_.route(flow.route)) {
      bool is_bottleneck = load[link] >= capacities_[link] - 1e-6;
      for (int i = 0; i < shares_.flow_count(link); ++i) {
        is_bottleneck &= shares_.rate(shares_.flow(link, i)) <= rate + 1e-7;
      }
      if (is_bottleneck) return true;
    }
    return false;
  }

  Random random_;
  FairShares shares_;
  std::vector<double> capacities_;
  std::vector<Flow> flows_;
  FlowId next_ = 0;
};

TEST(FairSharesTest, RatesKeptAreThoseFilledFromNothing) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    RandomShares shares(seed);
    for (int step = 0; step < 60; ++step) {
      shares.Change();
      shares.Check();
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
}

}  // namespace
}  // namespace stagecraft
