#include "costmodel/network/network_experiment.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "costmodel/collective_model.h"
#include "costmodel/device_catalogue.h"
#include "costmodel/embedded_nccl_tuning.h"
#include "costmodel/learned/learned_model.h"
#include "costmodel/random.h"

namespace stagecraft {
namespace {

using Predictions = std::vector<NetworkPrediction>;

// Returns the predictions that simulations with this model of collectives would make.
Predictions Simulated(const NetworkModel& network, std::span<const NetworkSample> samples,
                      std::span<const int> test) {
  std::map<std::string, std::vector<int>> by_gpu;
  for (const int i : test) by_gpu[samples[i].gpu].push_back(i);
  const LearnedModel model = LearnedModel::Shipped().WithNetwork(network);
  Predictions predictions;
  for (const auto& [gpu, indices] : by_gpu) {
    const Device& device = DeviceCatalogue::Embedded().Get(gpu, "gpu_id").device;
    std::vector<Op> ops;
    for (const int i : indices) ops.push_back(samples[i].op);
    const std::vector<Estimate> estimates = model.Predict(ops, device);
    for (size_t i = 0; i < indices.size(); ++i) {
      const Duration formula = ChooseCollective(ops[i], device, EmbeddedNcclTuning()).time;
      const Duration harness = network.harnesses().Of(samples[indices[i]]);
      predictions.push_back(
          {indices[i], estimates[i].time + harness, formula, estimates[i].spread});
    }
  }
  return predictions;
}

std::map<std::string, std::vector<int>> BySite(std::span<const NetworkSample> samples,
                                               std::span<const int> test) {
  std::map<std::string, std::vector<int>> sites;
  for (const int i : test) sites[samples[i].site].push_back(i);
  return sites;
}

// Predicts each sample at its own site if the model was trained on rows of that site.
Predictions PredictAtHomes(const NetworkModel& model, std::span<const NetworkSample> samples,
                           std::span<const int> test) {
  Predictions predictions;
  std::vector<int> elsewhere;
  for (const auto& [site, rows] : BySite(samples, test)) {
    if (!model.HasSite(site)) {
      elsewhere.insert(elsewhere.end(), rows.begin(), rows.end());
      continue;
    }
    const Predictions there = Simulated(model.WithHome(site), samples, rows);
    predictions.insert(predictions.end(), there.begin(), there.end());
  }
  const Predictions others = Simulated(model, samples, elsewhere);
  predictions.insert(predictions.end(), others.begin(), others.end());
  std::sort(predictions.begin(), predictions.end(),
            [](const auto& a, const auto& b) { return a.sample < b.sample; });
  return predictions;
}

NetworkAccuracy MeanOf(const std::vector<NetworkAccuracy>& groups) {
  NetworkAccuracy mean;
  mean.op = "all";
  const auto count = static_cast<double>(groups.size());
  for (const NetworkAccuracy& group : groups) {
    AddShare(group, 1 / count, mean);
    mean.formula_mape += group.formula_mape / count;
    if (!group.uncalibrated) continue;
    if (!mean.uncalibrated) mean.uncalibrated.emplace();
    AddShare(*group.uncalibrated, 1 / count, *mean.uncalibrated);
  }
  return mean;
}

ErrorSummary ErrorsOf(std::span<const NetworkSample> samples, const Predictions& predictions) {
  std::vector<JudgedTime> times;
  for (const NetworkPrediction& p : predictions) {
    times.push_back({p.sample, p.time.seconds(), samples[p.sample].time.seconds(), p.spread});
  }
  return SummariseErrors(times);
}

// Fills in the largest message. There must be at least one prediction.
void SetLargest(std::span<const NetworkSample> samples,
                std::span<const NetworkPrediction> predictions, NetworkAccuracy& accuracy) {
  const auto size = [&](const NetworkPrediction& p) {
    const Op& op = samples[p.sample].op;
    return std::tuple(op.bytes, op.fabric.ranks, -p.sample);
  };
  const int largest = std::max_element(predictions.begin(), predictions.end(),
                                       [&](const NetworkPrediction& a, const NetworkPrediction& b) {
                                         return size(a) < size(b);
                                       })
                          ->sample;
  const Op& op = samples[largest].op;
  double predicted = 0;  // bytes/s
  int count = 0;
  for (const NetworkPrediction& p : predictions) {
    if (p.sample != largest) continue;
    predicted += BusBandwidth(op, p.time).bytes_per_s();
    ++count;
  }
  accuracy.largest = op.bytes;
  accuracy.bus_measured = BusBandwidth(op, samples[largest].time);
  accuracy.bus_predicted = Bandwidth(predicted / count);
}

class Runner {
 public:
  Runner(std::span<const NetworkSample> samples, const NetworkExperimentOptions& options)
      : samples_(samples), options_(options) {}

  NetworkExperiment Run() {
    for (SampleSplit& split : MakeNetworkSplits(options_.split, samples_, options_.seed)) {
      if (options_.report) options_.report("left out: " + split.left_out);
      split.test = Judging(split.test);
      const bool trains = !split.train.empty();
      const NetworkModel model = trains ? NetworkModel::Fit(samples_, split.train) : Untrained();
      const Predictions predictions = trains ? PredictAtHomes(model, samples_, split.test)
                                             : Simulated(model, samples_, split.test);
      if (options_.calibrate > 0) {
        Calibrate(model, predictions);
      } else {
        Append(predictions, experiment_.predictions);
      }
    }
    Group();
    return std::move(experiment_);
  }

 private:
  static void Append(const Predictions& from, Predictions& to) {
    to.insert(to.end(), from.begin(), from.end());
  }

  const NetworkModel& Untrained() const {
    return options_.shipped ? *options_.shipped : NetworkModel::Shipped();
  }

  std::vector<int> Judging(std::span<const int> test) {
    std::vector<int> judging;
    for (const int i : test) {
      if (samples_[i].op.bytes < options_.least_bytes) continue;
      if (const char* reason = WhyNotSimulated(samples_[i])) {
        ++experiment_.skipped[reason];
      } else {
        judging.push_back(i);
      }
    }
    return judging;
  }

  // A few rows of each site are drawn, twenty times. The other rows are predicted by a model that
  // has learned these and is at home there, and by one that has not.
  void Calibrate(const NetworkModel& model, const Predictions& uncalibrated) {
    std::map<int, const NetworkPrediction*> without;
    std::vector<int> test;
    for (const NetworkPrediction& p : uncalibrated) {
      without[p.sample] = &p;
      test.push_back(p.sample);
    }
    for (const auto& [site, rows] : BySite(samples_, test)) {
      if (static_cast<int>(rows.size()) <= options_.calibrate) {
        experiment_.skipped["are too few at their site for any to be left after --calibrate"] +=
            static_cast<int>(rows.size());
        continue;
      }
      for (int draw = 0; draw < kNetworkCalibrationDraws; ++draw) {
        Random random = Random(options_.seed).Child("calibrate " + site, draw);
        std::vector<int> shuffled = rows;
        std::vector<NetworkSample> drawn;
        for (int i = 0; i < options_.calibrate; ++i) {
          const int64_t other = random.Integer(i, static_cast<int64_t>(shuffled.size()) - 1);
          std::swap(shuffled[i], shuffled[static_cast<size_t>(other)]);
          drawn.push_back(samples_[shuffled[i]]);
        }
        const std::span rest = std::span(shuffled).subspan(options_.calibrate);
        const Predictions with = Simulated(model.With(drawn).WithHome(site), samples_, rest);
        Append(with, experiment_.predictions);
        for (const NetworkPrediction& p : with) {
          experiment_.uncalibrated.push_back(*without.at(p.sample));
        }
      }
    }
  }

  NetworkAccuracy Judge(const Predictions& predictions, const Predictions& uncalibrated) const {
    NetworkAccuracy accuracy = Summarise(samples_, predictions);
    if (options_.calibrate > 0) accuracy.uncalibrated = ErrorsOf(samples_, uncalibrated);
    return accuracy;
  }

  void Group() {
    std::map<std::array<std::string, 3>, std::array<Predictions, 2>> by_group;  // op, GPU, site
    for (size_t i = 0; i < experiment_.predictions.size(); ++i) {
      const NetworkSample& sample = samples_[experiment_.predictions[i].sample];
      auto& [with, without] = by_group[{Name(sample.op.kind), sample.gpu, sample.site}];
      with.push_back(experiment_.predictions[i]);
      if (options_.calibrate > 0) without.push_back(experiment_.uncalibrated[i]);
    }
    for (const auto& [key, both] : by_group) {
      experiment_.groups.push_back(Judge(both[0], both[1]));
      experiment_.groups.back().op = key[0];
      experiment_.groups.back().gpu = key[1];
      experiment_.groups.back().site = key[2];
    }
    experiment_.overall = MeanOf(experiment_.groups);
    experiment_.overall_rows = Judge(experiment_.predictions, experiment_.uncalibrated);
  }

  std::span<const NetworkSample> samples_;
  const NetworkExperimentOptions& options_;
  NetworkExperiment experiment_;
};

}  // namespace

const char* WhyNotSimulated(const NetworkSample& sample) {
  if (sample.forced) return "were measured with a forced algorithm, which no simulation asks for";
  if (sample.op.fabric.nodes > 1 && !sample.is_network_stated) {
    return kUnstatedNetwork;
  }
  return nullptr;
}

std::vector<NetworkPrediction> PredictLeftOut(std::span<const NetworkSample> samples,
                                              const SampleSplit& split) {
  return PredictAtHomes(NetworkModel::Fit(samples, split.train), samples, split.test);
}

NetworkAccuracy Summarise(std::span<const NetworkSample> samples,
                          std::span<const NetworkPrediction> predictions) {
  NetworkAccuracy accuracy;
  static_cast<ErrorSummary&>(accuracy) =
      ErrorsOf(samples, Predictions(predictions.begin(), predictions.end()));
  accuracy.op = "all";
  for (const NetworkPrediction& p : predictions) {
    const Duration measured = samples[p.sample].time;
    accuracy.formula_mape += std::abs(p.formula.seconds() / measured.seconds() - 1) /
                             static_cast<double>(predictions.size());
  }
  if (!predictions.empty()) SetLargest(samples, predictions, accuracy);
  return accuracy;
}

NetworkExperiment RunNetworkExperiment(std::span<const NetworkSample> samples,
                                       const NetworkExperimentOptions& options) {
  return Runner(samples, options).Run();
}

}  // namespace stagecraft
