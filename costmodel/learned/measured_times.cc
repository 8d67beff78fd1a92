#include "costmodel/learned/measured_times.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "costmodel/check.h"
#include "costmodel/device_catalogue.h"
#include "costmodel/learned/known_gpus.h"
#include "costmodel/op_proto.h"

namespace stagecraft {
namespace {

// The largest sigma of the logarithm of a time; more would mean nothing.
constexpr double kMostSpread = 1e3;

std::string DeviceOf(const Sample& sample) {
  if (sample.device != nullptr) return sample.device->id;
  const DeviceEntry* const known = DeviceCatalogue::Embedded().Find(sample.gpu);
  return known == nullptr ? sample.gpu : known->device.id;
}

}  // namespace

void MeasuredTimes::Table::Set(const Measured& one) {
  const auto [place, is_new] = places.try_emplace(one.op, measured.size());
  if (is_new) measured.emplace_back();
  measured[place->second] = one;
}

void MeasuredTimes::Add(std::span<const Sample> samples) {
  struct Sum {
    const Sample* first = nullptr;
    double seconds = 0, spread = 0;
    int count = 0;
  };
  std::map<std::string, std::unordered_map<Op, size_t>> places;
  std::map<std::string, std::string> devices;  // by the samples' names of them
  std::vector<std::pair<std::string, Sum>> sums;
  for (const Sample& sample : samples) {
    const auto [device, is_new_device] = devices.try_emplace(sample.gpu);
    if (is_new_device) device->second = DeviceOf(sample);
    const auto [place, is_new] = places[device->second].try_emplace(sample.op, sums.size());
    if (is_new) sums.push_back({device->second, {.first = &sample}});
    Sum& sum = sums[place->second].second;
    sum.seconds += sample.time.seconds();
    sum.spread = std::max(sum.spread, std::min(sample.spread, kMostSpread));
    ++sum.count;
  }
  for (const auto& [device, sum] : sums) {
    const Duration mean = std::max(Duration::Seconds(sum.seconds / sum.count), 1_ns);
    tables_[device].Set({sum.first->op, mean, sum.spread});
  }
}

size_t MeasuredTimes::size() const {
  size_t size = 0;
  for (const auto& [device, table] : tables_) size += table.measured.size();
  return size;
}

void MeasuredTimes::Correct(std::span<const Op> ops, const Device& device, const Pricing& price,
                            std::vector<Estimate>* estimates) const {
  const auto table = tables_.find(device.id);
  if (table == tables_.end()) return;
  std::vector<size_t> found;  // of ops
  std::vector<Op> known;
  std::vector<const Measured*> measured;
  for (size_t i = 0; i < ops.size(); ++i) {
    const auto place = table->second.places.find(ops[i]);
    if (place == table->second.places.end()) continue;
    found.push_back(i);
    measured.push_back(&table->second.measured[place->second]);
    known.push_back(ops[i]);
  }
  std::vector<Estimate> at_boost;
  if (device.clock_share < 1 || device.is_busy) at_boost = price(known, AsSampled(device));
  for (size_t i = 0; i < found.size(); ++i) {
    Estimate& estimate = (*estimates)[found[i]];
    double seconds = measured[i]->time.seconds();
    if (!at_boost.empty() && at_boost[i].time > Duration()) {
      seconds *= estimate.time.seconds() / at_boost[i].time.seconds();
    }
    estimate.time = Duration::Seconds(seconds);
    estimate.basis = Basis::kMeasured;
    estimate.spread = measured[i]->spread;
  }
}

MeasuredTimes MeasuredTimes::FromProto(const CostModelProto& proto, const std::string& name) {
  MeasuredTimes times;
  for (int d = 0; d < proto.measured_size(); ++d) {
    const MeasuredDeviceProto& device = proto.measured(d);
    const std::string path = fmt::format("{}: measured[{}]", name, d);
    const auto fail = [](const std::string& field, const auto& got, const std::string& want) {
      throw InputError(fmt::format("{}: got {}, want {}", field, got, want));
    };
    if (device.device().empty()) fail(path + ".device", "nothing", "the id of a device");
    const auto [table, is_new] = times.tables_.try_emplace(device.device());
    if (!is_new) fail(path + ".device", device.device() + " again", "it once");
    for (int i = 0; i < device.ops_size(); ++i) {
      const MeasuredOpProto& op = device.ops(i);
      const std::string field = fmt::format("{}.ops[{}]", path, i);
      if (op.time_ns() < 1 || op.time_ns() > kLongestSample.ns()) {
        fail(field + ".time_ns", op.time_ns(), fmt::format("1 to {}", kLongestSample.ns()));
      }
      if (!(op.spread() >= 0 && op.spread() <= kMostSpread)) {
        fail(field + ".spread", op.spread(), fmt::format("0 to {}", kMostSpread));
      }
      table->second.Set(
          {OpFromProto(op.op(), field + ".op"), Duration::Nanoseconds(op.time_ns()), op.spread()});
      if (std::ssize(table->second.measured) == i) fail(field + ".op", "it again", "it once");
    }
  }
  if (times.size() > kMost) {
    throw InputError(
        fmt::format("{}: measured: got {} ops, want at most {}", name, times.size(), kMost));
  }
  return times;
}

void MeasuredTimes::AddTo(CostModelProto* proto) const {
  for (const auto& [device, table] : tables_) {
    MeasuredDeviceProto* const of_device = proto->add_measured();
    of_device->set_device(device);
    for (const Measured& measured : table.measured) {
      MeasuredOpProto* const op = of_device->add_ops();
      *op->mutable_op() = ToProto(measured.op);
      op->set_time_ns(measured.time.ns());
      op->set_spread(measured.spread);
    }
  }
}

}  // namespace stagecraft
