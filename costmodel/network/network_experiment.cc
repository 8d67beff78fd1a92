#include "costmodel/network/network_experiment.h"

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

NetworkAccuracy MeanOf(const std::vector<NetworkAccuracy>& groups) {
  NetworkAccuracy mean;
  mean.op = "all";
  const auto count = static_cast<double>(groups.size());
  for (const NetworkAccuracy& group : groups) {
    AddShare(group, 1 / count, mean);
    mean.formula_mape += group.formula_mape / count;
  }
  return mean;
}

}  // namespace

std::vector<NetworkPrediction> PredictLeftOut(std::span<const NetworkSample> samples,
                                              const SampleSplit& split) {
  return PredictWith(NetworkModel::Fit(samples, split.train), samples, split.test);
}

NetworkAccuracy Summarise(std::span<const NetworkSample> samples,
                          std::span<const NetworkPrediction> predictions) {
  NetworkAccuracy accuracy;
  accuracy.op = "all";
  std::vector<JudgedTime> times;
  for (const NetworkPrediction& p : predictions) {
    const double measured = samples[p.sample].time.seconds();
    times.push_back({p.sample, p.seconds, measured, p.spread});
    accuracy.formula_mape +=
        std::abs(p.formula_seconds / measured - 1) / static_cast<double>(predictions.size());
  }
  static_cast<ErrorSummary&>(accuracy) = SummariseErrors(times);
  return accuracy;
}

NetworkExperiment RunNetworkExperiment(std::span<const NetworkSample> samples,
                                       const NetworkExperimentOptions& options) {
  NetworkExperiment experiment;
  std::map<std::array<std::string, 3>, std::vector<NetworkPrediction>> by_group;  // op, GPU, site
  for (SampleSplit& split : MakeNetworkSplits(options.split, samples, options.seed)) {
    if (options.report) options.report("left out: " + split.left_out);
    std::erase_if(split.test, [&](int i) { return samples[i].op.bytes < options.least_bytes; });
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
