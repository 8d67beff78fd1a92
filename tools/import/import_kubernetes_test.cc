#include <gtest/gtest.h>

#include <string>

#include "sim/cluster/cluster.h"
#include "tools/import/import_testing.h"

namespace stagecraft {
namespace {

std::string Node(const std::string& name, const std::string& labels) {
  return "{\"metadata\":{\"name\":\"" + name + "\",\"labels\":{" + labels +
         "}},\"status\":{\"capacity\":{\"nvidia.com/gpu\":\"8\"}}}";
}
std::string List(const std::string& nodes) { return "{\"items\":[" + nodes + "]}"; }

TEST_F(ImportTest, KubernetesInstancesAreCatalogueNodes) {
  const std::string type = "\"node.kubernetes.io/instance-type\":\"p5.48xlarge\"";
  const std::string layer = ",\"topology.k8s.aws/network-node-layer-3\":";
  const std::string path = Write(
      "nodes.json",
      List(Node("b", type + layer + "\"nn-2\"") + "," + Node("a", type + layer + "\"nn-1\"") + "," +
           Node("c", type + layer + "\"nn-1\"") + ",{\"metadata\":{\"name\":\"cpu\"}}"));
  const Cluster cluster = Import({"k8s", path}, ".json");
  EXPECT_EQ(cluster.groups()[0].type.id, "aws-p5.48xlarge");
  EXPECT_EQ(cluster.node_count(), 3);
  // Nodes a and c share a leaf switch, b is below the other.
  EXPECT_EQ(cluster.interconnect().fabrics[0].nodes_per_leaf, 2);
  EXPECT_NE(printed_.find("1 nodes without GPUs are left out"), std::string::npos) << printed_;
}

TEST_F(ImportTest, KubernetesNodesWithoutTheLabelsOfOthersAreNoted) {
  const std::string type = "\"node.kubernetes.io/instance-type\":\"p5.48xlarge\"";
  const std::string layer = ",\"topology.k8s.aws/network-node-layer-3\":";
  const std::string path =
      Write("nodes.json", List(Node("a", type + layer + "\"nn-1\"") + "," +
                               Node("b", type + layer + "\"nn-2\"") + "," + Node("c", type)));
  EXPECT_TRUE(IsSingleSwitch(Import({"k8s", path}).interconnect()));
  EXPECT_NE(printed_.find("leaf switches are left out: 1 of 3 nodes have neither label "
                          "topology.k8s.aws/network-node-layer-3 nor "
                          "cloud.google.com/gce-topology-subblock, \"c\" is the first"),
            std::string::npos)
      << printed_;
  Import({"k8s", Write("nodes.json", List(Node("c", type)))});
  EXPECT_EQ(printed_.find("leaf"), std::string::npos) << printed_;
}

TEST_F(ImportTest, KubernetesCountsWholeGpusOnce) {
  std::string node = Node("a", "\"nvidia.com/gpu.product\":\"NVIDIA-H100-80GB-HBM3\"");
  const std::string gpus = "\"nvidia.com/gpu\"";
  node.insert(node.find(gpus), "\"nvidia.com/mig-1g.10gb\":\"0\",");
  EXPECT_EQ(Import({"k8s", Write("nodes.json", List(node))}).device_count(), 8);
  node.replace(node.find("\"0\""), 3, "\"7\"");
  const std::string out = (folder_ / "out.json").string();
  EXPECT_NE(Run({"k8s", Write("nodes.json", List(node)), "-o", out}).find("MIG instances"),
            std::string::npos);
  const std::string shared =
      Node("a", "\"nvidia.com/gpu.count\":\"4\",\"nvidia.com/gpu.replicas\":\"3\"");
  EXPECT_NE(Run({"k8s", Write("nodes.json", List(shared)), "-o", out})
                .find("got 12 GPUs by label and 8 by capacity"),
            std::string::npos);
}

TEST_F(ImportTest, KubernetesProductsAreFoundThroughTheirDashes) {
  const std::string path =
      Write("nodes.json", List(Node("a", "\"nvidia.com/gpu.product\":\"NVIDIA-H100-80GB-HBM3\"")));
  EXPECT_EQ(Import({"k8s", path}, ".yaml").groups()[0].type.id, "dgx-h100");
}

}  // namespace
}  // namespace stagecraft
