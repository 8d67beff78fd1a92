// Clusters whose files say which devices share a memory.
#include <gtest/gtest.h>

#include <string>

#include "costmodel/units.h"
#include "sim/cluster/cluster.h"
#include "sim/cluster/cluster_proto.h"
#include "sim/cluster/cluster_testing.h"

namespace stagecraft {
namespace {

TEST(ClusterMemoryTest, DevicesMayShareOne) {
  const std::string yaml =
      "node_groups: [{node_type: dgx-h100, count: 2, devices_per_node: 2},"
      " {node_type: dgx-a100, count: 1, devices_per_node: 1}]\n"
      "shared_memory: [{devices: [node2/gpu0, node1/gpu1], bandwidth_bytes_per_s: 1e12}]\n";
  const Cluster cluster = ReadYamlCluster(yaml);
  ASSERT_EQ(cluster.shared_memories().size(), 1u);
  EXPECT_EQ(cluster.shared_memories()[0], (SharedMemory{{3, 4}, Bandwidth(1e12)}));
  EXPECT_EQ(cluster.shared_memory(2), -1);
  EXPECT_EQ(cluster.shared_memory(4), 0);
  const Cluster again = ClusterFromProto(ToProto(cluster), "again");
  EXPECT_EQ(again.shared_memories()[0], cluster.shared_memories()[0]);
}

TEST(ClusterMemoryTest, BadSharingIsOneSentence) {
  const auto error = [](const std::string& shared) {
    return YamlClusterError("node_groups: [{node_type: dgx-h100, count: 1}]\nshared_memory: [" +
                            shared + "]\n");
  };
  const std::string want = ", want a device of the cluster, as \"node0/gpu1\"";
  for (const std::string name :
       {"gpu1", "node0/gpu8", "node1/gpu0", "node0/gpu1x", "node0/gpu-1", "node 0/gpu1",
        "node0/gpu01", "node+0/gpu1", "node4294967296/gpu1"}) {
    EXPECT_EQ(error("{devices: [node0/gpu0, " + name + "], bandwidth_bytes_per_s: 1e12}"),
              "c.yaml: shared_memory[0].devices[1]: got \"" + name + "\"" + want);
  }
  EXPECT_EQ(error("{devices: [node0/gpu0], bandwidth_bytes_per_s: 1e12}"),
            "c.yaml: shared_memory[0].devices: got 1, want two or more");
  EXPECT_EQ(error("{devices: [node0/gpu0, node0/gpu0], bandwidth_bytes_per_s: 1e12}"),
            "c.yaml: shared_memory[0].devices: got node0/gpu0 twice, want it in one");
  EXPECT_EQ(
      error("{devices: [node0/gpu0, node0/gpu1]}"),
      "c.yaml: shared_memory[0].bandwidth_bytes_per_s: got none, want from 1e8 to 1e14 bytes/s");
}

}  // namespace
}  // namespace stagecraft
