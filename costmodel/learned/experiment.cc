#include "costmodel/learned/experiment.h"

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <tuple>

#include "costmodel/check.h"
#include "costmodel/learned/baselines.h"
#include "costmodel/learned/kernel_families.h"
#include "costmodel/learned/training_rows.h"
#include "costmodel/random.h"

namespace stagecraft {
namespace {

// Predicts samples, which may be of several GPU types.
std::vector<SamplePrediction> PredictSamples(const CostModel& model, const CallOverhead& overhead,
                                             std::span<const Sample> samples,
                                             std::span<const int> which) {
  std::map<std::string, std::vector<int>> by_gpu;
  for (const int i : which) by_gpu[samples[i].gpu].push_back(i);
  std::vector<SamplePrediction> predictions;
  for (const auto& [gpu, indices] : by_gpu) {
    const Device& device = *MeasuredGpu(samples[indices[0]]);
    std::vector<Op> ops;
    for (const int i : indices) ops.push_back(samples[i].op);
    const std::vector<Estimate> estimates = model.Predict(ops, device);
    for (size_t i = 0; i < indices.size(); ++i) {
      const Duration reported = overhead.Reported(samples[indices[i]], estimates[i].time);
      predictions.push_back({indices[i], reported.seconds(), estimates[i].spread});
    }
  }
  return predictions;
}

ErrorSummary ErrorsOf(std::span<const Sample> samples,
                      std::span<const SamplePrediction> predictions) {
  std::vector<JudgedTime> times;
  for (const SamplePrediction& p : predictions) {
    times.push_back({p.sample, p.seconds, samples[p.sample].time.seconds(), p.spread});
  }
  return SummariseErrors(times);
}

// Predictions of the same rows: with calibration, if there is one, and without it.
struct Judged {
  std::vector<SamplePrediction> predictions, uncalibrated;
};

Accuracy Summarise(std::span<const Sample> samples, const Judged& judged) {
  Accuracy accuracy;
  static_cast<ErrorSummary&>(accuracy) = ErrorsOf(samples, judged.predictions);
  if (!judged.uncalibrated.empty()) accuracy.uncalibrated = ErrorsOf(samples, judged.uncalibrated);
  return accuracy;
}

Accuracy MeanOf(std::span<const Accuracy> groups, ModelKind model) {
  Accuracy mean;
  mean.model = model;
  int count = 0;
  for (const Accuracy& group : groups) count += group.model == model ? 1 : 0;
  for (const Accuracy& group : groups) {
    if (group.model != model) continue;
    AddShare(group, 1.0 / count, mean);
    if (!group.uncalibrated) continue;
    if (!mean.uncalibrated) mean.uncalibrated.emplace();
    AddShare(*group.uncalibrated, 1.0 / count, *mean.uncalibrated);
  }
  return mean;
}

class Runner {
 public:
  Runner(std::span<const Sample> samples, const ExperimentOptions& options)
      : samples_(samples), options_(options) {}

  Experiment Run() {
    experiment_.skipped = CountSkipped(samples_);
    const std::vector<SampleSplit> splits = MakeSplits(options_.split, samples_, options_.seed);
    for (const SampleSplit& split : splits) {
      if (options_.report) {
        options_.report(fmt::format("{} {}: {} rows to learn from, {} to test", options_.split,
                                    split.left_out, split.train.size(), split.test.size()));
      }
      RunSplit(split);
    }
    Group();
    return std::move(experiment_);
  }

 private:
  std::vector<int> Known(std::span<const int> rows) const {
    std::vector<int> known;
    for (const int i : rows) {
      if (CanPredict(samples_[i])) known.push_back(i);
    }
    return known;
  }

  void RunSplit(const SampleSplit& split) {
    const std::vector<int> test = Known(split.test);
    if (test.empty()) return;
    std::vector<Sample> train;
    for (const int i : split.train) train.push_back(samples_[i]);
    const CallOverhead overhead = train.empty() ? Shipped().overhead() : CallOverhead::Fit(train);
    for (const ModelKind kind : options_.models) {
      std::vector<SamplePrediction> predictions;
      if (kind == ModelKind::kShipped) {
        const LearnedModel fitted = train.empty() ? Shipped() : LearnedModel::Fit(train);
        if (options_.calibrate > 0) {
          RunCalibrated(fitted, overhead, test);
          continue;
        }
        predictions = PredictSamples(fitted, overhead, samples_, test);
      } else {
        const auto model = Baseline(kind, train, overhead);
        predictions = PredictSamples(*model, overhead, samples_, test);
      }
      auto& all = experiment_.predictions[kind];
      all.insert(all.end(), predictions.begin(), predictions.end());
    }
  }

  const LearnedModel& Shipped() const {
    return options_.shipped != nullptr ? *options_.shipped : LearnedModel::Shipped();
  }

  static std::unique_ptr<CostModel> Baseline(ModelKind kind, std::span<const Sample> train,
                                             const CallOverhead& overhead) {
    switch (kind) {
      case ModelKind::kInterpolation:
        return FitInterpolation(train, overhead);
      case ModelKind::kRidge:
        return FitRidge(train, overhead);
      case ModelKind::kBoostedTrees:
        return FitPlainTrees(train, overhead);
      default:
        return MakeRooflineModel();
    }
  }

  // A few rows of each family of a GPU type are drawn, twenty times. A model that has learned these
  // predicts the others.
  void RunCalibrated(const LearnedModel& model, const CallOverhead& overhead,
                     std::span<const int> test) {
    std::map<std::string, std::map<const KernelFamily*, std::vector<int>>> by_gpu;
    for (const int i : test) {
      const Sample& sample = samples_[i];
      by_gpu[sample.gpu][FamilyOf(sample.op, *MeasuredGpu(sample))].push_back(i);
    }
    auto& all = experiment_.predictions[ModelKind::kShipped];
    std::map<int, SamplePrediction> without;
    for (const SamplePrediction& p : PredictSamples(model, overhead, samples_, test)) {
      without[p.sample] = p;
    }
    for (const auto& [gpu, families] : by_gpu) {
      for (int draw = 0; draw < kCalibrationDraws; ++draw) {
        Random random = Random(options_.seed).Child("calibrate " + gpu, draw);
        std::vector<Sample> site;
        std::vector<int> rest;
        for (const auto& [family, rows] : families) {
          std::vector<int> shuffled = rows;
          const int count = std::min<int>(options_.calibrate, static_cast<int>(rows.size()));
          for (int i = 0; i < count; ++i) {
            const int64_t other = random.Integer(i, static_cast<int64_t>(shuffled.size()) - 1);
            std::swap(shuffled[i], shuffled[static_cast<size_t>(other)]);
            if (family != nullptr) site.push_back(samples_[shuffled[i]]);
          }
          rest.insert(rest.end(), shuffled.begin() + count, shuffled.end());
        }
        if (site.empty() || rest.empty()) {
          experiment_.skipped[{gpu, site.empty() ? "has no row that --calibrate could use"
                                                 : "has no row that --calibrate leaves"}] =
              static_cast<int>(rest.size() + site.size());
          break;
        }
        const LearnedModel calibrated = model.Calibrated(site).model;
        const std::vector<SamplePrediction> predictions =
            PredictSamples(calibrated, overhead, samples_, rest);
        all.insert(all.end(), predictions.begin(), predictions.end());
        for (const SamplePrediction& p : predictions) {
          experiment_.uncalibrated.push_back(without.at(p.sample));
        }
      }
    }
  }

  Judged JudgedBy(ModelKind kind) {
    Judged judged = {experiment_.predictions[kind], {}};
    if (kind == ModelKind::kShipped) judged.uncalibrated = experiment_.uncalibrated;
    return judged;
  }

  void Group() {
    for (const ModelKind kind : options_.models) {
      std::map<std::tuple<std::string, std::string, std::string>, Judged> groups;
      const Judged all = JudgedBy(kind);
      for (size_t i = 0; i < all.predictions.size(); ++i) {
        const Sample& sample = samples_[all.predictions[i].sample];
        Judged& group = groups[{OpLabel(sample), sample.gpu, Name(sample.op.dtype)}];
        group.predictions.push_back(all.predictions[i]);
        if (!all.uncalibrated.empty()) group.uncalibrated.push_back(all.uncalibrated[i]);
      }
      for (const auto& [key, judged] : groups) {
        Accuracy accuracy = Summarise(samples_, judged);
        std::tie(accuracy.op, accuracy.gpu, accuracy.dtype) = key;
        accuracy.model = kind;
        experiment_.groups.push_back(accuracy);
      }
    }
    std::stable_sort(experiment_.groups.begin(), experiment_.groups.end(),
                     [](const Accuracy& a, const Accuracy& b) {
                       return std::tie(a.op, a.gpu, a.dtype) < std::tie(b.op, b.gpu, b.dtype);
                     });
    for (const ModelKind kind : options_.models) {
      experiment_.overall.push_back(MeanOf(experiment_.groups, kind));
      experiment_.overall_rows.push_back(Summarise(samples_, JudgedBy(kind)));
      experiment_.overall_rows.back().model = kind;
    }
  }

  std::span<const Sample> samples_;
  const ExperimentOptions& options_;
  Experiment experiment_;
};

}  // namespace

const char* Name(ModelKind kind) {
  constexpr const char* kNames[] = {"roofline", "interpolation", "ridge", "boosted-trees",
                                    "shipped"};
  return kNames[static_cast<int>(kind)];
}

Experiment RunExperiment(std::span<const Sample> samples, const ExperimentOptions& options) {
  return Runner(samples, options).Run();
}

}  // namespace stagecraft
