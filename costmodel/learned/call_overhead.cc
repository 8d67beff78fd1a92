#include "costmodel/learned/call_overhead.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "costmodel/check.h"
#include "costmodel/statistics.h"

namespace stagecraft {
namespace {

constexpr double kFloorQuantile = 0.05;
constexpr double kAboveFloor = 1.15;

double LeadShare(const Op& op) { return op.kind == OpKind::kGemm ? 0.9 : 0.57; }

}  // namespace

CallOverhead CallOverhead::Fit(std::span<const Sample> samples) {
  std::map<std::tuple<std::string, std::string, std::string>, std::vector<double>> times;
  for (const Sample& sample : samples) {
    if (!sample.times_whole_calls) continue;
    times[{sample.source, sample.gpu, sample.name}].push_back(sample.time.seconds());
  }
  CallOverhead overhead;
  for (auto& [key, values] : times) {
    overhead.floors_[key] = UpperQuantile(std::move(values), kFloorQuantile);
  }
  return overhead;
}

CallOverhead CallOverhead::FromProto(const CostModelProto& proto, const std::string& name) {
  CallOverhead overhead;
  for (int i = 0; i < proto.floors_size(); ++i) {
    const CallFloorProto& floor = proto.floors(i);
    if (!(floor.seconds() >= 0 && floor.seconds() < 1)) {
      throw InputError(
          fmt::format("{}: floors[{}].seconds: got {}, want 0 to 1", name, i, floor.seconds()));
    }
    overhead.floors_[{floor.source(), floor.gpu(), floor.name()}] = floor.seconds();
  }
  return overhead;
}

void CallOverhead::AddTo(CostModelProto& proto) const {
  for (const auto& [key, seconds] : floors_) {
    CallFloorProto& floor = *proto.add_floors();
    floor.set_source(std::get<0>(key));
    floor.set_gpu(std::get<1>(key));
    floor.set_name(std::get<2>(key));
    floor.set_seconds(seconds);
  }
}

double CallOverhead::Floor(const Sample& sample) const {
  if (!sample.times_whole_calls || floors_.empty()) return 0;
  const auto found = floors_.find({sample.source, sample.gpu, sample.name});
  if (found != floors_.end()) return found->second;
  double sum[2] = {};  // of the GPU type, of all
  int count[2] = {};
  for (const auto& [key, floor] : floors_) {
    if (std::get<0>(key) != sample.source) continue;
    sum[1] += floor;
    ++count[1];
    if (std::get<1>(key) != sample.gpu) continue;
    sum[0] += floor;
    ++count[0];
  }
  const int which = count[0] > 0 ? 0 : 1;
  return count[which] > 0 ? sum[which] / count[which] : 0;
}

Duration CallOverhead::Reported(const Sample& sample, Duration device_time) const {
  const double floor = Floor(sample);
  return std::max(Duration::Seconds(floor),
                  Duration::Seconds(LeadShare(sample.op) * floor) + device_time);
}

Duration CallOverhead::DeviceTime(const Sample& sample) const {
  const double floor = Floor(sample);
  if (floor > 0 && sample.time.seconds() <= kAboveFloor * floor) return Duration();
  return sample.time - Duration::Seconds(LeadShare(sample.op) * floor);
}

}  // namespace stagecraft
