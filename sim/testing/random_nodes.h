// Clusters for tests in which pairs of devices are unlike, and the same clusters with other device
// numbers.
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "costmodel/link.h"
#include "costmodel/random.h"
#include "costmodel/units.h"
#include "sim/cluster/cluster.h"
#include "sim/cluster/cube_mesh.h"
#include "sim/cluster/node_type.h"
#include "sim/cluster/test_nodes.h"
#include "sim/cluster/topology/pcie_tree.h"
#include "sim/testing/lowering_testing.h"
#include "sim/testing/random_plans.h"

namespace stagecraft {

// Two clusters with the same wiring. Device d of the first is number[d] of the second.
struct Renumbered {
  Cluster first, second;
  std::vector<int> number;
};

inline NodeType WithGpu(NodeType type) {
  type.device = MakeDevice("board", 100e12);
  return type;
}

// Repeats the same numbers on every node.
inline std::vector<int> OnEveryNode(const std::vector<int>& local, int nodes) {
  std::vector<int> number;
  const auto size = static_cast<int>(local.size());
  for (int node = 0; node < nodes; ++node) {
    for (const int index : local) number.push_back(node * size + index);
  }
  return number;
}

// Two nodes with V100's cube mesh, renumbered in one of the ways that keep the links.
inline Renumbered RenumberedCubeMesh(Random& random) {
  const Cluster cluster("mesh", {{WithGpu(CubeMeshNode()), 2}});
  const auto keeps_links = [](const std::vector<int>& local) {
    for (int a = 0; a < kCubeMeshSize; ++a) {
      for (int b = 0; b < kCubeMeshSize; ++b) {
        if (a != b && CubeMeshLinks(stagecraft::CubeMesh::kV100, a, b) !=
                          CubeMeshLinks(stagecraft::CubeMesh::kV100, local[a], local[b])) {
          return false;
        }
      }
    }
    return true;
  };
  std::vector<int> local = Permutation(random, kCubeMeshSize);
  while (!keeps_links(local)) std::next_permutation(local.begin(), local.end());
  return {cluster, cluster, OnEveryNode(local, 2)};
}

// Eight devices anywhere below four switches of two root complexes, each with an interface.
inline Renumbered RenumberedTree(Random& random) {
  NodeType type = WithGpu(Switched());
  type.id = "tree";
  type.wiring = Wiring::kPcie;
  type.nvls = false;
  type.intra = type.fallback;
  type.nics = 4;
  type.pcie.roots = 2;
  type.pcie.switch_root = {0, 0, 1, 1};
  type.pcie.nic_switch = {0, 1, 2, 3};
  type.pcie.uplinks.assign(4, MakeLink(LinkKind::kPcie, 500_ns, 40));
  type.pcie.root_link = MakeLink(LinkKind::kPcie, 500_ns, 30);
  for (int device = 0; device < type.devices; ++device) {
    type.pcie.device_switch.push_back(static_cast<int>(random.Integer(0, 3)));
  }
  const std::vector<int> local = Permutation(random, type.devices);
  NodeType other = type;
  for (int device = 0; device < type.devices; ++device) {
    other.pcie.device_switch[local[device]] = type.pcie.device_switch[device];
  }
  return {Cluster("tree", {{type, 2}}), Cluster("tree", {{other, 2}}), OnEveryNode(local, 2)};
}

// Links of nodes as importers make them: ports below two switches, and direct links between some
// pairs of devices.
inline Renumbered RenumberedLinks(Random& random) {
  constexpr int kNodes = 2, kDevices = 8;
  const std::vector<int> local = Permutation(random, kDevices);
  std::vector<Cluster::ExplicitLink> first, second;
  const auto add = [&](const std::string& from, const std::string& to, const std::string& new_from,
                       const std::string& new_to, const Link& link) {
    first.push_back({from, to, link});
    first.push_back({to, from, link});
    second.push_back({new_from, new_to, link});
    second.push_back({new_to, new_from, link});
  };
  std::vector<int> switches(kDevices);
  for (int& place : switches) place = static_cast<int>(random.Integer(0, 1));
  std::vector<std::vector<int>> direct(kDevices, std::vector<int>(kDevices));
  for (int a = 0; a < kDevices; ++a) {
    for (int b = 0; b < a; ++b) direct[a][b] = std::max(0, static_cast<int>(random.Integer(-2, 2)));
  }
  for (int node = 0; node < kNodes; ++node) {
    const auto name = [&](const char* kind, int index) {
      return fmt::format("node{}/{}{}", node, kind, index);
    };
    const Link port = MakeLink(LinkKind::kPcie, 1_us, 16);
    for (int a = 0; a < kDevices; ++a) {
      const std::string place = name("switch", switches[a]);
      add(name("gpu", a), place, name("gpu", local[a]), place, port);
      for (int b = 0; b < a; ++b) {
        if (direct[a][b] == 0) continue;
        add(name("gpu", a), name("gpu", b), name("gpu", local[a]), name("gpu", local[b]),
            MakeLink(LinkKind::kNvlink, 1_us, 25 * direct[a][b]));
      }
    }
    for (int place = 0; place < 2; ++place) {
      const std::string from = name("switch", place);
      add(from, name("root", 0), from, name("root", 0), MakeLink(LinkKind::kPcie, 1_us, 20));
    }
    const std::string root = name("root", 0);
    add(root, "fabric", root, "fabric", MakeLink(LinkKind::kNetwork, 3_us, 10));
  }
  NodeType type = WithGpu(Switched());
  type.nvls = false;
  return {Cluster("links", {{type, kNodes}}, first), Cluster("links", {{type, kNodes}}, second),
          OnEveryNode(local, kNodes)};
}

}  // namespace stagecraft
