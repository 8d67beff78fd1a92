#include "sim/engine/sparse_products.h"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "costmodel/device.h"
#include "costmodel/op.h"
#include "costmodel/sparse_product.h"

namespace stagecraft {
namespace {

bool HasChoice(const Op& op) {
  return op.kind == OpKind::kSparse && op.product == SparseProduct::kFaster;
}

std::vector<Device> DevicesOf(const Schedule& schedule, const Cluster& cluster) {
  std::vector<Device> devices;
  for (const RankInfo& rank : schedule.ranks()) {
    const Device& device = cluster.device(rank.device);
    if (std::find(devices.begin(), devices.end(), device) == devices.end()) {
      devices.push_back(device);
    }
  }
  return devices;
}

}  // namespace

Schedule WithFasterProducts(Schedule schedule, const Cluster& cluster, const CostModel& model) {
  const std::span<const Op> given = schedule.distinct_ops();
  if (std::none_of(given.begin(), given.end(), HasChoice)) return schedule;
  const std::vector<Device> devices = DevicesOf(schedule, cluster);
  std::vector<Op> ops(given.begin(), given.end());
  for (Op& op : ops) {
    if (HasChoice(op)) op.product = FasterProduct(op, devices, model);
  }
  return schedule.WithOps(std::move(ops));
}

SparseProducts CountSparseProducts(const Schedule& schedule) {
  SparseProducts products;
  for (const Op& op : schedule.distinct_ops()) {
    if (op.kind != OpKind::kSparse) continue;
    ++(op.product == SparseProduct::kExpanded ? products.expanded : products.from_entries);
  }
  return products;
}

}  // namespace stagecraft
