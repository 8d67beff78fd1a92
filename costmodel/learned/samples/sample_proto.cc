#include "costmodel/learned/samples/sample_proto.h"

#include <fmt/core.h>

#include <cmath>
#include <cstdint>
#include <string>

#include "costmodel/check.h"
#include "costmodel/op_proto.h"

namespace stagecraft {
namespace {

constexpr int kSchema = 1;

template <typename T>
[[noreturn]] void Fail(std::string_view path, const char* field, T got, std::string_view want) {
  throw InputError(fmt::format("{}.{}: got {}, want {}", path, field, got, want));
}

double FiniteNonnegative(double value, std::string_view path, const char* field) {
  if (!std::isfinite(value) || value < 0) Fail(path, field, value, "a finite number >= 0");
  return value;
}

}  // namespace

Sample SampleFromProto(const SampleProto& proto, std::string_view path) {
  if (!proto.has_op()) Fail(path, "op", "nothing", "the op that was measured");
  Sample sample;
  sample.op = OpFromProto(proto.op(), fmt::format("{}.op", path));
  if (sample.op.kind == OpKind::kNone || sample.op.kind == OpKind::kProfiled) {
    Fail(path, "op.kind", Name(sample.op.kind), "an op that can be measured");
  }
  if (proto.gpu().empty()) Fail(path, "gpu", "nothing", "the id of a device");
  if (proto.time_ns() < 1 || proto.time_ns() > kLongestSample.ns()) {
    Fail(path, "time_ns", proto.time_ns(), fmt::format("1 to {}", kLongestSample.ns()));
  }
  if (proto.repeats() < 0) Fail(path, "repeats", proto.repeats(), ">= 0");
  sample.gpu = proto.gpu();
  sample.time = Duration::Nanoseconds(proto.time_ns());
  sample.spread = FiniteNonnegative(proto.spread(), path, "spread");
  sample.repeats = proto.repeats();
  sample.clock_hz = FiniteNonnegative(proto.clock_hz(), path, "clock_hz");
  sample.watts = FiniteNonnegative(proto.watts(), path, "watts");
  sample.name = proto.name();
  sample.split = proto.split();
  sample.software = proto.software();
  sample.source = proto.source();
  sample.times_whole_calls = proto.times_whole_calls();
  return sample;
}

std::vector<Sample> SamplesFromProto(const SampleSetProto& proto, std::string_view path) {
  if (proto.has_schema() && proto.schema() != kSchema) {
    throw InputError(fmt::format("{}: schema: got {}, want {}", path, proto.schema(), kSchema));
  }
  std::vector<Sample> samples;
  samples.reserve(proto.samples_size());
  for (int i = 0; i < proto.samples_size(); ++i) {
    samples.push_back(SampleFromProto(proto.samples(i), fmt::format("{}: samples[{}]", path, i)));
  }
  return samples;
}

SampleProto ToProto(const Sample& sample) {
  SampleProto proto;
  *proto.mutable_op() = ToProto(sample.op);
  proto.set_gpu(sample.gpu);
  proto.set_time_ns(sample.time.ns());
  proto.set_spread(sample.spread);
  proto.set_repeats(sample.repeats);
  proto.set_clock_hz(sample.clock_hz);
  proto.set_watts(sample.watts);
  proto.set_name(sample.name);
  proto.set_split(sample.split);
  proto.set_software(sample.software);
  proto.set_source(sample.source);
  proto.set_times_whole_calls(sample.times_whole_calls);
  return proto;
}

SampleSetProto SamplesToProto(std::span<const Sample> samples) {
  SampleSetProto proto;
  proto.set_schema(kSchema);
  proto.mutable_samples()->Reserve(static_cast<int>(samples.size()));
  for (const Sample& sample : samples) *proto.add_samples() = ToProto(sample);
  return proto;
}

}  // namespace stagecraft
