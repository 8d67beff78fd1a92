#include "tools/validation/class_errors.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "costmodel/device_catalogue.h"
#include "costmodel/statistics.h"

namespace stagecraft {
namespace {

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

}  // namespace

const char* Name(WorkClass work) {
  constexpr const char* kNames[] = {"large models, 16 bits or fewer",
                                    "large models, 32 bits or mixed GPUs", "classics and old GPUs"};
  return kNames[static_cast<int>(work)];
}

WorkClass WorkOf(const MeasuredRow& row) {
  const bool is_mixed = row.gpu_id.find('+') != std::string::npos;
  if (!IsOneOf(row.model_kind, kLanguageModels) || (!is_mixed && IsOld(row.gpu_id))) {
    return WorkClass::kClassic;
  }
  const bool is_32_bit = row.dtype == "fp32" || row.dtype == "tf32";
  return is_mixed || is_32_bit ? WorkClass::kLarge32 : WorkClass::kLarge16;
}

std::optional<WorkClass> ClassOf(const MeasuredRow& row) {
  if (!IsOneOf(row.metric_kind, kTimes)) return std::nullopt;
  return WorkOf(row);
}

std::vector<ClassErrors> SummarizeClasses(std::span<const ValidatedRow> rows) {
  std::vector<ClassErrors> classes;
  for (const WorkClass work : {WorkClass::kLarge16, WorkClass::kLarge32, WorkClass::kClassic}) {
    std::vector<const ValidatedRow*> all;
    std::vector<std::pair<std::string, std::vector<const ValidatedRow*>>> parts;
    for (const ValidatedRow& row : rows) {
      if (!row.measured.is_primary || !row.prediction.value) continue;
      if (ClassOf(row.measured) != work) continue;
      auto part = std::find_if(parts.begin(), parts.end(), [&](const auto& known) {
        return known.first == row.measured.table;
      });
      if (part == parts.end()) part = parts.insert(part, {row.measured.table, {}});
      part->second.push_back(&row);
      all.push_back(&row);
    }
    if (parts.empty()) continue;
    ClassErrors& errors = classes.emplace_back();
    errors.work = work;
    std::vector<double> mapes;
    for (const auto& [source, part] : parts) {
      errors.sources.push_back({SummarizeRatios(part), source});
      mapes.push_back(errors.sources.back().mape);
    }
    errors.by_source = Mean(mapes);
    const RatioErrors together = SummarizeRatios(all);
    errors.by_rows = together.mape;
    errors.interval80_coverage = together.interval80_coverage;
  }
  return classes;
}

}  // namespace stagecraft
