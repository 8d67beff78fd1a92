// The hybrid cube meshes of eight GPUs: DGX-1P, and DGX-1V, p3.16xlarge, ND40rs_v2.
#pragma once

namespace stagecraft {

inline constexpr int kCubeMeshSize = 8;

// The same neighbours in both; V100's two links more double two of the four.
enum class CubeMesh { kV100, kP100 };

constexpr int CubeMeshLinksPerDevice(CubeMesh mesh) { return mesh == CubeMesh::kV100 ? 6 : 4; }

// NVLinks between two devices: 0, 1 or, with V100, 2.
int CubeMeshLinks(CubeMesh mesh, int a, int b);

// Links that a ring collective over a set of devices can use per rank and
// direction: twice the largest number of link-disjoint cycles through all of
// them, a cycle being run both ways; for two devices the links between them;
// zero where no cycle exists. Bit i of `devices` is device i; at least two.
int CubeMeshRingLinks(CubeMesh mesh, unsigned devices);

}  // namespace stagecraft
