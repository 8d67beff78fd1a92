#include "sim/cluster/topology/pcie_tree.h"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "costmodel/check.h"
#include "sim/cluster/topology/wrong_number.h"

namespace stagecraft {
namespace {

constexpr double kUnlimited = std::numeric_limits<double>::infinity();
constexpr int kMaxSwitches = 1024;

void CheckPlaces(const char* key, const std::vector<int>& places, int wanted, int limit,
                 std::vector<std::string>* errors) {
  if (std::ssize(places) != wanted) {
    errors->push_back(WrongNumber(key, static_cast<int>(places.size()),
                                  std::to_string(wanted) + " entries, one for each"));
  }
  for (const int place : places) {
    if (place >= 0 && place < limit) continue;
    errors->push_back(WrongNumber(key, place, "from 0 to " + std::to_string(limit - 1)));
    return;
  }
}

// Returns 0 for the same switch, 1 for the same root complex, 2 for another one.
int Distance(const PcieTree& tree, int a, int b) {
  if (a == b) return 0;
  return tree.switch_root[a] == tree.switch_root[b] ? 1 : 2;
}

// Returns the share that a ring has of a link if `inside` of its `all` ranks are on one side, where
// there are `total` devices; the ring crosses the link only if some ranks are on the other side.
double Share(const Link& link, int inside, int all, int total) {
  if (inside == 0 || inside == all) return kUnlimited;
  return link.bandwidth.bytes_per_s() * inside / total;
}

}  // namespace

std::vector<int> SpreadEvenly(int count, int places) {
  CHECK(places > 0);
  std::vector<int> spread(count);
  for (int i = 0; i < count; ++i) spread[i] = static_cast<int>(int64_t{i} * places / count);
  return spread;
}

std::vector<std::string> FindErrors(const PcieTree& tree, int devices, int nics) {
  std::vector<std::string> errors;
  if (tree.empty()) return errors;
  if (tree.switches() > kMaxSwitches) {
    errors.push_back(
        WrongNumber("switches", tree.switches(), std::to_string(kMaxSwitches) + " at most"));
  }
  if (tree.roots < 1 || tree.roots > tree.switches()) {
    errors.push_back(WrongNumber("roots", tree.roots, "from 1 to the number of switches"));
    return errors;
  }
  CheckPlaces("switch_root", tree.switch_root, tree.switches(), tree.roots, &errors);
  CheckPlaces("device_switch", tree.device_switch, devices, tree.switches(), &errors);
  CheckPlaces("nic_switch", tree.nic_switch, nics, tree.switches(), &errors);
  if (std::ssize(tree.uplinks) != tree.switches()) {
    errors.push_back(WrongNumber("uplinks", static_cast<int>(tree.uplinks.size()),
                                 std::to_string(tree.switches()) + " entries, one for each"));
  }
  for (size_t i = 0; i < tree.uplinks.size(); ++i) {
    if (tree.uplinks[i].bandwidth.bytes_per_s() > 0) continue;
    errors.push_back("uplinks[" + std::to_string(i) + "]: got no bandwidth, want > 0");
  }
  if (tree.roots > 1 && !(tree.root_link.bandwidth.bytes_per_s() > 0)) {
    errors.push_back("root_link: got no bandwidth, want > 0 between root complexes");
  }
  return errors;
}

std::vector<int> NearestInterfaces(const PcieTree& tree, std::span<const int> nic_switch) {
  std::vector<int> load(nic_switch.size());
  std::vector<int> nearest;
  for (const int at : tree.device_switch) {
    const auto cost = [&](size_t nic) {
      return std::tuple(Distance(tree, at, nic_switch[nic]), load[nic], nic);
    };
    size_t best = 0;
    for (size_t nic = 1; nic < nic_switch.size(); ++nic) {
      if (cost(nic) < cost(best)) best = nic;
    }
    ++load[best];
    nearest.push_back(static_cast<int>(best));
  }
  return nearest;
}

Bandwidth RingShare(const PcieTree& tree, std::span<const int> devices) {
  std::map<int, int> by_switch, by_root, all_by_switch, all_by_root;
  for (const int device : devices) {
    ++by_switch[tree.device_switch[device]];
    ++by_root[tree.switch_root[tree.device_switch[device]]];
  }
  for (const int at : tree.device_switch) {
    ++all_by_switch[at];
    ++all_by_root[tree.switch_root[at]];
  }
  const int all = static_cast<int>(devices.size());
  double least = kUnlimited;
  for (const auto& [at, inside] : by_switch) {
    least = std::min(least, Share(tree.uplinks[at], inside, all, all_by_switch[at]));
  }
  for (const auto& [root, inside] : by_root) {
    least = std::min(least, Share(tree.root_link, inside, all, all_by_root[root]));
  }
  return Bandwidth(least);
}

Bandwidth LeavingShare(const PcieTree& tree, std::span<const int> device_nic,
                       std::span<const int> nic_switch, Bandwidth port) {
  // How many devices use the link up from a switch, the link down to one, and the one from root to
  // root.
  std::map<int, int> up, down;
  std::map<std::pair<int, int>, int> across;
  const auto visit = [&](size_t device, auto&& use) {
    const int from = tree.device_switch[device];
    const int to = nic_switch[device_nic[device]];
    if (from == to) return;
    const int from_root = tree.switch_root[from];
    const int to_root = tree.switch_root[to];
    use(up[from], tree.uplinks[from]);
    use(down[to], tree.uplinks[to]);
    if (from_root != to_root) use(across[{from_root, to_root}], tree.root_link);
  };
  for (size_t device = 0; device < device_nic.size(); ++device) {
    visit(device, [](int& users, const Link&) { ++users; });
  }
  double sum = 0;
  for (size_t device = 0; device < device_nic.size(); ++device) {
    double least = port.bytes_per_s();
    visit(device, [&](const int& users, const Link& link) {
      least = std::min(least, link.bandwidth.bytes_per_s() / users);
    });
    sum += least;
  }
  return Bandwidth(sum);
}

}  // namespace stagecraft
