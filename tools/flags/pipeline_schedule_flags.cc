#include "tools/flags/pipeline_schedule_flags.h"

#include <fmt/format.h>

#include <utility>

#include "costmodel/check.h"
#include "costmodel/nearest.h"
#include "costmodel/proto_file.h"
#include "sim/pipeline/pytorch_csv.h"
#include "sim/pipeline/vocabulary_placement.h"
#include "sim/workload/limits.h"

namespace stagecraft {
namespace {

// The schedules that --schedule can name; a custom one comes from a file.
Args PipelineScheduleNames() {
  std::vector<std::string> names;
  for (const PipelineSchedule pipeline_schedule : NamedPipelineSchedules())
    names.push_back(Name(pipeline_schedule));
  return names;
}

std::string SchedulesThatRead(PipelineScheduleOption option) {
  std::vector<std::string> names;
  for (const PipelineSchedule pipeline_schedule : NamedPipelineSchedules()) {
    if (Reads(pipeline_schedule, option)) names.push_back(Name(pipeline_schedule));
  }
  return fmt::format("{}", fmt::join(names, " or "));
}

PipelineSchedule ChooseSchedule(const std::string& value) {
  if (const auto pipeline_schedule = FindPipelineSchedule(value)) return *pipeline_schedule;
  const Args names = PipelineScheduleNames();
  throw InputError(fmt::format("--schedule: got \"{}\", want one of {}{}", value,
                               fmt::join(names, ", "), DidYouMean(value, names)));
}

}  // namespace

std::vector<Flag> PipelineScheduleFlags::Register(Flags& flags, int& chunks) {
  FlagGroup schedule = flags.In(FlagTopic::kSchedule);
  schedule_option_ = schedule
                         .Add("--schedule", schedule_,
                              {"<name>", "Pipeline schedule: which pass every stage runs next.", "",
                               "1f1b, or interleaved with --vpp"})
                         .Suggest(PipelineScheduleNames())
                         .Common();
  const Flag vpp =
      schedule
          .Add("--vpp", chunks,
               {"<n>", "Chunks of the network that every stage holds (virtual stages).",
                "1 or more", "1"})
          .AtLeast(1);
  const Flag file =
      schedule.Add("--order-file", file_,
                   {"<file.csv>",
                    "Read the passes of every stage from a schedule CSV of PyTorch's pipelining, "
                    "in place of --schedule."});
  RegisterOptions(schedule);
  return {schedule_option_,
          vpp,
          file,
          group_option_,
          warmup_option_,
          limit_option_,
          slots_option_,
          vertical_option_,
          search_option_,
          pairing_option_};
}

// The flags that only one or two schedules read.
void PipelineScheduleFlags::RegisterOptions(FlagGroup schedule) {
  group_option_ = schedule.Add("--order-group", options_.groups.size,
                               {"<n>",
                                "With interleaved: how many micro-batches a stage runs through one "
                                "chunk before it goes on to the next chunk.",
                                "at least the number of stages", "the number of stages"});
  warmup_option_ =
      schedule
          .Add(
              "--warmup", warmup_,
              {"<policy>",
               "With 1f1b: DAPPLE's policy for the number of micro-batches that a stage has in "
               "flight: the number of stages from it to the last (a), or twice that minus one (b).",
               "", "a"})
          .Suggest({"a", "b"});
  limit_option_ =
      schedule.Add("--activation-limit", options_.activation_limit,
                   {"<x>",
                    "With zb-auto or list: the most saved activations that a stage may hold, in "
                    "multiples of what the first stage of 1f1b holds.",
                    fmt::format("above 0 to {}; list: 0 for no limit", kMostActivationLimit), "1"});
  slots_option_ =
      schedule.Add("--two-forwards-slot", two_forwards_,
                   {"", "With chimera: run two forwards beside every backward, in place of one."});
  vertical_option_ = schedule.Add("--vertical-sync", vertical_sync_,
                                  {"",
                                   "With pipedream: a micro-batch uses the same version of the "
                                   "weights in all stages, in place of the newest of each stage."});
  search_option_ = schedule.Add("--published-search", published_search_,
                                {"",
                                 "With zb-auto: search only what the zero-bubble authors' own "
                                 "scheduler searches, in place of a wider search."});
  pairing_option_ = schedule.Add(
      "--overlap-experts", overlaps_experts_,
      {"",
       "With 1f1b or interleaved: forwards run beside backwards, whose computation hides their "
       "exchanges of tokens between experts, and the other way round. For this they run one pass "
       "further ahead, and about twice as far with 1f1b. DualPipe always does."});
}

void PipelineScheduleFlags::Apply(PlanDegrees& degrees) const {
  degrees.schedule = ForChunks(ChooseSchedule(schedule_), degrees.chunks);
  if (!file_.empty()) ApplyFile(degrees);
  CheckUse(degrees.schedule);
  const VocabularyPlacement vocabulary = degrees.schedule_options.vocabulary;
  degrees.schedule_options = options_;
  degrees.schedule_options.vocabulary = vocabulary;
  if (warmup_ != "a" && warmup_ != "b") {
    throw InputError(fmt::format("--warmup: got \"{}\", want a or b", warmup_));
  }
  if (warmup_ == "b") degrees.schedule_options.warmup = WarmupPolicy::kB;
  degrees.schedule_options.pairs_passes = overlaps_experts_;
  if (two_forwards_) degrees.schedule_options.slots = ChimeraSlots::kTwoForwards;
  if (vertical_sync_) degrees.schedule_options.weight_sync = WeightSync::kVertical;
  if (published_search_) degrees.schedule_options.search = ZeroBubbleSearch::kPublished;
  CheckNumbers(degrees);
}

// Refuses flags that the schedule does not read.
void PipelineScheduleFlags::CheckUse(PipelineSchedule pipeline_schedule) const {
  const std::pair<Flag, PipelineScheduleOption> uses[] = {
      {group_option_, kReadsGroups},          {warmup_option_, kReadsWarmup},
      {limit_option_, kReadsActivationLimit}, {slots_option_, kReadsSlots},
      {vertical_option_, kReadsWeightSync},   {search_option_, kReadsSearch},
      {pairing_option_, kReadsPairing},
  };
  for (const auto& [flag, read] : uses) {
    if (!flag.is_given() || Reads(pipeline_schedule, read)) continue;
    throw InputError(fmt::format("{}: changes nothing with schedule {}, want it with {}",
                                 flag.name(), Name(pipeline_schedule), SchedulesThatRead(read)));
  }
}

void PipelineScheduleFlags::CheckNumbers(const PlanDegrees& degrees) const {
  const double limit = options_.activation_limit;
  const bool may_be_zero = Reads(degrees.schedule, kReadsNoActivationLimit);
  if (!(limit > 0 || (limit == 0 && may_be_zero)) || limit > kMostActivationLimit) {
    throw InputError(fmt::format("--activation-limit: got {}, want more than 0, at most {}", limit,
                                 kMostActivationLimit));
  }
  const int group = options_.groups.size;
  if (group_option_.is_given() && group < degrees.pipeline) {
    throw InputError(
        fmt::format("--order-group: got {}, want at least the {} stages", group, degrees.pipeline));
  }
}

void PipelineScheduleFlags::ApplyFile(PlanDegrees& degrees) const {
  if (schedule_option_.is_given()) {
    throw InputError("--order-file: cannot be given together with --schedule");
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
  degrees.schedule = PipelineSchedule::kCustom;
  degrees.chunks = map.chunks();
  degrees.placement = map.placement();
  degrees.orders = std::move(schedule.orders);
}

}  // namespace stagecraft
