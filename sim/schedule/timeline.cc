#include "sim/schedule/timeline.h"

#include <algorithm>
#include <utility>

#include "costmodel/check.h"
#include "costmodel/hash.h"

namespace stagecraft {

Timeline::Timeline(std::vector<Duration> start, std::vector<Duration> end)
    : start_(std::move(start)), end_(std::move(end)) {
  CHECK(start_.size() == end_.size());
  for (const Duration end_time : end_) makespan_ = std::max(makespan_, end_time);
}

uint64_t Timeline::Fingerprint() const {
  Hash hash;
  for (size_t task = 0; task < start_.size(); ++task) {
    hash.Add(start_[task].ns());
    hash.Add(end_[task].ns());
  }
  return hash.value();
}

}  // namespace stagecraft
