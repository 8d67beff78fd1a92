#include "tools/partition/stage_search_flags.h"

#include <fmt/core.h>

#include <cmath>
#include <string_view>

#include "costmodel/check.h"
#include "costmodel/text.h"
#include "tools/flags/sample_flags.h"
#include "tools/flags/search_flags.h"
#include "tools/partition/stage_problem_input.h"
#include "tools/verb/number_list.h"

namespace stagecraft {
namespace {

constexpr int64_t kDefaultEvaluations = 5000;
constexpr double kMostMemory = 1e15;

// Parses numbers of devices with their speeds, separated by commas: "8x1,8x2".
std::vector<StageDeviceKind> ParseDevices(const std::string& flag, const std::string& text) {
  constexpr double kLeastSpeed = 1e-6, kMostSpeed = 1e6;
  std::vector<StageDeviceKind> kinds;
  int devices = 0;
  for (const std::string_view part : SplitAt(text, ',')) {
    const std::vector<std::string_view> numbers = SplitAt(part, 'x');
    StageDeviceKind kind;
    kind.count = ParseNumber<int>(numbers.front()).value_or(0);
    kind.speed = ParseNumber<double>(numbers.back()).value_or(0);
    const bool is_good = numbers.size() == 2 && kind.count >= 1 &&
                         kind.count <= kMostStageDevices && kind.speed >= kLeastSpeed &&
                         kind.speed <= kMostSpeed;
    devices += is_good ? kind.count : 0;
    if (!is_good || devices > kMostStageDevices) {
      throw InputError(fmt::format(
          "{}: got '{}', want COUNTxSPEED with commas between, such as 8x1,8x2, speeds of {:g} to "
          "{:g} and at most {} devices",
          flag, text, kLeastSpeed, kMostSpeed, kMostStageDevices));
    }
    kinds.push_back(kind);
  }
  return kinds;
}

void SetMemory(const std::vector<double>& bytes, std::vector<StageDeviceKind>& kinds) {
  if (bytes.empty()) return;
  if (bytes.size() != kinds.size() && bytes.size() != 1) {
    throw InputError(
        fmt::format("--device-memory: got {} numbers, want one for each of the {} "
                    "device types, or one for all",
                    bytes.size(), kinds.size()));
  }
  for (size_t kind = 0; kind < kinds.size(); ++kind) {
    kinds[kind].memory = Bytes(std::llround(bytes[bytes.size() == 1 ? 0 : kind]));
  }
}

std::string FirstGiven(const std::vector<Flag>& flags) {
  for (const Flag& flag : flags) {
    if (flag.is_given()) return flag.name();
  }
  return "";
}

}  // namespace

void StageSearchFlags::Register(Flags& flags) {
  FlagGroup search = flags.In(FlagTopic::kSearch);
  search
      .Add("--compare-algorithms", compares_,
           {"",
            "In place of --algorithm: run all algorithms that search for stages, with the same "
            "budget each, and compare what they find."})
      .Common();
  budget_option_ =
      search
          .Add("--budget", budget_,
               {"<budget>",
                "End each search after a time (10s), a number of evaluated partitions (5000evals) "
                "or whichever comes first (10s,5000evals). Training without a search takes the "
                "same; all other planners take only a time.",
                "", "5000evals for searches, none for others"})
          .Common();
  search_options_ = {
      flags.In(FlagTopic::kCluster)
          .Add("--device-speeds", device_speeds_,
               {"<nxspeed,...>",
                "For unequal devices: how many of each speed, relative to the timed device, such "
                "as 8x1,8x2.",
                "speeds of 1e-6 to 1e6"})
          .Common(),
      flags.In(FlagTopic::kCluster)
          .Add("--device-memory", device_memory_,
               {"<bytes,...>",
                "With --device-speeds: bytes of memory of a device, for each speed or one for all.",
                "1 to 1e15", "no limit"}),
      flags.In(FlagTopic::kOutput)
          .Add("--report", page_,
               {"<file.html>", "Write a page with the curves of the searches."})};
  RegisterPolicy(flags);
}

void StageSearchFlags::RegisterPolicy(Flags& flags) {
  FlagGroup group = flags.In(FlagTopic::kPolicy);
  const Flag policy =
      group.Add("--policy", policy_,
                {"<file|name>",
                 "A saved policy to start from. For hetpipe: which GPUs form a virtual worker: "
                 "those of a node (np), one of each node (ed) or slow ones with fast ones (hd).",
                 "", "untrained, or for hetpipe the best of the three"});
  const Flag save =
      group.Add("--save-policy", save_policy_, {"<file>", "Write what was learned to a file."});
  const Flag graphs = group
                          .Add("--train-graphs", training_graphs_,
                               {"<file,...>", "Graphs to learn on before the search."})
                          .SplitAtCommas();
  const Flag devices =
      group.Add("--train-devices", training_devices_,
                {"<set/...>",
                 "Sets of devices to learn on, each as for --device-speeds, such as 4x1,4x2/6x1.",
                 "", "the devices of the search"});
  const Flag rounds =
      group
          .Add(
              "--train-rounds", rounds_,
              {"<n>", "How many batches of plans to learn from, for each graph and set of devices.",
               "", "10"})
          .Between(1, 100000);
  width_option_ =
      group
          .Add("--policy-width", width_,
               {"<n>", "Width of the policy's layers.", "", std::to_string(kPolicyWidth)})
          .Between(1, 1024);
  const Flag directed = group.Add(
      "--policy-directed", is_directed_,
      {"", "The policy sees which of two connected operators produces what the other consumes."});
  policy_options_ = {policy, save, directed, width_option_, graphs, devices, rounds};
}

std::string StageSearchFlags::FlagOfSearches() const { return FirstGiven(search_options_); }
std::string StageSearchFlags::FlagOfPolicies() const { return FirstGiven(policy_options_); }

Budget StageSearchFlags::SecondsOf(const std::string& method) const {
  if (!budget_option_.is_given()) return {};
  const Budget budget = ParseBudget(budget_);
  if (budget.evaluations == 0) return budget;
  throw InputError(
      fmt::format("--budget: {} counts no evaluations, want a time such as 10s", method));
}

std::vector<StageDeviceKind> StageSearchFlags::Devices(const PartitionRequest& request) const {
  if (device_speeds_.empty()) {
    if (!device_memory_.empty()) {
      throw InputError("--device-memory: got it without --device-speeds, want --memory instead");
    }
    return {};
  }
  if (!request.machines.empty() || request.devices) {
    throw InputError(fmt::format("--device-speeds: got it with {}, want one of them",
                                 request.devices ? "--devices" : "--machines"));
  }
  if (request.memory_bytes && !device_memory_.empty()) {
    throw InputError("--device-memory: got it with --memory, want one of them");
  }
  std::vector<StageDeviceKind> kinds = ParseDevices("--device-speeds", device_speeds_);
  SetMemory(ParseNumbers("--device-memory", device_memory_, 1.0, kMostMemory), kinds);
  if (request.memory_bytes) SetMemory({*request.memory_bytes}, kinds);
  return kinds;
}

std::vector<std::vector<StageDeviceKind>> StageSearchFlags::TrainingDevices(
    const PartitionRequest& request) const {
  if (training_devices_.empty()) return {MakeStageDevices(request)};
  std::vector<std::vector<StageDeviceKind>> sets;
  for (const std::string_view set : SplitAt(training_devices_, '/')) {
    sets.push_back(ParseDevices("--train-devices", std::string(set)));
  }
  return sets;
}

void StageSearchFlags::Apply(bool learns, PartitionRequest& request) const {
  request.device_kinds = Devices(request);
  const bool searches = compares_ || !request.algorithm.empty();
  if (searches) request.budget.evaluations = kDefaultEvaluations;
  if (budget_option_.is_given()) request.budget = ParseBudget(budget_);
  PolicyRequest& policy = request.policy;
  policy.file = policy_;
  policy.is_directed = is_directed_;
  policy.rounds = rounds_;
  policy.save = save_policy_;
  if (width_option_.is_given()) policy.width = width_;
  if (learns) policy.training_devices = TrainingDevices(request);
  if (!page_.empty()) CheckOutputPath("--report", page_, {".html"});
}

}  // namespace stagecraft
