#include "tools/flags/price_flag.h"

#include <fmt/core.h>

#include <cmath>
#include <map>
#include <optional>

#include "costmodel/check.h"
#include "costmodel/device_catalogue.h"
#include "costmodel/text.h"

namespace stagecraft {
namespace {

// Returns the id of a GPU type: `name` itself if the cluster has a GPU type of this id, otherwise
// that of the catalogue's entry, which may go by any of its names.
std::string DeviceId(const std::string& name, const Cluster& cluster) {
  for (const Cluster::NodeGroup& group : cluster.groups()) {
    if (group.type.device.id == name) return name;
  }
  return DeviceCatalogue::Embedded().Get(name, "--price").device.id;
}

}  // namespace

void PriceFlag::Register(Flags& flags) {
  flags.In(FlagTopic::kSearch)
      .Add("--price", prices_,
           {"<gpu=usd,...>",
            "US dollars for an hour of each GPU type of the cluster, such as h100-sxm=2.5.",
            "above 0", "no prices"})
      .SplitAtCommas()
      .Common();
}

std::vector<double> PriceFlag::Build(const Cluster& cluster) const {
  std::map<std::string, double> by_device;
  for (const std::string& text : prices_) {
    const size_t equals = text.find('=');
    std::optional<double> price;
    if (equals != std::string::npos) price = ParseNumber<double>(text.substr(equals + 1));
    if (!price || !std::isfinite(*price) || *price <= 0) {
      throw InputError(fmt::format("--price: got \"{}\", want GPU=USD_PER_HOUR above 0", text));
    }
    const std::string device = DeviceId(text.substr(0, equals), cluster);
    if (!by_device.emplace(device, *price).second) {
      throw InputError(fmt::format("--price: {} has two prices", device));
    }
  }
  std::vector<double> prices;
  if (by_device.empty()) return prices;
  for (const Cluster::NodeGroup& group : cluster.groups()) {
    const auto found = by_device.find(group.type.device.id);
    if (found == by_device.end()) {
      throw InputError(fmt::format(
          "--price: {} of the cluster has none; want a price for every GPU type or none",
          group.type.device.id));
    }
    prices.push_back(found->second);
  }
  return prices;
}

}  // namespace stagecraft
