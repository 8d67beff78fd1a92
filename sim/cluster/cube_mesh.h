// The hybrid cube meshes of eight GPUs: DGX-1P, and DGX-1V, p3.16xlarge, ND40rs_v2.
#pragma once

namespace stagecraft {

inline constexpr int kCubeMeshSize = 8;

// The neighbours are the same in both; V100 has two more links, which double two of the four
// connections.
enum class CubeMesh { kV100, kP100 };

constexpr int CubeMeshLinksPerDevice(CubeMesh mesh) { return mesh == CubeMesh::kV100 ? 6 : 4; }

// The number of NVLinks between two devices: 0, 1 or, with V100, 2.
int CubeMeshLinks(CubeMesh mesh, int a, int b);

// The number of links that a ring collective over a set of devices can use per rank and direction:
// twice the largest number of link-disjoint cycles through all of them, since a cycle is run both
// ways; for two devices the links between them; zero if there is no cycle. Bit i of `devices` is
// device i; at least two are set.
int CubeMeshRingLinks(CubeMesh mesh, unsigned devices);

}  // namespace stagecraft
