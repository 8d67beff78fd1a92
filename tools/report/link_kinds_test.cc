#include "tools/report/link_kinds.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sim/cluster/cluster_spec.h"

namespace stagecraft {
namespace {

std::vector<int> RouteOf(const Cluster& cluster, int from, int to) {
  return cluster.FindRoute(from, to).links;
}

TEST(LinkKindsTest, ARouteInsideANodeIsNvlink) {
  const Cluster cluster = ParseCluster("h100-sxm:2x8");
  EXPECT_EQ(LinkKindsText(cluster, RouteOf(cluster, 0, 1)), "2 NVLink");
}

// The route leads from the GPU to its PCIe switch and to the interface, over the fabric, and the
// same way to the other GPU.
TEST(LinkKindsTest, ARouteToAnotherNodeIsCountedByKind) {
  const Cluster cluster = ParseCluster("h100-sxm:2x8");
  const std::vector<int> links = RouteOf(cluster, 0, 8);
  EXPECT_EQ(LinkKindsText(cluster, links), "4 PCIe, 2 InfiniBand");
  const nlohmann::ordered_json json = LinkKindsToJson(cluster, links);
  EXPECT_EQ(json.dump(), R"({"PCIe":4,"InfiniBand":2})");
}

// The fabric's links are those of the vendor of the node at which they begin.
TEST(LinkKindsTest, LinksHaveTheNameOfTheirVendor) {
  const Cluster cluster = ParseCluster("h100-sxm:1x8+mi300x:1x8");
  EXPECT_EQ(LinkKindsText(cluster, RouteOf(cluster, 0, 1)), "2 NVLink");
  const std::string text = LinkKindsText(cluster, RouteOf(cluster, 8, 9));
  EXPECT_NE(text.find("Infinity Fabric"), std::string::npos) << text;
}

TEST(LinkKindsTest, ADeviceAloneCrossesNone) {
  const Cluster cluster = ParseCluster("h100-sxm:1x1");
  EXPECT_EQ(LinkKindsText(cluster, {}), "none");
  EXPECT_TRUE(LinkKindsToJson(cluster, {}).empty());
}

}  // namespace
}  // namespace stagecraft
