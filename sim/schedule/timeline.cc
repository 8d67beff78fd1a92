#include "sim/schedule/timeline.h"

#include <algorithm>
#include <utility>

#include "costmodel/check.h"
#include "sim/schedule/time_hash.h"

namespace stagecraft {

Timeline::Timeline(std::vector<Duration> start, std::vector<Duration> end)
    : start_(std::move(start)), end_(std::move(end)) {
  CHECK(start_.size() == end_.size());
  for (const Duration end_time : end_) makespan_ = std::max(makespan_, end_time);
}

uint64_t Timeline::Fingerprint() const {
  TimeHash hash;
  for (size_t task = 0; task < start_.size(); ++task) {
    hash.Add(start_[task]);
    hash.Add(end_[task]);
  }
  return hash.value();
}

}  // namespace stagecraft
