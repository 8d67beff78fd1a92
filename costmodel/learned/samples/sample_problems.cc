#include "costmodel/learned/samples/sample_problems.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <string_view>

#include "costmodel/hash.h"
#include "costmodel/kernel_model.h"
#include "costmodel/learned/samples/slow_gpus.h"
#include "costmodel/nearest.h"

namespace stagecraft {
namespace {

constexpr Duration kLongest = 3600 * 1000_ms;
// Allows for clocks and rounded datasheets: a V100 PCIe reaches 1.0007 of its "14 TFLOP/s".
constexpr double kRooflineShare = 0.98;
constexpr double kSigmas = 3;
constexpr double kUnknownSpreadRatio = 1.2;

std::string Show(const Sample& sample) {
  return fmt::format("{}{}{} on {} in {:.3f} us", sample.name, sample.name.empty() ? "" : ": ",
                     Describe(sample.op), sample.gpu, sample.time.us());
}

// Samples with the same fault. The one with the highest degree of it is shown.
struct Fault {
  int64_t count = 0;
  size_t worst = 0;
  double degree = 0;

  void Add(size_t index, double how_bad) {
    if (count++ > 0 && how_bad <= degree) return;
    worst = index;
    degree = how_bad;
  }
};

class Finder {
 public:
  Finder(std::span<const Sample> samples, const std::string& path, const DeviceCatalogue& catalogue)
      : samples_(samples), path_(path), catalogue_(catalogue), rated_(samples.size()) {}

  std::vector<std::string> Find() {
    FindDevices();
    FindTimes();
    FindRepeats();
    const std::vector<std::string> slow = FindSlowGpus(rated_, path_);
    problems_.insert(problems_.end(), slow.begin(), slow.end());
    return std::move(problems_);
  }

 private:
  // "FILE: 3 of 20 samples <what>; the worst is sample 7, gemm ... <detail>".
  void Add(const Fault& fault, const std::string& what, const std::string& detail) {
    if (fault.count == 0) return;
    problems_.push_back(fmt::format("{}: {} of {} samples {}; the worst is sample {}, {}{}", path_,
                                    fault.count, samples_.size(), what, fault.worst,
                                    Show(samples_[fault.worst]), detail));
  }

  const Device* FindDevice(const std::string& gpu) const {
    const DeviceEntry* entry = catalogue_.Find(gpu);
    return entry == nullptr ? nullptr : &entry->device;
  }

  // Fills `rated_`.
  void FindDevices() {
    std::map<std::string_view, const Device*> devices;
    std::map<std::string_view, int64_t> unknown;
    std::map<std::string, Fault> without_rate;
    for (size_t i = 0; i < samples_.size(); ++i) {
      const Sample& sample = samples_[i];
      auto known = devices.find(sample.gpu);
      if (known == devices.end()) {
        known = devices.emplace(sample.gpu, FindDevice(sample.gpu)).first;
      }
      rated_[i] = {&sample, known->second, Duration()};
      if (known->second == nullptr || known->second->id != sample.gpu) ++unknown[sample.gpu];
      if (known->second == nullptr) continue;
      if (CanCompute(sample.op, *known->second)) {
        rated_[i].roofline = RooflineTime(sample.op, *known->second);
      } else {
        without_rate[fmt::format("are {} GEMMs, for which {} has no rate", Name(sample.op.dtype),
                                 sample.gpu)]
            .Add(i, 0);
      }
    }
    for (const auto& [gpu, count] : unknown) AddUnknown(std::string(gpu), count);
    for (const auto& [what, fault] : without_rate) Add(fault, what, "");
  }

  void AddUnknown(const std::string& gpu, int64_t count) {
    std::vector<std::string> ids;
    for (const DeviceEntry& entry : catalogue_.entries()) ids.push_back(entry.device.id);
    const Device* alias_of = FindDevice(gpu);
    problems_.push_back(fmt::format(
        "{}: gpu of {} samples: got \"{}\", want the id of a device; {}", path_, count, gpu,
        NearestNames(gpu, alias_of == nullptr ? ids : std::vector<std::string>{alias_of->id})));
  }

  void FindTimes() {
    Fault empty, endless;
    std::map<std::string_view, Fault> too_fast;  // by GPU
    for (size_t i = 0; i < samples_.size(); ++i) {
      const Duration time = samples_[i].time;
      if (time < 1_ns) {
        empty.Add(i, -static_cast<double>(time.ns()));
        continue;
      }
      if (time > kLongest) endless.Add(i, time.seconds());
      const double speedup = rated_[i].roofline.seconds() / time.seconds();
      if (speedup * kRooflineShare > 1) too_fast[samples_[i].gpu].Add(i, speedup);
    }
    Add(empty, "take no time at all", "");
    Add(endless, "take longer than an hour", "");
    for (const auto& [gpu, fault] : too_fast) {
      Add(fault, fmt::format("on {} are faster than {} of the roofline", gpu, kRooflineShare),
          fmt::format(", where the roofline is {:.3f} us", rated_[fault.worst].roofline.us()));
    }
  }

  bool IsRepeat(const Sample& a, const Sample& b) const {
    return a.op == b.op && a.gpu == b.gpu && a.source == b.source && a.name == b.name &&
           a.software == b.software;
  }

  // Returns, for two samples of the same op, GPU and program, |log| of the ratio of their times if
  // chance does not explain it, else 0.
  double Disagreement(const Sample& a, const Sample& b) const {
    if (a.time < 1_ns || b.time < 1_ns) return 0;
    const double ratio = std::abs(std::log(a.time.seconds() / b.time.seconds()));
    const bool has_spread = a.spread > 0 && b.spread > 0;
    const double limit =
        has_spread ? kSigmas * std::hypot(a.spread, b.spread) : std::log(kUnknownSpreadRatio);
    return ratio > limit ? ratio : 0;
  }

  // Compares each sample with the fastest of its repeats.
  void FindRepeats() {
    std::vector<std::pair<uint64_t, size_t>> order;
    order.reserve(samples_.size());
    for (size_t i = 0; i < samples_.size(); ++i) {
      const Sample& sample = samples_[i];
      Hash hash;
      hash.Add(static_cast<int64_t>(std::hash<Op>()(sample.op))).Add(sample.gpu);
      order.emplace_back(hash.Add(sample.source).Add(sample.name).Add(sample.software).value(), i);
    }
    std::sort(order.begin(), order.end());
    Fault fault;
    size_t other = 0;
    int64_t repeats = 0;
    for (size_t begin = 0; begin < order.size();) {
      size_t end = begin + 1;
      while (end < order.size() && order[end].first == order[begin].first) ++end;
      repeats += CompareRepeats({&order[begin], end - begin}, fault, other);
      begin = end;
    }
    if (fault.count == 0) return;
    Add(fault,
        fmt::format("differ from the fastest of their repeats by more than {} sigma, or {:.0f} % "
                    "if no spread is known (of {} that repeat another)",
                    kSigmas, 100 * (kUnknownSpreadRatio - 1), repeats),
        fmt::format(", against {:.3f} us of sample {}", samples_[other].time.us(), other));
  }

  // Compares samples that have the same hash; returns how many of them repeat another.
  int64_t CompareRepeats(std::span<const std::pair<uint64_t, size_t>> same, Fault& fault,
                         size_t& other) {
    if (same.size() < 2) return 0;
    const auto fastest =
        std::min_element(same.begin(), same.end(), [this](const auto& a, const auto& b) {
          return samples_[a.second].time < samples_[b.second].time;
        });
    int64_t repeats = 0;
    for (const auto& [hash, i] : same) {
      if (i == fastest->second || !IsRepeat(samples_[i], samples_[fastest->second])) continue;
      ++repeats;
      const double difference = Disagreement(samples_[i], samples_[fastest->second]);
      if (difference <= 0) continue;
      fault.Add(i, difference);
      if (fault.worst == i) other = fastest->second;
    }
    return repeats;
  }

  std::span<const Sample> samples_;
  const std::string& path_;
  const DeviceCatalogue& catalogue_;
  std::vector<RatedSample> rated_;
  std::vector<std::string> problems_;
};

std::string Listed(const std::map<std::string_view, int64_t>& counts) {
  std::vector<std::string> parts;
  for (const auto& [name, count] : counts) {
    const std::string_view shown = name.empty() ? "(unnamed)" : name;
    parts.push_back(counts.size() == 1 ? std::string(shown) : fmt::format("{} {}", shown, count));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace

std::vector<std::string> FindSampleProblems(std::span<const Sample> samples,
                                            const std::string& path,
                                            const DeviceCatalogue& catalogue) {
  return Finder(samples, path, catalogue).Find();
}

std::string SummariseSamples(std::span<const Sample> samples) {
  if (samples.empty()) return "0 samples";
  std::map<std::string_view, int64_t> gpus, sources;
  std::map<std::string, int64_t> kinds;
  for (const Sample& sample : samples) {
    ++gpus[sample.gpu];
    ++sources[sample.source];
    ++kinds[std::string(Name(sample.op.kind)) +
            (sample.op.Flops().count() > 0 ? std::string(" ") + Name(sample.op.dtype) : "")];
  }
  std::map<std::string_view, int64_t> ops(kinds.begin(), kinds.end());
  return fmt::format("{} samples of {}; on {}; source: {}", samples.size(), Listed(ops),
                     Listed(gpus), Listed(sources));
}

}  // namespace stagecraft
