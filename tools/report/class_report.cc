#include "tools/report/class_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "costmodel/check.h"

namespace stagecraft {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kPercent = 100;
constexpr const char* kUnknownPhase = "not known";

int DevicesOf(const Schedule& schedule) {
  int devices = 0;
  for (const RankInfo& rank : schedule.ranks()) devices += rank.multiplicity;
  return devices;
}

int JobSize(const TimelineRecord& record) {
  return record.kernels ? record.kernels->world_size : DevicesOf(record.schedule);
}

void RequireOpTimes(const TimelineFile& file, const TimelineFile& other) {
  if (file.record.kernels || !file.record.op_times.by_device.empty()) return;
  const bool is_whole =
      std::any_of(other.record.kernels->kernels.begin(), other.record.kernels->kernels.end(),
                  [](const TracedKernel& kernel) { return kernel.kind == KernelClass::kPass; });
  if (is_whole) return;
  throw InputError(file.path +
                   ": op_times: got none, want the times of ops, as simulate --timeline writes "
                   "them, beside kernels that a profiler recorded");
}

std::string Percent(const TimePair& time) {
  const std::optional<double> error = time.Error();
  return error ? fmt::format("{:+.1f}", kPercent * *error) : "-";
}

std::string Number(double count) {
  return count == static_cast<int64_t>(count) ? fmt::format("{}", static_cast<int64_t>(count))
                                              : fmt::format("{:.1f}", count);
}

std::vector<std::string> NotesOn(const ComparedClasses& compared) {
  const ClassComparison& c = compared.comparison;
  const KernelProfile* const profile =
      compared.measured.record.kernels ? &*compared.measured.record.kernels : nullptr;
  std::vector<std::string> notes = {
      "errors are (predicted - measured) / measured; times are of kernels and ops by themselves, "
      "for a mean device"};
  if (!c.is_of_same_ranks && c.measured_ranks < c.predicted_devices) {
    notes.push_back(fmt::format(
        "the prediction is the mean of all {} devices, as it does not tell the {} recorded apart: "
        "simulate --unfold does",
        c.predicted_devices,
        c.measured_ranks == 1 ? "rank that was"
                              : fmt::format("{} ranks that were", c.measured_ranks)));
  }
  if (profile == nullptr) return notes;
  bool waits = false, communicates = false;
  for (const TracedKernel& kernel : profile->kernels) {
    waits = waits || kernel.waits > Duration();
    communicates = communicates || IsCommunication(kernel.kind);
  }
  if (communicates && !waits) {
    notes.push_back(
        "the times of collectives contain their waiting for the slowest rank, which only "
        "the traces of several ranks tell apart");
  }
  if (c.predicted_micro_batches > 0 && c.measured_micro_batches == 0) {
    notes.push_back("no name in the trace tells micro-batches");
  }
  return notes;
}

Json PairToJson(const TimePair& time) {
  const std::optional<double> error = time.Error();
  return {{"predicted_ms", time.predicted.ms()},
          {"measured_ms", time.measured.ms()},
          {"difference_ms", time.Difference().ms()},
          {"error_percent", error ? Json(kPercent * *error) : Json()}};
}

Json FileToJson(const TimelineFile& file) {
  Json json = {{"path", file.path},
               {"fingerprint", fmt::format("{:016x}", file.record.timeline.Fingerprint())},
               {"executor", file.record.measurement ? Json(file.record.measurement->executor)
                                                    : Json("simulated")}};
  if (!file.record.measurement) return json;
  json["software"] = file.record.measurement->software;
  json["devices"] = file.record.measurement->devices;
  json["steps"] = std::max<size_t>(file.record.measurement->steps.size(), 1);
  return json;
}

void PrintPair(const std::string& what, const TimePair& time, const std::string& more,
               std::ostream& out) {
  out << fmt::format("{:<18}{:>14.3f}{:>14.3f}{:>12.3f}{:>9}{}\n", what, time.predicted.ms(),
                     time.measured.ms(), time.Difference().ms(), Percent(time), more);
}

void PrintLayers(const ClassComparison& c, std::ostream& out) {
  if (c.layers.empty()) return;
  const auto by_all = [](const LayerRow& a, const LayerRow& b) {
    return a.forward + a.backward < b.forward + b.backward;
  };
  const LayerRow& most = *std::max_element(c.layers.begin(), c.layers.end(), by_all);
  const LayerRow& least = *std::min_element(c.layers.begin(), c.layers.end(), by_all);
  out << fmt::format(
      "\n{} layers told apart, measured: {:.3f} ms (layer {}) to {:.3f} ms (layer {})\n",
      c.layers.size(), (least.forward + least.backward).ms(), least.layer,
      (most.forward + most.backward).ms(), most.layer);
}

void PrintNeverPredicted(const ClassComparison& c, int top, std::ostream& out) {
  if (c.never_predicted.empty()) return;
  Duration all;
  for (const NamedKernels& kernels : c.never_predicted) all += kernels.time;
  out << fmt::format("\nnever predicted: {:.3f} ms in kernels of {} names\n", all.ms(),
                     c.never_predicted.size());
  const size_t shown = std::min(c.never_predicted.size(), static_cast<size_t>(top));
  for (size_t i = 0; i < shown; ++i) {
    const NamedKernels& kernels = c.never_predicted[i];
    out << fmt::format("  {:>12.3f} ms{:>8}  {:<14} {}\n", kernels.time.ms(),
                       Number(kernels.kernels), Name(kernels.kind), kernels.name);
  }
  if (shown < c.never_predicted.size()) {
    out << fmt::format("  and {} more names\n", c.never_predicted.size() - shown);
  }
}

}  // namespace

ComparedClasses CompareByClass(TimelineFile predicted, TimelineFile measured) {
  const int of_predicted = JobSize(predicted.record), of_measured = JobSize(measured.record);
  if (of_predicted > 0 && of_measured > 0 && of_predicted != of_measured) {
    throw InputError(fmt::format("{}: got a job of {} ranks, want {}, the devices of {}",
                                 measured.path, of_measured, of_predicted, predicted.path));
  }
  for (const TimelineFile* file : {&predicted, &measured}) {
    if (!file->record.schedule.ranks().empty()) continue;
    throw InputError(file->path + ": schedule.ranks: got none, want at least one");
  }
  RequireOpTimes(predicted, measured);
  RequireOpTimes(measured, predicted);
  ComparedClasses compared = {std::move(predicted), std::move(measured), {}};
  compared.comparison = CompareClasses(compared.predicted.record, compared.measured.record);
  return compared;
}

Json ToJson(const ComparedClasses& compared, int top) {
  const ClassComparison& c = compared.comparison;
  Json classes = Json::array();
  for (const ClassRow& row : c.classes) {
    Json json = {{"class", Name(row.kind)},
                 {"predicted_ops", row.predicted_ops},
                 {"measured_kernels", row.measured_kernels}};
    json.update(PairToJson(row.time));
    json["measured_waits_ms"] = row.waits.ms();
    classes.push_back(std::move(json));
  }
  Json phases = Json::array();
  for (const PhaseRow& row : c.phases) {
    Json json = {{"phase", row.phase ? Json(Name(*row.phase)) : Json()}};
    json.update(PairToJson(row.time));
    phases.push_back(std::move(json));
  }
  Json layers = Json::array();
  for (const LayerRow& row : c.layers) {
    layers.push_back({{"layer", row.layer},
                      {"measured_forward_ms", row.forward.ms()},
                      {"measured_backward_ms", row.backward.ms()}});
  }
  Json never_predicted = Json::array();
  for (size_t i = 0; i < std::min(c.never_predicted.size(), static_cast<size_t>(top)); ++i) {
    const NamedKernels& kernels = c.never_predicted[i];
    never_predicted.push_back({{"kernel", kernels.name},
                               {"class", Name(kernels.kind)},
                               {"kernels", kernels.kernels},
                               {"measured_ms", kernels.time.ms()}});
  }
  Json never_ran = Json::array();
  for (const KernelClass kind : c.never_ran) never_ran.push_back(Name(kind));
  const auto count = [](int n) { return n > 0 ? Json(n) : Json(); };
  return {{"predicted", FileToJson(compared.predicted)},
          {"measured", FileToJson(compared.measured)},
          {"step", PairToJson(c.step)},
          {"idle", PairToJson(c.idle)},
          {"predicted_devices", c.predicted_devices},
          {"measured_ranks", c.measured_ranks},
          {"predicted_micro_batches", count(c.predicted_micro_batches)},
          {"measured_micro_batches", count(c.measured_micro_batches)},
          {"kernel_classes", std::move(classes)},
          {"phases", std::move(phases)},
          {"layers", std::move(layers)},
          {"never_predicted", std::move(never_predicted)},
          {"never_predicted_names", c.never_predicted.size()},
          {"never_ran", std::move(never_ran)},
          {"notes", NotesOn(compared)}};
}

void PrintClassComparison(const ComparedClasses& compared, int top, std::ostream& out) {
  const ClassComparison& c = compared.comparison;
  out << fmt::format("{:<18}{:>14}{:>14}{:>12}{:>9}\n", "", "predicted ms", "measured ms",
                     "difference", "error %");
  PrintPair("step", c.step, "", out);
  PrintPair("nothing runs", c.idle, "", out);
  out << fmt::format("\n{:<18}{:>14}{:>14}{:>12}{:>9}{:>10}{:>10}{:>12}\n", "class", "predicted ms",
                     "measured ms", "difference", "error %", "ops", "kernels", "waiting ms");
  for (const ClassRow& row : c.classes) {
    const std::string waits =
        row.waits > Duration() ? fmt::format("{:>12.3f}", row.waits.ms()) : "";
    PrintPair(Name(row.kind), row.time,
              fmt::format("{:>10}{:>10}{}", Number(row.predicted_ops), Number(row.measured_kernels),
                          waits),
              out);
  }
  out << fmt::format("\n{:<18}{:>14}{:>14}{:>12}{:>9}\n", "phase", "predicted ms", "measured ms",
                     "difference", "error %");
  for (const PhaseRow& row : c.phases) {
    PrintPair(row.phase ? Name(*row.phase) : kUnknownPhase, row.time, "", out);
  }
  PrintLayers(c, out);
  if (c.measured_micro_batches > 0) {
    out << fmt::format("\nmicro-batches: {} predicted, {} told apart in the trace\n",
                       c.predicted_micro_batches, c.measured_micro_batches);
  }
  PrintNeverPredicted(c, top, out);
  if (!c.never_ran.empty()) {
    std::vector<std::string> names;
    for (const KernelClass kind : c.never_ran) names.emplace_back(Name(kind));
    out << fmt::format("\npredicted, but never ran: {}\n", fmt::join(names, ", "));
  }
  out << '\n';
  for (const std::string& note : NotesOn(compared)) out << "note: " << note << '\n';
}

}  // namespace stagecraft
