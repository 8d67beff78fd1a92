#include "tools/train/shown_run.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "costmodel/check.h"
#include "costmodel/json_to_proto.h"
#include "proto/history.pb.h"
#include "search/training/plan_division.h"
#include "sim/job/history_output.h"

namespace stagecraft {
namespace {

using Json = nlohmann::ordered_json;

RunMark::Kind MarkKindFrom(const std::string& name, const std::string& place) {
  for (int kind = 0; kind < kRunMarkKinds; ++kind) {
    if (name == Name(static_cast<RunMark::Kind>(kind))) return static_cast<RunMark::Kind>(kind);
  }
  throw InputError(fmt::format("{}: marks: got \"{}\", want a kind of mark", place, name));
}

RunMarks MarksFrom(const Json& answer, const std::string& place) {
  RunMarks marks;
  for (const Json& mark : answer.at("marks")) {
    marks.marks.push_back({Duration::Nanoseconds(mark.at("at_ns").get<int64_t>()),
                           MarkKindFrom(mark.at("kind").get<std::string>(), place),
                           mark.at("text").get<std::string>()});
  }
  marks.checkpoints_not_marked = answer.at("checkpoints_not_marked").get<int64_t>();
  return marks;
}

History HistoryFrom(const Json& history, const std::string& place) {
  HistoryProto proto;
  JsonToProto(nlohmann::json(history), place + ": history", &proto);
  return HistoryFromProto(proto, place + ": history");
}

ShownRun RunFrom(const Json& answer, const std::string& place) {
  ShownRun run{.workload = answer.at("workload").get<std::string>(),
               .cluster = answer.at("cluster").get<std::string>(),
               .steps = answer.at("steps").get<int64_t>(),
               .history = HistoryFrom(answer.at("history"), place),
               .states = {},
               .marks = MarksFrom(answer, place)};
  for (const Json& state : answer.at("states")) {
    run.states.push_back(
        {.step = state.at("step").get<int64_t>(),
         .change = state.at("change").get<std::string>(),
         .layers = state.at("stage_layers").get<std::vector<int>>(),
         .step_time = Duration::Nanoseconds(state.at("step_time_ns").get<int64_t>()),
         .idle_share = state.at("bubble_fraction").get<double>(),
         .decision = state.at("decision").get<std::string>()});
  }
  return run;
}

}  // namespace

ShownRun ShownRunOf(const PlannedJob& job, const TrainRequest& request, const TrainAnswer& answer) {
  ShownRun run{
      .workload = job.workload.name,
      .cluster = job.cluster.name(),
      .steps = request.steps,
      .history = *answer.history,
      .states = {},
      .marks = MarksOf(*answer.history, answer.states, request.conditions.events, job.cluster)};
  for (const TrainedState& state : answer.states) {
    run.states.push_back({.step = state.step,
                          .change = state.change,
                          .layers = DivisionOf(state.plan),
                          .step_time = state.evaluation.step_time,
                          .idle_share = state.evaluation.profile.bubble_fraction,
                          .decision = state.decision});
  }
  return run;
}

ShownRun ShownRunFromJson(const Json& answer, const std::string& place) {
  if (answer.contains("runs")) {
    throw InputError(place + ": got what train printed of several runs, want that of one");
  }
  try {
    return RunFrom(answer, place);
  } catch (const Json::exception& error) {
    throw InputError(fmt::format("{}: is not what train prints as JSON ({})", place, error.what()));
  }
}

Json MarksToJson(const RunMarks& marks) {
  Json json = {{"marks", Json::array()}};
  for (const RunMark& mark : marks.marks) {
    json["marks"].push_back(
        {{"at_ns", mark.at.ns()}, {"kind", Name(mark.kind)}, {"text", mark.text}});
  }
  json["checkpoints_not_marked"] = marks.checkpoints_not_marked;
  return json;
}

}  // namespace stagecraft
