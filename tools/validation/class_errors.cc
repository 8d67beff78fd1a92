#include "tools/validation/class_errors.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string_view>

#include "costmodel/device_catalogue.h"
#include "costmodel/statistics.h"

namespace stagecraft {
namespace {

constexpr double kPercent = 100;
constexpr std::string_view kTimes[] = {"step_time",
                                       "layer_time",
                                       "samples_per_s",
                                       "samples_per_s_per_gpu",
                                       "tokens_per_s",
                                       "tokens_per_s_per_gpu",
                                       "tflops_per_gpu_hw",
                                       "tflops_per_gpu_model",
                                       "mfu",
                                       "hfu"};
constexpr std::string_view kLanguageModels[] = {"gpt", "llama", "nemotron", "internlm",
                                                "mpt", "opt",   "t5"};

template <size_t n>
bool IsOneOf(const std::string& name, const std::string_view (&names)[n]) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

bool IsOld(const std::string& gpu) {
  const DeviceEntry* entry = DeviceCatalogue::Embedded().Find(gpu);
  if (entry == nullptr) return false;
  const Generation generation = entry->device.generation;
  return generation == Generation::kKepler || generation == Generation::kPascal ||
         generation == Generation::kTuring;
}

// Rows of one source or class, as ratios of predicted to measured times.
struct Ratios {
  std::vector<double> ratios;
  int intervals = 0, held = 0;

  void Add(const ValidatedRow& row) {
    const double ratio = *row.prediction.value / row.measured.value;
    ratios.push_back(LessIsBetter(row.measured.metric_kind) ? ratio : 1 / ratio);
    if (const std::optional<bool> is_in = row.is_in_interval()) {
      ++intervals;
      held += *is_in ? 1 : 0;
    }
  }
  double Mape(double factor = 1) const {
    double sum = 0;
    for (const double ratio : ratios) sum += std::abs(factor * ratio - 1);
    return kPercent * sum / static_cast<double>(ratios.size());
  }
  std::optional<double> Coverage() const {
    if (intervals == 0) return std::nullopt;
    return kPercent * held / intervals;
  }
};

TimeErrors ErrorsOf(const std::string& source, const Ratios& part) {
  TimeErrors errors;
  errors.source = source;
  errors.rows = static_cast<int>(part.ratios.size());
  errors.mape = part.Mape();
  errors.bias = kPercent * (Mean(part.ratios) - 1);
  errors.mape_factored = part.Mape(1 / InterpolatedQuantile(part.ratios, 0.5));
  errors.interval80_coverage = part.Coverage();
  return errors;
}

}  // namespace

const char* Name(WorkClass work) {
  constexpr const char* kNames[] = {"large models, 16 bits or fewer",
                                    "large models, 32 bits or mixed GPUs", "classics and old GPUs"};
  return kNames[static_cast<int>(work)];
}

std::optional<WorkClass> ClassOf(const MeasuredRow& row) {
  if (!IsOneOf(row.metric_kind, kTimes)) return std::nullopt;
  const bool is_mixed = row.gpu_id.find('+') != std::string::npos;
  if (!IsOneOf(row.model_kind, kLanguageModels) || (!is_mixed && IsOld(row.gpu_id))) {
    return WorkClass::kClassic;
  }
  const bool is_32_bit = row.dtype == "fp32" || row.dtype == "tf32";
  return is_mixed || is_32_bit ? WorkClass::kLarge32 : WorkClass::kLarge16;
}

std::vector<ClassErrors> SummarizeClasses(std::span<const ValidatedRow> rows) {
  std::vector<ClassErrors> classes;
  for (const WorkClass work : {WorkClass::kLarge16, WorkClass::kLarge32, WorkClass::kClassic}) {
    Ratios all;
    std::vector<std::pair<std::string, Ratios>> parts;
    for (const ValidatedRow& row : rows) {
      if (!row.measured.is_primary || !row.prediction.value) continue;
      if (ClassOf(row.measured) != work) continue;
      auto part = std::find_if(parts.begin(), parts.end(), [&](const auto& known) {
        return known.first == row.measured.table;
      });
      if (part == parts.end()) part = parts.insert(part, {row.measured.table, Ratios()});
      part->second.Add(row);
      all.Add(row);
    }
    if (parts.empty()) continue;
    ClassErrors& errors = classes.emplace_back();
    errors.work = work;
    std::vector<double> mapes;
    for (const auto& [source, part] : parts) {
      errors.sources.push_back(ErrorsOf(source, part));
      mapes.push_back(errors.sources.back().mape);
    }
    errors.by_source = Mean(mapes);
    errors.by_rows = all.Mape();
    errors.interval80_coverage = all.Coverage();
  }
  return classes;
}

}  // namespace stagecraft
