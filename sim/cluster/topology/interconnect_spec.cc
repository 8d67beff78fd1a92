#include "sim/cluster/topology/interconnect_spec.h"

#include <algorithm>
#include <set>
#include <utility>

#include "sim/cluster/topology/wrong_number.h"

namespace stagecraft {
namespace {

bool HasNoBandwidth(const Link& link) { return !(link.bandwidth.bytes_per_s() > 0); }

// The name of a fabric begins the names of its switches, which must not be taken for "node0/..." or
// "domain0/...".
bool IsUsableName(const std::string& name) {
  return !name.empty() && name.find('/') == std::string::npos && !name.starts_with("node") &&
         !name.starts_with("domain");
}

void CheckTiers(const FabricSpec& fabric, const std::string& key,
                std::vector<std::string>* errors) {
  const size_t wanted = fabric.nodes_per_pod > 0 ? 2 : 1;
  if (fabric.tiers.size() != wanted) {
    errors->push_back(WrongNumber(key + "tiers", static_cast<int>(fabric.tiers.size()),
                                  wanted == 2 ? "two above the leaves of a fabric with pods"
                                              : "one above the leaves, or two and nodes_per_pod"));
  }
  for (size_t t = 0; t < fabric.tiers.size(); ++t) {
    const FabricTier& tier = fabric.tiers[t];
    const std::string place = key + "tiers[" + std::to_string(t) + "].";
    if (tier.uplinks < 1 || tier.uplinks > kMaxUplinks) {
      errors->push_back(
          WrongNumber(place + "uplinks", tier.uplinks, "from 1 to " + std::to_string(kMaxUplinks)));
    }
    if (HasNoBandwidth(tier.up)) errors->push_back(place + "up: got no bandwidth, want > 0");
    if (HasNoBandwidth(tier.down)) errors->push_back(place + "down: got no bandwidth, want > 0");
  }
}

void CheckUneven(const FabricSpec& fabric, const std::string& key,
                 std::vector<std::string>* errors) {
  const int least = *std::min_element(fabric.leaf_nodes.begin(), fabric.leaf_nodes.end());
  if (least < 1) {
    errors->push_back(WrongNumber(key + "leaf_nodes", least, "at least 1 on each leaf"));
  }
  if (fabric.nodes_per_leaf != 0 || fabric.nodes_per_pod != 0) {
    errors->push_back(key + "leaf_nodes: got nodes per leaf or pod too, want only one of them");
  }
}

void CheckFabric(const FabricSpec& fabric, const std::string& key,
                 std::vector<std::string>* errors) {
  if (!IsUsableName(fabric.name)) {
    errors->push_back(key + "name: got \"" + fabric.name +
                      "\", want a name without '/' that opens with neither node nor domain");
  }
  if (fabric.kind == FabricKind::kSingleSwitch) {
    if (fabric.nodes_per_leaf != 0 || !fabric.leaf_nodes.empty() || fabric.nodes_per_pod != 0 ||
        !fabric.tiers.empty()) {
      errors->push_back(key + "kind: got a single switch with leaves, want no tiers or pods");
    }
    return;
  }
  if (!fabric.leaf_nodes.empty()) {
    CheckUneven(fabric, key, errors);
  } else if (fabric.nodes_per_leaf < 1) {
    errors->push_back(WrongNumber(key + "nodes_per_leaf", fabric.nodes_per_leaf, "at least 1"));
  } else if (fabric.nodes_per_pod < 0 || fabric.nodes_per_pod % fabric.nodes_per_leaf != 0) {
    errors->push_back(WrongNumber(
        key + "nodes_per_pod", fabric.nodes_per_pod,
        "a multiple of the " + std::to_string(fabric.nodes_per_leaf) + " nodes of a leaf"));
  }
  CheckTiers(fabric, key, errors);
}

void CheckJoins(const InterconnectSpec& spec, std::vector<std::string>* errors) {
  std::set<std::pair<int, int>> seen;
  const int count = static_cast<int>(spec.fabrics.size());
  for (size_t j = 0; j < spec.joins.size(); ++j) {
    const FabricJoin& join = spec.joins[j];
    const std::string key = "fabric_joins[" + std::to_string(j) + "].";
    if (join.from < 0 || join.from >= count || join.to < 0 || join.to >= count) {
      errors->push_back(key + "to: got no fabric of the cluster, want one");
    } else if (join.from == join.to) {
      errors->push_back(key + "to: got the same fabric as from, want another");
    } else if (!seen.insert(std::minmax(join.from, join.to)).second) {
      errors->push_back(key +
                        "to: got two fabrics that are joined already, want one join per pair");
    }
    if (HasNoBandwidth(join.there)) errors->push_back(key + "link: got no bandwidth, want > 0");
    if (HasNoBandwidth(join.back)) errors->push_back(key + "back: got no bandwidth, want > 0");
  }
}

}  // namespace

const char* Name(FabricKind kind) {
  switch (kind) {
    case FabricKind::kSingleSwitch:
      return "single switch";
    case FabricKind::kRailOptimised:
      return "rail-optimised";
    case FabricKind::kFatTree:
      return "fat tree";
  }
  return "";
}

bool IsSingleSwitch(const InterconnectSpec& spec) {
  return spec.fabrics.size() == 1 && spec.fabrics[0].kind == FabricKind::kSingleSwitch;
}

std::vector<std::string> FindErrors(const InterconnectSpec& spec) {
  std::vector<std::string> errors;
  const int count = static_cast<int>(spec.fabrics.size());
  if (count < 1 || count > kMaxFabrics) {
    errors.push_back(WrongNumber("fabrics", count, "from 1 to " + std::to_string(kMaxFabrics)));
  }
  std::set<std::string> names;
  for (size_t f = 0; f < spec.fabrics.size(); ++f) {
    const std::string key = "fabrics[" + std::to_string(f) + "].";
    CheckFabric(spec.fabrics[f], key, &errors);
    if (!names.insert(spec.fabrics[f].name).second) {
      errors.push_back(key + "name: got \"" + spec.fabrics[f].name +
                       "\" again, want a name that no other fabric has");
    }
  }
  CheckJoins(spec, &errors);
  return errors;
}

}  // namespace stagecraft
