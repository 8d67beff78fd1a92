#include "costmodel/learned/sampled_sizes.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "costmodel/check.h"

namespace stagecraft {

SampledSizes::Sizes SampledSizes::Of(const Op& op) {
  const auto log = [](int64_t size) {
    return std::log2(static_cast<double>(std::max<int64_t>(1, size)));
  };
  return {log(op.batch), log(op.m), log(op.n), log(op.k), log(op.bytes.count())};
}

void SampledSizes::Add(const Op& op) {
  const Sizes sizes = Of(op);
  for (int i = 0; i < kSizes; ++i) {
    least_[i] = std::min(least_[i], sizes[i]);
    most_[i] = std::max(most_[i], sizes[i]);
  }
}

double SampledSizes::DoublingsBeyond(const Op& op) const {
  const Sizes sizes = Of(op);
  double beyond = 0;
  for (int i = 0; i < kSizes; ++i) {
    if (least_[i] >= most_[i]) continue;
    beyond = std::max({beyond, least_[i] - sizes[i], sizes[i] - most_[i]});
  }
  return beyond;
}

SampledSizes SampledSizes::FromProto(const FamilyModelProto& proto, const std::string& name) {
  SampledSizes sizes;
  if (proto.least_log2_size().empty() && proto.most_log2_size().empty()) return sizes;
  const auto read = [&](const auto& values, const char* field, Sizes& to) {
    if (values.size() != kSizes || !std::all_of(values.begin(), values.end(), [](double value) {
          return value >= 0 && value <= 64;
        })) {
      throw InputError(fmt::format("{}.{}: want {} numbers from 0 to 64", name, field, kSizes));
    }
    std::copy(values.begin(), values.end(), to.begin());
  };
  read(proto.least_log2_size(), "least_log2_size", sizes.least_);
  read(proto.most_log2_size(), "most_log2_size", sizes.most_);
  for (int i = 0; i < kSizes; ++i) {
    if (sizes.least_[i] <= sizes.most_[i]) continue;
    throw InputError(fmt::format("{}.least_log2_size[{}]: got {}, want at most {}", name, i,
                                 sizes.least_[i], sizes.most_[i]));
  }
  return sizes;
}

void SampledSizes::AddTo(FamilyModelProto& proto) const {
  if (least_[0] > most_[0]) return;  // no samples
  for (int i = 0; i < kSizes; ++i) {
    proto.add_least_log2_size(least_[i]);
    proto.add_most_log2_size(most_[i]);
  }
}

}  // namespace stagecraft
