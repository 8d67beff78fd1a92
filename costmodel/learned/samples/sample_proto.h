// Converts samples from and to their protos.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "costmodel/learned/sample.h"
#include "proto/sample.pb.h"

namespace stagecraft {

// Checks everything; throws InputError with the path of the field, which begins with `path`: "a.pb:
// samples[3].time_ns: got 0, want ...". A round trip gives equal samples.
Sample SampleFromProto(const SampleProto& proto, std::string_view path);
std::vector<Sample> SamplesFromProto(const SampleSetProto& proto, std::string_view path);

SampleProto ToProto(const Sample& sample);
SampleSetProto SamplesToProto(std::span<const Sample> samples);

}  // namespace stagecraft
