#include "costmodel/network/harness.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "costmodel/device_catalogue.h"
#include "costmodel/network/curve_features.h"
#include "costmodel/network/formula.h"
#include "costmodel/statistics.h"

namespace stagecraft {
namespace {

// A larger message says little of a harness, and its rate differs from that of small ones.
constexpr Bytes kMostBytes = Bytes(int64_t{64} << 20);
constexpr size_t kFewestRows = 5;

const Device& DeviceOf(const NetworkSample& sample) {
  return DeviceCatalogue::Embedded().Get(sample.gpu, "gpu").device;
}

// Returns the seconds of the copies between a list of tensors and a flat buffer.
double CopySeconds(const NetworkSample& sample) {
  if (!sample.copies_lists) return 0;
  return 2 * static_cast<double>(sample.op.bytes.count()) /
         DeviceOf(sample).memory_bandwidth.bytes_per_s();
}

// Fits seconds = harness + factor x formula, with relative errors; returns the harness's seconds.
struct Line {
  double w = 0, x = 0, xx = 0, y = 0, xy = 0;
  size_t rows = 0;

  void Add(double formula, double seconds, double weight) {
    w += weight;
    x += weight * formula;
    xx += weight * formula * formula;
    y += weight * seconds;
    xy += weight * formula * seconds;
    ++rows;
  }
  double Intercept() const {
    const double determinant = w * xx - x * x;
    return determinant > 0 ? (xx * y - x * xy) / determinant : 0;
  }
};

// Returns the line through the points of ranks and seconds: the median of the slopes of pairs, and
// of what is left. Neither is negative.
HarnessTime MedianLine(const std::vector<std::pair<double, double>>& points) {
  std::vector<double> slopes, left;
  for (size_t i = 0; i < points.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      const double run = points[i].first - points[j].first;
      if (run != 0) slopes.push_back((points[i].second - points[j].second) / run);
    }
  }
  const double slope = slopes.empty() ? 0 : std::max(0.0, Median(slopes));
  for (const auto& [ranks, seconds] : points) left.push_back(seconds - slope * ranks);
  return {Duration::Seconds(std::max(0.0, Median(left))), Duration::Seconds(slope)};
}

}  // namespace

Harnesses Harnesses::Estimate(std::span<const NetworkSample> samples, std::span<const int> chosen) {
  std::map<CurveFeatures, std::pair<Line, const NetworkSample*>> lines;
  for (const int i : chosen) {
    const NetworkSample& sample = samples[i];
    if (sample.timing != Timing::kFramework || sample.op.fabric.nodes > 1 || sample.forced ||
        sample.op.bytes > kMostBytes) {
      continue;
    }
    const Device& device = DeviceOf(sample);
    const Formula formula(sample.op, device, std::nullopt);
    const double seconds = sample.time.seconds();
    auto& [line, example] = lines[FeaturesOf(sample, device.generation)];
    line.Add(formula.SecondsOf(formula.ChoiceAt(sample.op.bytes)), seconds - CopySeconds(sample),
             1 / (seconds * seconds));
    example = &sample;
  }
  std::map<Key, std::vector<std::pair<double, double>>> points;
  for (const auto& [features, fitted] : lines) {
    const auto& [line, example] = fitted;
    if (line.rows < kFewestRows) continue;
    points[{example->source, features.kind}].emplace_back(example->op.fabric.ranks,
                                                          line.Intercept());
  }
  std::map<Key, HarnessTime> times;
  std::map<OpKind, std::vector<std::pair<double, double>>> of_any;
  for (const auto& [key, values] : points) {
    times[key] = MedianLine(values);
    auto& all = of_any[key.second];
    all.insert(all.end(), values.begin(), values.end());
  }
  for (const auto& [kind, values] : of_any) times[{kAnySource, kind}] = MedianLine(values);
  return Harnesses(std::move(times));
}

Duration Harnesses::Of(const NetworkSample& sample) const {
  Duration time = Duration::Seconds(CopySeconds(sample));
  if (sample.timing != Timing::kFramework) return time;
  auto found = times_.find({sample.source, sample.op.kind});
  if (found == times_.end()) found = times_.find({kAnySource, sample.op.kind});
  if (found == times_.end()) return time;
  return time + found->second.call + sample.op.fabric.ranks * found->second.rank;
}

}  // namespace stagecraft
