#include "sim/cluster/topology/switched_fabric.h"

#include <algorithm>
#include <utility>

#include "costmodel/check.h"
#include "costmodel/divide.h"

namespace stagecraft {
namespace {

Bandwidth Narrower(const FabricTier& tier) {
  return std::min(tier.up.bandwidth, tier.down.bandwidth);
}

}  // namespace

SwitchedFabric::SwitchedFabric(FabricSpec spec, int nodes, int rails, const Link& gateway)
    : spec_(std::move(spec)), gateway_link_(gateway) {
  if (spec_.kind == FabricKind::kSingleSwitch) return;
  rails_ = spec_.kind == FabricKind::kRailOptimised ? std::max(rails, 1) : 1;
  int64_t units = std::ssize(spec_.leaf_nodes);
  if (units == 0) units = std::max<int64_t>(DivideUp(nodes, spec_.nodes_per_leaf), 1);
  int first = 0;
  for (const int on_leaf : spec_.leaf_nodes) {
    first_node_.push_back(first);
    first += on_leaf;
  }
  leaves_ = units * rails_;
  pods_ = has_cores() ? DivideUp(units, spec_.nodes_per_pod / spec_.nodes_per_leaf) : 1;
  spines_ = spec_.tiers[0].uplinks;
  cores_ = has_cores() ? spec_.tiers[1].uplinks : 0;
  tops_ = has_cores() ? spines_ * cores_ : spines_;
  first_core_ = leaves_ + pods_ * spines_;
  gateway_switch_ = first_core_ + spines_ * cores_;
  first_core_link_ = 2 * leaves_ * spines_;
  first_gateway_link_ = first_core_link_ + 2 * pods_ * spines_ * cores_;
  has_gateway_switch_ = gateway.bandwidth.bytes_per_s() > 0;
}

std::string SwitchedFabric::SwitchName(int index) const {
  if (spec_.kind == FabricKind::kSingleSwitch) return spec_.name;
  const auto number = [](const char* what, int64_t i) { return what + std::to_string(i); };
  std::string name = spec_.name + "/";
  if (index < leaves_) {
    if (spec_.kind == FabricKind::kRailOptimised) name += number("rail", index % rails_) + "/";
    return name + number("leaf", index / rails_);
  }
  if (index < first_core_) {
    const int64_t spine = index - leaves_;
    if (has_cores()) name += number("pod", spine / spines_) + "/";
    return name + number("spine", spine % spines_);
  }
  return index < gateway_switch_ ? name + number("core", index - first_core_) : name + "gateway";
}

SwitchedFabric::Cable SwitchedFabric::link(int index) const {
  CHECK(index >= 0 && index < link_count());
  const bool is_up = index % 2 == 0;
  int64_t low = 0;
  int64_t high = 0;
  const FabricTier* tier = nullptr;
  if (index < first_core_link_) {
    const int64_t cable = index / 2;
    low = cable / spines_;
    high = leaves_ + PodOfLeaf(static_cast<int>(low)) * spines_ + cable % spines_;
    tier = &spec_.tiers[0];
  } else if (index < first_gateway_link_) {
    const int64_t cable = (index - first_core_link_) / 2;
    const int64_t spine = cable / cores_;  // over all pods
    low = leaves_ + spine;
    high = first_core_ + spine % spines_ * cores_ + cable % cores_;
    tier = &spec_.tiers[1];
  } else {
    const int64_t top = (index - first_gateway_link_) / 2;
    low = (has_cores() ? first_core_ : leaves_) + top;
    high = gateway_switch_;
  }
  const Link& link = tier == nullptr ? gateway_link_ : is_up ? tier->up : tier->down;
  if (!is_up) std::swap(low, high);
  return {static_cast<int>(low), static_cast<int>(high), link};
}

int SwitchedFabric::Leaf(int node, int rail) const {
  if (spec_.kind == FabricKind::kSingleSwitch) return 0;
  int unit = 0;
  if (first_node_.empty()) {
    unit = node / spec_.nodes_per_leaf;
  } else {
    const auto after = std::upper_bound(first_node_.begin(), first_node_.end(), node);
    unit = static_cast<int>(after - first_node_.begin()) - 1;
  }
  return unit * rails_ + (rails_ > 1 ? rail : 0);
}

int SwitchedFabric::PodOfLeaf(int leaf) const {
  if (!has_cores()) return 0;
  return leaf / rails_ / (spec_.nodes_per_pod / spec_.nodes_per_leaf);
}

SwitchedFabric::Way SwitchedFabric::Choose(uint64_t choice) const {
  Way way;
  way.spine = static_cast<int>((choice >> 32) % static_cast<uint64_t>(spines_));
  if (has_cores()) {
    way.core = static_cast<int>((choice & 0xffffffff) % static_cast<uint64_t>(cores_));
  }
  return way;
}

int SwitchedFabric::UpLink(int leaf, const Way& way) const {
  return static_cast<int>(2 * (leaf * spines_ + way.spine));
}

int SwitchedFabric::CoreLink(int pod, const Way& way) const {
  return static_cast<int>(first_core_link_ + 2 * ((pod * spines_ + way.spine) * cores_ + way.core));
}

int SwitchedFabric::TopLink(const Way& way) const {
  const int64_t top = has_cores() ? way.spine * cores_ + way.core : way.spine;
  return static_cast<int>(first_gateway_link_ + 2 * top);
}

void SwitchedFabric::Cross(int from_leaf, int to_leaf, uint64_t choice,
                           std::vector<int>* links) const {
  if (from_leaf == to_leaf) return;
  const Way way = Choose(choice);
  links->push_back(UpLink(from_leaf, way));
  if (PodOfLeaf(from_leaf) != PodOfLeaf(to_leaf)) {
    links->push_back(CoreLink(PodOfLeaf(from_leaf), way));
    links->push_back(CoreLink(PodOfLeaf(to_leaf), way) + 1);
  }
  links->push_back(UpLink(to_leaf, way) + 1);
}

void SwitchedFabric::Leave(int leaf, uint64_t choice, std::vector<int>* links) const {
  if (!has_gateway_switch_) return;
  const Way way = Choose(choice);
  links->push_back(UpLink(leaf, way));
  if (has_cores()) links->push_back(CoreLink(PodOfLeaf(leaf), way));
  links->push_back(TopLink(way));
}

void SwitchedFabric::Enter(int leaf, uint64_t choice, std::vector<int>* links) const {
  if (!has_gateway_switch_) return;
  const Way way = Choose(choice);
  links->push_back(TopLink(way) + 1);
  if (has_cores()) links->push_back(CoreLink(PodOfLeaf(leaf), way) + 1);
  links->push_back(UpLink(leaf, way) + 1);
}

SwitchedFabric::Above SwitchedFabric::AboveWhat(int link) const {
  if (link < first_core_link_)
    return {.leaf = static_cast<int>(link / 2 / spines_), .like = spines_};
  if (link >= first_gateway_link_) return {.like = tops_};
  const int64_t spine = (link - first_core_link_) / 2 / cores_;  // over all pods
  return {.pod = static_cast<int>(spine / spines_), .like = spines_ * cores_};
}

Bandwidth SwitchedFabric::LeafUplinks() const {
  return static_cast<double>(spines_) * Narrower(spec_.tiers[0]);
}

Bandwidth SwitchedFabric::PodUplinks() const {
  return static_cast<double>(spines_ * cores_) * Narrower(spec_.tiers[1]);
}

}  // namespace stagecraft
