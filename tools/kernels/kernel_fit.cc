#include "tools/kernels/kernel_fit.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "costmodel/calibration_evidence.h"
#include "costmodel/check.h"
#include "costmodel/device_catalogue.h"
#include "costmodel/learned/kernel_families.h"
#include "costmodel/learned/splits.h"
#include "costmodel/learned/training_rows.h"
#include "costmodel/proto_file.h"
#include "data/embedded.h"
#include "proto/cost_model.pb.h"
#include "tools/kernels/kernel_evidence.h"
#include "tools/kernels/sample_warnings.h"

namespace stagecraft {
namespace {

// Returns where samples come from: base names of files, and numbers of rows by source. It has no
// folders and dates, so that the same samples give the same bytes everywhere.
std::string Origin(const SampleInput& input) {
  Args files;
  for (const std::string& file : input.files) {
    files.push_back(std::filesystem::path(file).filename().string());
  }
  std::map<std::string, int> by_source;
  for (const Sample& sample : input.samples) ++by_source[sample.source];
  Args sources;
  for (const auto& [source, rows] : by_source) {
    sources.push_back(fmt::format("{} by {}", rows, source.empty() ? "unnamed" : source));
  }
  return ValidText(fmt::format("{} (rows: {})", fmt::join(files, ", "), fmt::join(sources, ", ")));
}

Args WarningsOf(const std::map<std::string, CalibrationEvidence>& evidence, LearnedBy learned_by) {
  Args warnings;
  for (const auto& [op, found] : evidence) {
    const std::string warning = found.Warning(op, learned_by);
    if (!warning.empty()) warnings.push_back(warning);
  }
  return warnings;
}

FitSummary Summarise(SampleInput input, const LearnedModel& model) {
  FitSummary summary;
  summary.input = std::move(input);
  const std::vector<std::vector<FitRow>> families =
      MakeTrainingRows(summary.input.samples, model.overhead());
  summary.skipped = CountSkipped(summary.input.samples);
  summary.of_no_use = static_cast<int>(summary.input.samples.size());
  for (const auto& [what, rows] : summary.skipped) summary.of_no_use -= rows;
  for (size_t f = 0; f < families.size(); ++f) {
    std::map<std::string, int> by_gpu;
    for (const FitRow& row : families[f]) ++by_gpu[row.device->id];
    for (const auto& [gpu, rows] : by_gpu) {
      summary.rows.push_back({KernelFamilies()[f]->name(), gpu, rows});
      summary.of_no_use -= rows;
    }
  }
  return summary;
}

KernelFit FitTo(const KernelFitFlags& flags, ProgressLine& progress) {
  SampleInput input = ReadSampleInput("--samples", flags.samples, flags.cluster);
  KernelFit fitted;
  const LearnedModel model = LearnedModel::Fit(input.samples, progress.Reporter());
  fitted.model = std::make_unique<LearnedModel>(model.WithMeasured(input.samples));
  fitted.fit = Summarise(std::move(input), *fitted.model);
  FitSummary& summary = *fitted.fit;
  const SkippedRows& skipped = summary.skipped;
  if (summary.rows.empty() && skipped.empty()) {
    throw InputError("--samples: nothing is left to fit to: no row is of a modelled kernel");
  }
  if (summary.rows.empty()) {
    const auto& [gpu, reason] = skipped.begin()->first;
    throw InputError(fmt::format("--samples: nothing is left to fit to: {} {}", gpu, reason));
  }
  fitted.provenance =
      fmt::format("stagecraft {} fit --samples {}", kToolVersion, Origin(summary.input));
  summary.evidence = FitEvidenceByOp(summary.input.samples);
  summary.warnings = WarningsOf(summary.evidence, LearnedBy::kFit);
  for (std::string& warning : SampleWarnings("samples", summary.input.samples)) {
    summary.warnings.push_back(std::move(warning));
  }
  return fitted;
}

// The model with which --calibrate begins.
KernelFit ReadBase(const KernelFitFlags& flags) {
  CostModelProto proto;
  KernelFit base;
  if (flags.cost_model.empty()) {
    const std::string_view bytes = EmbeddedCostModel();
    CHECK(proto.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())));
    base.model = std::make_unique<LearnedModel>(LearnedModel::Shipped());
  } else {
    ReadProtoFile(flags.cost_model, &proto);
    base.model = std::make_unique<LearnedModel>(LearnedModel::FromProto(proto, flags.cost_model));
  }
  base.provenance = proto.provenance();
  if (base.provenance.empty()) {
    base.provenance = flags.cost_model.empty()
                          ? "the shipped model"
                          : ValidText(std::filesystem::path(flags.cost_model).filename().string());
  }
  return base;
}

// Returns mean errors and numbers of rows, by op.
std::map<std::string, std::pair<double, int>> ErrorsByOp(const LearnedModel& model,
                                                         std::span<const Sample> samples) {
  const std::vector<double> of_sample = KernelErrors(model, samples);
  std::map<std::string, std::pair<double, int>> errors;
  for (size_t i = 0; i < samples.size(); ++i) {
    if (std::isnan(of_sample[i])) continue;
    auto& [sum, rows] = errors[OpLabel(samples[i])];
    sum += of_sample[i];
    ++rows;
  }
  for (auto& [op, error] : errors) error.first /= error.second;
  return errors;
}

// The id of the one GPU type to which all samples belong.
std::string GpuOf(const std::string& path, std::span<const Sample> samples) {
  std::string gpu;
  for (const Sample& sample : samples) {
    const std::string place = "--calibrate: " + path + ": gpu";
    const std::string& id = sample.device != nullptr
                                ? sample.device->id
                                : DeviceCatalogue::Embedded().Get(sample.gpu, place).device.id;
    if (gpu.empty()) gpu = id;
    if (id == gpu) continue;
    throw InputError(fmt::format("--calibrate: {}: got samples of {} and {}, want those of one GPU",
                                 path, gpu, id));
  }
  return gpu;
}

CalibrationSummary CalibrateOn(const KernelFitFlags& flags, KernelFit& fitted) {
  const std::string& path = flags.calibrate;
  CalibrationSummary calibration;
  calibration.input = ReadSampleInput("--calibrate", {path}, flags.cluster);
  const std::vector<Sample>& samples = calibration.input.samples;
  calibration.gpu = GpuOf(path, samples);
  const LearnedModel base = fitted.model->WithoutMeasured();
  const auto before = ErrorsByOp(base, samples);
  CalibratedModel calibrated = fitted.model->Calibrated(samples);
  if (calibrated.rows > 0) calibration.evidence = CalibrationEvidenceByOp(base, samples);
  calibration.warnings = WarningsOf(calibration.evidence, LearnedBy::kCalibration);
  for (std::string& warning : SampleWarnings("calibration", samples)) {
    calibration.warnings.push_back(std::move(warning));
  }
  const auto after = ErrorsByOp(calibrated.model.WithoutMeasured(), samples);
  fitted.model = std::make_unique<LearnedModel>(calibrated.model.WithMeasured(samples));
  for (const auto& [op, error] : before) {
    calibration.errors.push_back({op, error.second, error.first, after.at(op).first});
  }
  calibration.changes = std::move(calibrated.changes);
  calibration.of_no_use = static_cast<int>(samples.size()) - calibrated.rows;
  if (calibration.changes.empty()) {
    throw InputError(
        fmt::format("--calibrate: {}: no row is of a modelled kernel, want at least one", path));
  }
  fitted.provenance =
      fmt::format("stagecraft {} fit --calibrate {} on {}; before that {}", kToolVersion,
                  Origin(calibration.input), calibration.gpu, fitted.provenance);
  return calibration;
}

}  // namespace

KernelFit FitKernels(const KernelFitFlags& flags, ProgressLine& progress) {
  KernelFit fitted = flags.samples.empty() ? ReadBase(flags) : FitTo(flags, progress);
  if (!flags.calibrate.empty()) fitted.calibration = CalibrateOn(flags, fitted);
  return fitted;
}

}  // namespace stagecraft
