#include "tools/report/explanation.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "sim/analysis/task_waits.h"
#include "tools/report/op_estimates_report.h"
#include "tools/report/path_runs.h"

namespace stagecraft {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kBusyParts = 5;
constexpr size_t kMostWaits = 64;

std::vector<TimePart> PartsOf(const RankTime& time) {
  std::vector<TimePart> parts = {{"compute", time.compute},
                                 {"tp", time.tensor},
                                 {"cp", time.context},
                                 {"ep", time.expert},
                                 {"optimizer", time.optimizer}};
  for (int cause = 0; cause < kIdleCauseCount; ++cause) {
    parts.push_back({Name(static_cast<IdleCause>(cause)), time.idle[cause]});
  }
  return parts;
}

Json PartsToJson(const std::vector<TimePart>& parts) {
  Json json;
  for (const TimePart& part : parts) json[JsonKey(part.name)] = part.time.ms();
  return json;
}

// [first, last]; null if they are -1, which means that the field does not apply.
Json RangeToJson(int first, int last) { return first < 0 ? Json(nullptr) : Json{first, last}; }

Json RunsToJson(const Explanation& explanation) {
  Json runs = Json::array();
  for (const PathRun& run : FindRuns(explanation.step.schedule, explanation.path)) {
    runs.push_back({{"what", run.Description()},
                    {"from_ms", run.from.ms()},
                    {"to_ms", run.to.ms()},
                    {"starts_after", Name(run.reason)},
                    {"phase", Name(run.phase)},
                    {"stages", RangeToJson(run.first_stage, run.last_stage)},
                    {"chunks", RangeToJson(run.first_chunk, run.last_chunk)},
                    {"micro_batches", RangeToJson(run.first_micro_batch, run.last_micro_batch)},
                    {"segments", run.segments},
                    {"transfers_ms", run.transfers.ms()},
                    {"launch_ms", run.launches.ms()},
                    {"link_sharing_ms", run.sharing.ms()}});
  }
  return runs;
}

Json WaitsToJson(const Explanation& explanation) {
  Json waits = Json::array();
  for (const Wait& wait : explanation.bubble.waits) {
    if (waits.size() == kMostWaits) break;
    waits.push_back({{"stage", wait.stage},
                     {"cause", Name(wait.cause)},
                     {"for_phase", Name(wait.for_phase)},
                     {"for_stage", wait.for_stage < 0 ? Json() : Json(wait.for_stage)},
                     {"time_ms", wait.time.ms()}});
  }
  return waits;
}

Json StagesToJson(const Explanation& explanation) {
  Json stages = Json::array();
  const int count = static_cast<int>(explanation.job.plan.stages.size());
  for (int stage = 0; stage < count; ++stage) {
    stages.push_back(
        {{"stage", stage}, {"device_time_ms", PartsToJson(DeviceParts(explanation, stage))}});
  }
  return stages;
}

Json MechanismsToJson(const Explanation& explanation) {
  Json mechanisms = Json::array();
  const double step = explanation.step.evaluation.step_time.seconds();
  for (const MechanismTime& time : explanation.mechanisms) {
    mechanisms.push_back({{"name", Name(time.mechanism)},
                          {"meaning", Meaning(time.mechanism)},
                          {"time_ms", time.saved.ms()},
                          {"share", step > 0 ? time.saved.seconds() / step : 0}});
  }
  return mechanisms;
}

}  // namespace

Explanation Explain(PlannedJob job, SimulatedStep step) {
  const TaskWaits waits(step.schedule, step.timeline, &step.costs);
  std::vector<PathSegment> path = FindCriticalPath(step.timeline, waits);
  Bubble bubble = FindBubble(step.schedule, step.timeline, waits, &step.costs);
  return {"", "", std::move(job), std::move(step), std::move(path), std::move(bubble)};
}

std::vector<TimePart> PathParts(const Explanation& explanation) {
  const SimulatedStep& step = explanation.step;
  const PathTime time = TimeByPart(step.schedule, explanation.path, &step.costs);
  std::vector<TimePart> parts;
  for (int part = 0; part < kPathPartCount; ++part) {
    parts.push_back({Name(static_cast<PathPart>(part)), time[part]});
  }
  return parts;
}

std::vector<TimePart> DeviceParts(const Explanation& explanation, int stage) {
  std::vector<TimePart> mean = PartsOf(RankTime());
  int64_t devices = 0;
  for (const RankTime& time : explanation.bubble.ranks) {
    const RankInfo& rank = explanation.step.schedule.ranks()[time.rank];
    if (stage >= 0 && rank.stage != stage) continue;
    const std::vector<TimePart> parts = PartsOf(time);
    for (size_t i = 0; i < parts.size(); ++i) mean[i].time += rank.multiplicity * parts[i].time;
    devices += rank.multiplicity;
  }
  for (TimePart& part : mean) {
    part.time = Duration::Nanoseconds(part.time.ns() / std::max<int64_t>(devices, 1));
  }
  return mean;
}

bool IsBusyPart(size_t part) { return part < kBusyParts; }

const StageMemory& TightestStage(const Explanation& explanation) {
  const std::vector<StageMemory>& memory = explanation.step.evaluation.memory;
  return *std::max_element(memory.begin(), memory.end(),
                           [](const StageMemory& a, const StageMemory& b) {
                             return a.Peak() - a.capacity < b.Peak() - b.capacity;
                           });
}

std::string JsonKey(const std::string& name) {
  std::string key = name;
  std::replace_if(
      key.begin(), key.end(), [](char c) { return c == ' ' || c == '-'; }, '_');
  return key;
}

nlohmann::ordered_json ToJson(const Explanation& explanation) {
  Json json = {{"label", explanation.label}, {"cost_model", explanation.cost_model}};
  const Json step = StepToJson(explanation.job, explanation.step, {});
  for (const char* key :
       {"model", "cluster", "gpus", "step_time_ms", "breakdown_ms", "communication_ms",
        "bubble_fraction", "critical_rank", "peak_memory_gib", "memory", "fits", "cost", "plan",
        "placement", "warnings", "tasks", "fingerprint"}) {
    json[key] = step[key];
  }
  json["critical_path_ms"] = PartsToJson(PathParts(explanation));
  json["critical_path"] = RunsToJson(explanation);
  json["critical_path_segments"] = explanation.path.size();
  json["device_time_ms"] = PartsToJson(DeviceParts(explanation));
  json["stages"] = StagesToJson(explanation);
  json["waits"] = WaitsToJson(explanation);
  json["mechanisms"] = MechanismsToJson(explanation);
  json["ops"] = OpEstimatesToJson(explanation.step);
  return json;
}

}  // namespace stagecraft
