#include "tools/flags/cost_flags.h"

#include <fmt/core.h>

#include <cmath>
#include <map>
#include <optional>

#include "costmodel/check.h"
#include "costmodel/device_catalogue.h"
#include "costmodel/text.h"

namespace stagecraft {
namespace {

constexpr double kMostTokens = 1e18;
constexpr double kMostPue = 10;

// Returns the id of a GPU type: `name` itself if the cluster has a GPU type of this id, otherwise
// that of the catalogue's entry, which may go by any of its names.
std::string DeviceId(const std::string& name, const Cluster& cluster) {
  for (const Cluster::NodeGroup& group : cluster.groups()) {
    if (group.type.device.id == name) return name;
  }
  return DeviceCatalogue::Embedded().Get(name, "--price").device.id;
}

}  // namespace

void CostFlags::Register(Flags& flags, bool is_common) {
  FlagGroup group = flags.In(FlagTopic::kCost);
  Flag tokens = group.Add("--tokens", tokens_,
                          {"<n>",
                           "Say how many days, GPU-hours and MWh a training run of this many "
                           "tokens takes (samples, if they have no tokens), such as 1T, and with "
                           "--price how many dollars.",
                           "above 0, at most 1e18", "none"});
  tokens.Between(0.0, kMostTokens);
  group
      .Add("--price", prices_,
           {"<gpu=usd,...>",
            "US dollars for an hour of each GPU type, such as h100-sxm=2.5, or of "
            "every GPU, such as 2.5. It may name GPU types that the cluster lacks.",
            "above 0", "no prices"})
      .SplitAtCommas();
  if (is_common) tokens.Common();
  energy_flag_ = group
                     .Add("--energy-price", energy_price_,
                          {"<usd>", "With --tokens: US dollars for a kWh of electricity.",
                           "above 0, at most 1000", "not counted"})
                     .Between(0.0, 1000.0);
  pue_flag_ = group
                  .Add("--pue", pue_,
                       {"<x>",
                        "With --tokens: what the data centre draws for each watt of a GPU (power "
                        "usage effectiveness).",
                        "", "1.1"})
                  .Between(1.0, kMostPue);
  tokens_flag_ = tokens;
}

std::vector<double> CostFlags::Prices(const Cluster& cluster) const {
  std::map<std::string, double> by_device;
  std::optional<double> of_all;
  for (const std::string& text : prices_) {
    const size_t equals = text.find('=');
    const size_t number = equals == std::string::npos ? 0 : equals + 1;
    const std::optional<double> price = ParseNumber<double>(text.substr(number));
    if (!price || !std::isfinite(*price) || *price <= 0) {
      throw InputError(fmt::format("--price: got \"{}\", want GPU=USD_PER_HOUR above 0", text));
    }
    if (equals == std::string::npos) {
      if (prices_.size() > 1) {
        throw InputError(fmt::format(
            "--price: got \"{}\", which is for every GPU, beside other prices, want one or the "
            "other",
            text));
      }
      of_all = price;
      continue;
    }
    const std::string device = DeviceId(text.substr(0, equals), cluster);
    if (!by_device.emplace(device, *price).second) {
      throw InputError(fmt::format("--price: {} has two prices", device));
    }
  }
  std::vector<double> prices;
  if (of_all) prices.assign(cluster.groups().size(), *of_all);
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

CostQuestion CostFlags::Build(const Cluster& cluster, bool has_run) const {
  for (const Flag& flag : {energy_flag_, pue_flag_}) {
    if (!flag.is_given() || tokens_flag_.is_given() || has_run) continue;
    throw InputError(fmt::format("{}: got it without --tokens, want both or none", flag.name()));
  }
  if (tokens_flag_.is_given() && !(tokens_ > 0)) {
    throw InputError(fmt::format("--tokens: got {}, want more than 0", tokens_flag_.text()));
  }
  if (energy_price_ && !(*energy_price_ > 0)) {
    throw InputError(fmt::format("--energy-price: got {}, want more than 0", *energy_price_));
  }
  return {.rates = {.usd_per_gpu_hour = Prices(cluster), .pue = pue_, .usd_per_kwh = energy_price_},
          .tokens = tokens_};
}

}  // namespace stagecraft
