#include "tools/network/network_input.h"

#include <gtest/gtest.h>

#include <string>

#include "costmodel/check.h"
#include "costmodel/network/nccl_tests_log.h"
#include "costmodel/units.h"
#include "sim/cluster/cluster_spec.h"

namespace stagecraft {
namespace {

constexpr int kMostRanks = 8;  // on a host

NcclTestsLog LogOf(int h100_ranks, int a100_ranks) {
  NcclTestsLog log;
  for (int rank = 0; rank < h100_ranks; ++rank) {
    log.ranks.push_back({"first", "NVIDIA H100 80GB HBM3"});
  }
  for (int rank = 0; rank < a100_ranks; ++rank) {
    log.ranks.push_back({"second", "NVIDIA A100-SXM4-80GB"});
  }
  log.rows.push_back({Bytes(1 << 20), 50_us});
  return log;
}

TEST(NetworkInputTest, EachHostsGpusAreThoseOfItsNodeHoweverManyRanksItHas) {
  const Cluster cluster = ParseCluster("h100-sxm:1x8+a100-sxm4-80gb:1x8");
  const Cluster exchanged = ParseCluster("a100-sxm4-80gb:1x8+h100-sxm:1x8");
  for (int first = 1; first <= kMostRanks; ++first) {
    for (int second = 1; second <= kMostRanks; ++second) {
      const NcclTestsLog log = LogOf(first, second);
      EXPECT_EQ(SamplesOfLog(log, cluster, "x.log").size(), 1u) << first << " and " << second;
      EXPECT_THROW(SamplesOfLog(log, exchanged, "x.log"), InputError) << first << " and " << second;
    }
  }
}

}  // namespace
}  // namespace stagecraft
