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

// "8x1,8x2": so many devices of a speed, with commas between.
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
                    "kinds of devices, or one for all",
                    bytes.size(), kinds.size()));
  }
  for (size_t kind = 0; kind < kinds.size(); ++kind) {
    kinds[kind].memory = Bytes(std::llround(bytes[bytes.size() == 1 ? 0 : kind]));
  }
}

std::string FirstGiven(const std::vector<CLI::Option*>& options) {
  for (const CLI::Option* option : options) {
    if (option->count() > 0) return option->get_name();
  }
  return "";
}

}  // namespace

void StageSearchFlags::Register(CLI::App& app) {
  app.add_flag("--compare-algorithms", compares_,
               "instead of --algorithm: all that search for stages, beside each other");
  budget_option_ = app.add_option(
      "--budget", budget_,
      "of each search: 10s, 5000evals or both [5000evals]; of training alone: the same [none]; of "
      "all others: 10s [none]");
  search_options_ = {
      app.add_option("--device-speeds", device_speeds_,
                     "unlike devices: COUNTxSPEED against the timed one, such as 8x1,8x2"),
      app.add_option("--device-memory", device_memory_, "bytes of a device, by kind"),
      app.add_option("--report", page_, "an .html page with the curves")};
  RegisterPolicy(app);
}

void StageSearchFlags::RegisterPolicy(CLI::App& app) {
  width_option_ =
      app.add_option("--policy-width", width_, fmt::format("of its layers [{}]", kPolicyWidth))
          ->check(CLI::Range(1, 1024));
  policy_options_ = {
      app.add_option("--policy", policy_,
                     "a saved one to start from; for hetpipe whose GPUs make a virtual worker: "
                     "np, ed or hd"),
      app.add_option("--save-policy", save_policy_, "where to write what was learned"),
      app.add_flag("--policy-directed", is_directed_, "the policy tells producers from consumers"),
      width_option_,
      app.add_option("--train-graphs", training_graphs_,
                     "graphs to learn on before the search, with commas between")
          ->delimiter(','),
      app.add_option("--train-devices", training_devices_,
                     "sets of devices to learn on, as --device-speeds, with / between [the same]"),
      app.add_option("--train-rounds", rounds_, "batches of plans of each problem [10]")
          ->check(CLI::Range(1, 100000))};
}

std::string StageSearchFlags::FlagOfSearches() const { return FirstGiven(search_options_); }
std::string StageSearchFlags::FlagOfPolicies() const { return FirstGiven(policy_options_); }

Budget StageSearchFlags::SecondsOf(const std::string& method) const {
  if (budget_option_->count() == 0) return {};
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
  if (budget_option_->count() > 0) request.budget = ParseBudget(budget_);
  PolicyRequest& policy = request.policy;
  policy.file = policy_;
  policy.is_directed = is_directed_;
  policy.rounds = rounds_;
  policy.save = save_policy_;
  if (width_option_->count() > 0) policy.width = width_;
  if (learns) policy.training_devices = TrainingDevices(request);
  if (!page_.empty()) CheckOutputPath("--report", page_, {".html"});
}

}  // namespace stagecraft
