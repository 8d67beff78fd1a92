// The hybrid cube mesh of eight V100s: DGX-1V, p3.16xlarge, ND40rs_v2.
#pragma once

namespace stagecraft {

inline constexpr int kCubeMeshSize = 8;
inline constexpr int kCubeMeshLinksPerDevice = 6;

// NVLinks between two devices: 0, 1 or 2.
int CubeMeshLinks(int a, int b);

// Links that a ring collective over a set of devices can use per rank and
// direction: twice the largest number of link-disjoint cycles through all of
// them, a cycle being run both ways; for two devices the links between them;
// zero where no cycle exists. Bit i of `devices` is device i; at least two.
int CubeMeshRingLinks(unsigned devices);

}  // namespace stagecraft
