#include "tools/flags/order_flags.h"

#include <fmt/format.h>

#include <utility>

#include "costmodel/check.h"
#include "costmodel/proto_file.h"
#include "sim/pipeline/pytorch_csv.h"
#include "sim/workload/limits.h"

namespace stagecraft {
namespace {

// All that go by a name; a custom one comes from a file.
std::string OrderNames() {
  std::vector<std::string> names;
  for (const PipelineOrder order : NamedOrders()) names.push_back(Name(order));
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string OrdersThatRead(OrderOption option) {
  std::vector<std::string> names;
  for (const PipelineOrder order : NamedOrders()) {
    if (Reads(order, option)) names.push_back(Name(order));
  }
  return fmt::format("{}", fmt::join(names, " or "));
}

PipelineOrder ChooseOrder(const std::string& value) {
  if (const auto order = FindPipelineOrder(value)) return *order;
  throw InputError(fmt::format("--schedule: got \"{}\", want one of {}", value, OrderNames()));
}

}  // namespace

std::vector<CLI::Option*> OrderFlags::Register(CLI::App& app) {
  schedule_option_ =
      app.add_option("--schedule", schedule_, OrderNames() + " [1f1b; interleaved with --vpp]");
  CLI::Option* const file =
      app.add_option("--order-file", file_, "the passes of every stage, as PyTorch's schedule CSV");
  group_option_ =
      app.add_option("--order-group", options_.groups.size,
                     "interleaved: micro-batches that go through a chunk together [the stages]");
  warmup_option_ =
      app.add_option("--warmup", warmup_, "1f1b: forwards ahead by DAPPLE's policy a or b [a]");
  limit_option_ = app.add_option("--activation-limit", options_.activation_limit,
                                 "zb-auto, list: saved activations over what 1f1b's first stage "
                                 "holds; list: 0 for no limit [1]");
  slots_option_ =
      app.add_flag("--two-forwards-slot", two_forwards_, "chimera: two forwards to every backward");
  vertical_option_ =
      app.add_flag("--vertical-sync", vertical_sync_,
                   "pipedream: all stages use what the first one's weights held [each its newest]");
  search_option_ =
      app.add_flag("--published-search", published_search_,
                   "zb-auto: the best of what its authors' scheduler tries [wider rules too]");
  return {schedule_option_, file,          group_option_,    warmup_option_,
          limit_option_,    slots_option_, vertical_option_, search_option_};
}

void OrderFlags::Apply(PlanDegrees& degrees) const {
  degrees.order = ForChunks(ChooseOrder(schedule_), degrees.chunks);
  if (!file_.empty()) ApplyFile(degrees);
  CheckUse(degrees.order);
  degrees.order_options = options_;
  if (warmup_ != "a" && warmup_ != "b") {
    throw InputError(fmt::format("--warmup: got \"{}\", want a or b", warmup_));
  }
  if (warmup_ == "b") degrees.order_options.warmup = WarmupPolicy::kB;
  if (two_forwards_) degrees.order_options.slots = ChimeraSlots::kTwoForwards;
  if (vertical_sync_) degrees.order_options.weight_sync = WeightSync::kVertical;
  if (published_search_) degrees.order_options.search = ZeroBubbleSearch::kPublished;
  CheckNumbers(degrees);
}

// A flag of one order says nothing to others.
void OrderFlags::CheckUse(PipelineOrder order) const {
  const std::pair<const CLI::Option*, OrderOption> uses[] = {
      {group_option_, kReadsGroups},          {warmup_option_, kReadsWarmup},
      {limit_option_, kReadsActivationLimit}, {slots_option_, kReadsSlots},
      {vertical_option_, kReadsWeightSync},   {search_option_, kReadsSearch},
  };
  for (const auto& [option, read] : uses) {
    if (!IsGiven(option) || Reads(order, read)) continue;
    throw InputError(fmt::format("{}: changes nothing with order {}, want it with {}",
                                 option->get_name(), Name(order), OrdersThatRead(read)));
  }
}

void OrderFlags::CheckNumbers(const PlanDegrees& degrees) const {
  const double limit = options_.activation_limit;
  const bool may_be_zero = Reads(degrees.order, kReadsNoActivationLimit);
  if (!(limit > 0 || (limit == 0 && may_be_zero)) || limit > kMostActivationLimit) {
    throw InputError(fmt::format("--activation-limit: got {}, want more than 0, at most {}", limit,
                                 kMostActivationLimit));
  }
  const int group = options_.groups.size;
  if (IsGiven(group_option_) && group < degrees.pipeline) {
    throw InputError(
        fmt::format("--order-group: got {}, want at least the {} stages", group, degrees.pipeline));
  }
}

void OrderFlags::ApplyFile(PlanDegrees& degrees) const {
  if (IsGiven(schedule_option_)) {
    throw InputError("--order-file: cannot be given beside --schedule");
  }
  PytorchSchedule schedule = ReadPytorchCsv(ReadFile(file_), file_);
  const ChunkMap& map = schedule.map;
  if (map.stages() != degrees.pipeline) {
    throw InputError(fmt::format("{}: got {} rank{} with passes, want --pp {}", file_, map.stages(),
                                 map.stages() == 1 ? "" : "s", degrees.pipeline));
  }
  if (degrees.chunks > 1 && degrees.chunks != map.chunks()) {
    throw InputError(fmt::format("{}: has {} stages on a rank, want --vpp {}", file_, map.chunks(),
                                 degrees.chunks));
  }
  degrees.order = PipelineOrder::kCustom;
  degrees.chunks = map.chunks();
  degrees.placement = map.placement();
  degrees.orders = std::move(schedule.orders);
}

}  // namespace stagecraft
