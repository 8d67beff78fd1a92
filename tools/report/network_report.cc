#include "tools/report/network_report.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <ostream>
#include <tuple>
#include <utility>
#include <vector>

#include "costmodel/units.h"
#include "tools/report/link_kinds.h"
#include "tools/verb/text_table.h"

namespace stagecraft {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMostLinkNames = 64;  // of a communicator, in JSON
constexpr size_t kMostLinksShown = 8;  // in text

// The links that carried anything, in the order in which NetworkToJson() lists them.
std::vector<int> BusyLinks(const SimulatedStep& step) {
  std::vector<int> links;
  for (size_t link = 0; link < step.link_use.size(); ++link) {
    if (step.link_use[link].bytes > 0) links.push_back(static_cast<int>(link));
  }
  std::stable_sort(links.begin(), links.end(), [&](int a, int b) {
    const LinkUse& x = step.link_use[a];
    const LinkUse& y = step.link_use[b];
    return std::tie(x.full, x.busy, x.bytes) > std::tie(y.full, y.busy, y.bytes);
  });
  return links;
}

// Returns the bandwidth that a slow link (--slow) has left.
Bandwidth BandwidthOf(const Cluster& cluster, int link) {
  return cluster.link_rate(link) * cluster.link(link).bandwidth;
}

// What the link carried, as a share of what it could have carried in the step.
double Utilisation(const SimulatedStep& step, const Cluster& cluster, int link) {
  const double seconds = step.evaluation.step_time.seconds();
  return step.link_use[link].bytes / (BandwidthOf(cluster, link).bytes_per_s() * seconds);
}

Json MethodToJson(const CommunicatorUse& use) {
  if (use.method.channels == 0) return nullptr;
  return {{"algorithm", Name(use.method.algorithm)},
          {"protocol", Name(use.method.protocol)},
          {"channels", use.method.channels}};
}

Json LinkToJson(const SimulatedStep& step, const Cluster& cluster, int link) {
  const LinkUse& use = step.link_use[link];
  return {{"link", cluster.LinkName(link)},
          {"bandwidth_bytes_per_s", BandwidthOf(cluster, link).bytes_per_s()},
          {"bytes", use.bytes},
          {"utilisation", Utilisation(step, cluster, link)},
          {"busy_ms", use.busy.ms()},
          {"saturated_ms", use.full.ms()}};
}

// The name of the link with the least bandwidth, "node0/nic0 -> fabric".
std::string BottleneckText(const std::vector<int>& links, const Cluster& cluster) {
  if (links.empty()) return "none";
  const int narrowest = *std::min_element(links.begin(), links.end(), [&](int a, int b) {
    return BandwidthOf(cluster, a) < BandwidthOf(cluster, b);
  });
  return cluster.LinkName(narrowest);
}

// The changes that set a link to the rate that it already has, in order of time.
std::vector<LinkChange> ChangesOfNothing(const NetworkOptions& network) {
  std::vector<LinkChange> changes = network.changes;
  std::stable_sort(changes.begin(), changes.end(),
                   [](const LinkChange& a, const LinkChange& b) { return a.time < b.time; });
  std::map<int, double> rates;
  std::vector<LinkChange> idle;
  for (const LinkChange& change : changes) {
    double& rate = rates.try_emplace(change.link, 1.0).first->second;
    if (rate == change.rate) idle.push_back(change);
    rate = change.rate;
  }
  return idle;
}

// Everything that is reported: between tasks by phase, then inside passes.
std::vector<CommunicatorUse> AllUses(const SimulatedStep& step) {
  std::vector<CommunicatorUse> uses = FindCommunicators(step);
  for (CommunicatorUse& use : FindInnerCommunication(step)) uses.push_back(std::move(use));
  return uses;
}

std::string NameOf(const CommunicatorUse& use) {
  return use.group != nullptr ? use.group : Name(use.phase);
}

}  // namespace

std::string LikeUses::What() const { return NameOf(first); }

std::string LikeUses::Stages() const {
  if (first.stage < 0) return "all";
  if (last_stage == first.stage) return fmt::format("{}", first.stage);
  return fmt::format("{} to {}", first.stage, last_stage);
}

std::vector<LikeUses> MergeStages(const std::vector<CommunicatorUse>& uses) {
  std::vector<LikeUses> merged;
  for (const CommunicatorUse& use : uses) {
    const auto goes_on = [&](const LikeUses& like) {
      return NameOf(like.first) == NameOf(use) && like.first.kind == use.kind &&
             like.first.method == use.method && like.first.fabric.ranks == use.fabric.ranks &&
             like.first.fabric.nodes == use.fabric.nodes && like.last_stage >= 0 &&
             use.stage == like.last_stage + 1;
    };
    auto like = std::find_if(merged.begin(), merged.end(), goes_on);
    if (like == merged.end()) like = merged.insert(like, {use, -1, {}});
    like->last_stage = use.stage;
    like->most = std::max(like->most, use.bytes);
  }
  return merged;
}

std::vector<std::string> NetworkWarnings(const SimulatedStep& step, const Cluster& cluster,
                                         const NetworkOptions& network) {
  std::vector<std::string> warnings;
  if (network.fidelity != NetworkFidelity::kFlow) return warnings;
  if (BusyLinks(step).empty()) {
    warnings.push_back(
        "--network flow changes nothing: no transfer of this plan is simulated as flows (there is "
        "one rank, the switch multicasts, or all communication is inside passes)");
  }
  for (const LinkChange& change : network.changes) {
    const std::string name = cluster.LinkName(change.link);
    if (step.link_use[change.link].bytes == 0) {
      warnings.push_back(
          fmt::format("--link-rate of {} changes nothing: no message crosses it", name));
    } else if (change.time >= step.evaluation.step_time) {
      warnings.push_back(
          fmt::format("--link-rate of {} changes nothing: the step ends at {:.3f} ms", name,
                      step.evaluation.step_time.ms()));
    }
  }
  for (const LinkChange& change : ChangesOfNothing(network)) {
    warnings.push_back(
        fmt::format("--link-rate of {} changes nothing: at {:.3f} ms its rate is {:g} already",
                    cluster.LinkName(change.link), change.time.ms(), change.rate));
  }
  return warnings;
}

Json NetworkToJson(const SimulatedStep& step, const Cluster& cluster) {
  Json communicators = Json::array(), links = Json::array();
  // A stage reduces gradients and gathers parameters in the same groups.
  std::map<std::pair<std::vector<int32_t>, bool>, std::vector<int>> known;
  for (const CommunicatorUse& use : AllUses(step)) {
    const auto [path, is_new] = known.try_emplace({use.first_group, use.IsMessage()});
    if (is_new) path->second = LinksOf(use, cluster);
    const std::vector<int>& crossed = path->second;
    Json names = Json::array();
    for (size_t i = 0; i < std::min(crossed.size(), kMostLinkNames); ++i) {
      names.push_back(cluster.LinkName(crossed[i]));
    }
    communicators.push_back({{"phase", NameOf(use)},
                             {"stage", use.stage < 0 ? Json(nullptr) : Json(use.stage)},
                             {"op", Name(use.kind)},
                             {"ranks", use.fabric.ranks},
                             {"nodes", use.fabric.nodes},
                             {"groups", use.groups},
                             {"tasks", use.tasks},
                             {"bytes", use.bytes.count()},
                             {"method", MethodToJson(use)},
                             {"links", std::move(names)},
                             {"link_count", crossed.size()},
                             {"link_kinds", LinkKindsToJson(cluster, crossed)}});
  }
  for (const int link : BusyLinks(step)) links.push_back(LinkToJson(step, cluster, link));
  return {{"communicators", std::move(communicators)}, {"links", std::move(links)}};
}

void PrintNetwork(const SimulatedStep& step, const Cluster& cluster, std::ostream& out) {
  const std::vector<LikeUses> uses = MergeStages(AllUses(step));
  if (uses.empty()) return;
  out << "\ncommunication by phase: bytes of all groups; method and path of the first group\n";
  TextTable table({"phase", "stages", "op", "algorithm", "protocol", "bottleneck link",
                   "links on the path", "channels", "ranks", "nodes", "total GB per stage"},
                  6);
  for (const LikeUses& like : uses) {
    const CommunicatorUse& use = like.first;
    const std::vector<int> links = LinksOf(use, cluster);
    table.Add({like.What(), like.Stages(), Name(use.kind), Name(use.method.algorithm),
               Name(use.method.protocol), BottleneckText(links, cluster),
               LinkKindsText(cluster, links), fmt::format("{}", use.method.channels),
               fmt::format("{}", use.fabric.ranks), fmt::format("{}", use.fabric.nodes),
               fmt::format("{:.3f}", static_cast<double>(like.most.count()) * 1e-9)});
  }
  table.Print(out);
  const std::vector<int> links = BusyLinks(step);
  if (links.empty()) return;
  out << "\nlinks, most saturated first\n";
  TextTable carried(
      {"link", "bandwidth GB/s", "carried GB", "utilisation %", "busy ms", "saturated ms"}, 1);
  for (size_t i = 0; i < std::min(links.size(), kMostLinksShown); ++i) {
    const LinkUse& use = step.link_use[links[i]];
    carried.Add({cluster.LinkName(links[i]),
                 fmt::format("{:.1f}", BandwidthOf(cluster, links[i]).bytes_per_s() * 1e-9),
                 fmt::format("{:.3f}", use.bytes * 1e-9),
                 fmt::format("{:.1f}", 100 * Utilisation(step, cluster, links[i])),
                 fmt::format("{:.2f}", use.busy.ms()), fmt::format("{:.2f}", use.full.ms())});
  }
  carried.Print(out);
  if (links.size() > kMostLinksShown) {
    out << fmt::format("  and {} more links\n", links.size() - kMostLinksShown);
  }
}

}  // namespace stagecraft
