#include "tools/flags/memory_margin.h"

#include <fmt/core.h>

#include <cmath>
#include <optional>
#include <string_view>

#include "costmodel/check.h"
#include "costmodel/device.h"
#include "costmodel/device_catalogue.h"
#include "costmodel/text.h"

namespace stagecraft {

Bytes MemoryMargin::CapacityOf(const StageMemory& stage, const Cluster& cluster) const {
  if (capacities.empty()) return stage.capacity;
  return capacities[cluster.device_group(stage.device)];
}

bool MemoryMargin::IsCrowded(const StageMemory& stage, const Cluster& cluster) const {
  StageMemory on_device = stage;
  on_device.capacity = CapacityOf(stage, cluster);
  return stage.fits() && on_device.IsCrowded();
}

std::string MemoryMargin::Text(const StageMemory& stage, const Cluster& cluster) const {
  if (percent == 0) return "";
  return fmt::format(", which is {:.2f} less a margin of {:g} %", CapacityOf(stage, cluster).gib(),
                     percent);
}

double ParseMemoryMargin(const std::string& text) {
  constexpr double kLeast = 0.5, kMost = 90;
  std::string_view number = Trimmed(text);
  if (number.ends_with('%')) number = Trimmed(number.substr(0, number.size() - 1));
  const std::optional<double> percent = ParseNumber<double>(number);
  if (percent && (*percent == 0 || (*percent >= kLeast && *percent <= kMost))) return *percent;
  throw InputError(fmt::format(
      "--memory-margin: got \"{}\", want per cent of the memory, such as 5: 0, or {:g} to {:g}",
      text, kLeast, kMost));
}

MemoryMargin TakeMemoryMargin(double percent, Cluster& cluster) {
  MemoryMargin margin{.percent = percent, .capacities = {}};
  for (const Cluster::NodeGroup& group : cluster.groups()) {
    margin.capacities.push_back(UsableMemory(group.type.device));
  }
  cluster = cluster.WithDevices([&](Device& device) {
    const auto usable = static_cast<double>(UsableMemory(device).count());
    device.memory = Bytes(static_cast<int64_t>(std::floor(usable * (1 - percent / 100))));
  });
  return margin;
}

}  // namespace stagecraft
