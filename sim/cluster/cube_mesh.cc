#include "sim/cluster/cube_mesh.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>
#include <vector>

#include "costmodel/check.h"

namespace stagecraft {
namespace {

using Counts = std::array<std::array<int, kCubeMeshSize>, kCubeMeshSize>;

// The numbers of links of V100: 1, 2 and 0 are NV1, NV2 and SYS in `nvidia-smi topo -m`.
// data/README.md gives their source.
constexpr Counts kLinks = {{
    {0, 1, 1, 2, 2, 0, 0, 0},
    {1, 0, 2, 1, 0, 2, 0, 0},
    {1, 2, 0, 2, 0, 0, 1, 0},
    {2, 1, 2, 0, 0, 0, 0, 1},
    {2, 0, 0, 0, 0, 1, 1, 2},
    {0, 2, 0, 0, 1, 0, 2, 1},
    {0, 0, 1, 0, 1, 2, 0, 2},
    {0, 0, 0, 1, 2, 1, 2, 0},
}};

Counts LinksOf(CubeMesh mesh) {
  Counts links = kLinks;
  if (mesh == CubeMesh::kV100) return links;
  for (auto& row : links) {
    for (int& count : row) count = std::min(count, 1);
  }
  return links;
}

// Searches for as many link-disjoint cycles through all members as there can be.
class CycleSearch {
 public:
  CycleSearch(std::vector<int> members, const Counts& links)
      : members_(std::move(members)), free_(links) {}

  int Run() {
    bound_ = CubeMeshLinksPerDevice(CubeMesh::kV100);
    for (const int device : members_) {
      int degree = 0;
      for (const int other : members_) degree += free_[device][other];
      bound_ = std::min(bound_, degree / 2);
    }
    Extend(members_[0], 1u << members_[0], 0);
    return best_;
  }

 private:
  // Walks on from `at`; a closed cycle starts the search for the next one.
  void Extend(int at, unsigned visited, int cycles) {
    if (best_ >= bound_) return;
    if (std::popcount(visited) == static_cast<int>(members_.size())) {
      if (!Take(at, members_[0])) return;
      best_ = std::max(best_, cycles + 1);
      Extend(members_[0], 1u << members_[0], cycles + 1);
      GiveBack(at, members_[0]);
      return;
    }
    for (const int next : members_) {
      if ((visited >> next & 1u) != 0 || !Take(at, next)) continue;
      Extend(next, visited | 1u << next, cycles);
      GiveBack(at, next);
    }
  }
  bool Take(int a, int b) {
    if (free_[a][b] == 0) return false;
    --free_[a][b];
    --free_[b][a];
    return true;
  }
  void GiveBack(int a, int b) {
    ++free_[a][b];
    ++free_[b][a];
  }

  std::vector<int> members_;
  Counts free_;
  int bound_ = 0;
  int best_ = 0;
};

int RingLinks(const Counts& links, unsigned devices) {
  std::vector<int> members;
  for (int i = 0; i < kCubeMeshSize; ++i) {
    if ((devices >> i & 1u) != 0) members.push_back(i);
  }
  if (members.size() < 2) return 0;
  if (members.size() == 2) return links[members[0]][members[1]];
  return 2 * CycleSearch(std::move(members), links).Run();
}

}  // namespace

int CubeMeshLinks(CubeMesh mesh, int a, int b) {
  return mesh == CubeMesh::kV100 ? kLinks[a][b] : std::min(kLinks[a][b], 1);
}

int CubeMeshRingLinks(CubeMesh mesh, unsigned devices) {
  constexpr unsigned kSets = 1u << kCubeMeshSize;
  using Rings = std::array<int, kSets>;
  const auto find_all = [](CubeMesh which) {
    const Counts links = LinksOf(which);
    Rings rings{};
    for (unsigned set = 0; set < kSets; ++set) rings[set] = RingLinks(links, set);
    return rings;
  };
  static const std::array<Rings, 2> tables = {find_all(CubeMesh::kV100), find_all(CubeMesh::kP100)};
  CHECK(devices < kSets && std::popcount(devices) >= 2);
  return tables[static_cast<int>(mesh)][devices];
}

}  // namespace stagecraft
