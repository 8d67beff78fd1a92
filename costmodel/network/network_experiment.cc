#include "costmodel/network/network_experiment.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>
#include <utility>

namespace stagecraft {
namespace {

std::vector<NetworkPrediction> PredictWith(const NetworkModel& model,
                                           std::span<const NetworkSample> samples,
                                           std::span<const int> test) {
  const std::vector<NetworkEstimate> estimates = model.Predict(samples, test);
  std::vector<NetworkPrediction> predictions;
  for (size_t i = 0; i < test.size(); ++i) {
    const NetworkEstimate& estimate = estimates[i];
    predictions.push_back({test[i], estimate.estimate.time.seconds(),
                           estimate.choice.time.seconds(), estimate.estimate.spread});
  }
  return predictions;
}

const NetworkModel& Untrained(const NetworkExperimentOptions& options) {
  return options.shipped ? *options.shipped : NetworkModel::Shipped();
}

double Error(double seconds, const NetworkSample& sample) {
  return std::abs(seconds / sample.time.seconds() - 1);
}

// Of the sorted values.
double Quantile(const std::vector<double>& values, double share) {
  return values[static_cast<size_t>(share * static_cast<double>(values.size() - 1))];
}

NetworkAccuracy MeanOf(const std::vector<NetworkAccuracy>& groups) {
  NetworkAccuracy mean;
  mean.op = "all";
  const auto count = static_cast<double>(groups.size());
  for (const NetworkAccuracy& group : groups) {
    mean.rows += group.rows;
    mean.mape += group.mape / count;
    mean.median_ape += group.median_ape / count;
    mean.p90_ape += group.p90_ape / count;
    mean.bias += group.bias / count;
    mean.interval80_coverage += group.interval80_coverage / count;
    mean.formula_mape += group.formula_mape / count;
  }
  return mean;
}

}  // namespace

std::vector<NetworkPrediction> PredictLeftOut(std::span<const NetworkSample> samples,
                                              const NetworkSplit& split) {
  return PredictWith(NetworkModel::Fit(samples, split.train), samples, split.test);
}

NetworkAccuracy Summarise(std::span<const NetworkSample> samples,
                          std::span<const NetworkPrediction> predictions) {
  NetworkAccuracy accuracy;
  accuracy.op = "all";
  accuracy.rows = static_cast<int>(predictions.size());
  if (predictions.empty()) return accuracy;
  const auto count = static_cast<double>(predictions.size());
  std::vector<double> errors;
  for (const NetworkPrediction& prediction : predictions) {
    const NetworkSample& sample = samples[prediction.sample];
    const double ratio = std::log(prediction.seconds / sample.time.seconds());
    errors.push_back(Error(prediction.seconds, sample));
    accuracy.mape += errors.back() / count;
    accuracy.formula_mape += Error(prediction.formula_seconds, sample) / count;
    accuracy.bias += ratio / count;
    if (std::abs(ratio) <= kSigmas80 * prediction.spread) accuracy.interval80_coverage += 1 / count;
  }
  std::sort(errors.begin(), errors.end());
  accuracy.median_ape = Quantile(errors, 0.5);
  accuracy.p90_ape = Quantile(errors, 0.9);
  return accuracy;
}

NetworkExperiment RunNetworkExperiment(std::span<const NetworkSample> samples,
                                       const NetworkExperimentOptions& options) {
  NetworkExperiment experiment;
  std::map<std::array<std::string, 3>, std::vector<NetworkPrediction>> by_group;  // op, GPU, site
  for (NetworkSplit& split : MakeNetworkSplits(options.split, samples, options.seed)) {
    if (options.report) options.report("left out: " + split.left_out);
    std::erase_if(split.test, [&](int i) {
      return samples[i].op.bytes < options.least_bytes || samples[i].op.bytes > options.most_bytes;
    });
    const std::vector<NetworkPrediction> predictions =
        split.train.empty() ? PredictWith(Untrained(options), samples, split.test)
                            : PredictLeftOut(samples, split);
    for (const NetworkPrediction& prediction : predictions) {
      const NetworkSample& sample = samples[prediction.sample];
      experiment.predictions.push_back(prediction);
      by_group[{Name(sample.op.kind), sample.gpu, sample.site}].push_back(prediction);
    }
  }
  for (const auto& [key, predictions] : by_group) {
    experiment.groups.push_back(Summarise(samples, predictions));
    experiment.groups.back().op = key[0];
    experiment.groups.back().gpu = key[1];
    experiment.groups.back().site = key[2];
  }
  experiment.overall = MeanOf(experiment.groups);
  experiment.overall_rows = Summarise(samples, experiment.predictions);
  return experiment;
}

}  // namespace stagecraft
