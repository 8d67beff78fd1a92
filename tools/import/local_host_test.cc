#include "tools/import/local_host.h"

#include <gtest/gtest.h>

#include "costmodel/device.h"
#include "costmodel/units.h"
#include "sim/cluster/cluster.h"
#include "sim/cluster/cluster_proto.h"
#include "sim/cluster/cluster_spec.h"

namespace stagecraft {
namespace {

// A host with 64 GB and four CPU cores, each of which streams 10 GB/s while all are busy.
LocalHost Four() {
  LocalHost host;
  host.processor.id = "host";
  host.processor.name = "a processor";
  host.processor.generation = Generation::kHost;
  host.processor.multiprocessors = 1;
  host.processor.boost_clock_hz = 2e9;
  host.processor.vector_peak = FlopRate(5e10);
  host.processor.peak.fill(host.processor.vector_peak);
  host.processor.memory = Bytes(64'000'000'000);
  host.processor.memory_bandwidth = Bandwidth(1e10);
  host.processor.l2 = Bytes(1 << 20);
  host.processors = 4;
  host.message = {LinkKind::kHost, 2_us, Bandwidth(7e9)};
  return host;
}

Cluster ClusterOf(const LocalHost& host) {
  return ClusterFromProto(LocalHostCluster(host), "local-host");
}

TEST(LocalHostTest, AProcessorHasAnEvenPartOfTheMemory) {
  const Cluster cluster = ClusterOf(Four());
  ASSERT_EQ(cluster.device_count(), 4);
  for (int i = 0; i < 4; ++i) {
    const Device& device = cluster.device(i);
    EXPECT_EQ(device.memory, Bytes(16'000'000'000));
    EXPECT_EQ(device.memory_bandwidth, Bandwidth(1e10));
    EXPECT_EQ(device.Peak(DType::kBf16), FlopRate(5e10));
  }
  EXPECT_TRUE(cluster.shared_memories().empty());
  EXPECT_EQ(cluster.DescribePair(0, 3, 1).intra, Four().message);
  EXPECT_EQ(DescribeCluster(cluster),
            "4 CPU cores: 1 x local-host with 4 a processor (switched shared memory 7 GB/s per CPU "
            "core)");
}

}  // namespace
}  // namespace stagecraft
