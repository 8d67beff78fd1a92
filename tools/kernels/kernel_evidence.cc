#include "tools/kernels/kernel_evidence.h"

#include <cmath>
#include <functional>
#include <limits>

#include "costmodel/learned/experiment.h"
#include "costmodel/learned/splits.h"
#include "costmodel/op.h"

namespace stagecraft {
namespace {

using Samples = std::vector<Sample>;

std::map<std::string, CalibrationEvidence> EvidenceByOp(
    const LearnedModel& base, std::span<const Sample> samples,
    const std::function<LearnedModel(const Samples&)>& learn) {
  LeftOutRows rows;
  for (const Sample& sample : samples) {
    rows.keys.push_back(Describe(sample.op));
    rows.labels.push_back(OpLabel(sample));
  }
  rows.without = KernelErrors(base, samples);
  const auto chosen = [&](const std::vector<size_t>& indices) {
    Samples some;
    for (const size_t i : indices) some.push_back(samples[i]);
    return some;
  };
  return WeighLeftOutRows(
      rows, [&](const std::vector<size_t>& kept, const std::vector<size_t>& left_out) {
        return KernelErrors(learn(chosen(kept)), chosen(left_out));
      });
}

}  // namespace

std::vector<double> KernelErrors(const LearnedModel& model, std::span<const Sample> samples) {
  ExperimentOptions options;
  options.models = {ModelKind::kShipped};
  options.shipped = &model;
  const Experiment experiment = RunExperiment(samples, options);
  std::vector<double> errors(samples.size(), std::numeric_limits<double>::quiet_NaN());
  for (const SamplePrediction& p : experiment.predictions.at(ModelKind::kShipped)) {
    errors[p.sample] = std::abs(std::log(p.seconds / samples[p.sample].time.seconds()));
  }
  return errors;
}

std::map<std::string, CalibrationEvidence> CalibrationEvidenceByOp(
    const LearnedModel& base, std::span<const Sample> samples) {
  return EvidenceByOp(base, samples,
                      [&](const Samples& kept) { return base.Calibrated(kept).model; });
}

std::map<std::string, CalibrationEvidence> FitEvidenceByOp(std::span<const Sample> samples) {
  if (samples.size() > kMostFewSamples) return {};
  return EvidenceByOp(LearnedModel::Shipped(), samples,
                      [](const Samples& kept) { return LearnedModel::Fit(kept); });
}

}  // namespace stagecraft
