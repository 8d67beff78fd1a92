#include "runtime/training_state.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>

#include "costmodel/hash.h"
#include "costmodel/random.h"

namespace stagecraft {
namespace {

constexpr size_t kDrawn = 4096;  // gradients
constexpr float kDecay = 0.9f, kRate = 0.01f;
// What an update moves for one weight: it and its momentum are read and written.
constexpr int64_t kMovedPerPair = 4 * sizeof(float);

}  // namespace

TrainingState::TrainingState(Bytes size, int rank)
    : values_(2 * static_cast<size_t>(size.count() / (2 * int64_t{sizeof(float)}))),
      gradients_(2 * kDrawn),
      seed_(static_cast<uint64_t>(rank)) {
  Random random = Random(1).Child("training state", seed_);
  for (size_t i = 0; i < kDrawn; ++i) {
    gradients_[i] = gradients_[i + kDrawn] = static_cast<float>(random.Uniform() - 0.5);
  }
  for (size_t i = 0; i < pairs(); ++i) values_[i] = gradients_[i % kDrawn];
}

void TrainingState::Update(Bytes moved) {
  if (pairs() == 0) return;
  const uint64_t number = static_cast<uint64_t>(progress_.updates++);
  const size_t shift = Random(seed_).Child("gradients", number).Bits() % kDrawn;
  const float* const gradients = gradients_.data() + shift;
  auto at = static_cast<size_t>(progress_.position);
  for (auto left = static_cast<size_t>(moved.count() / kMovedPerPair); left > 0;) {
    const size_t count = std::min({left, pairs() - at, kDrawn});
    float* const weights = values_.data() + at;
    float* const momentum = weights + pairs();
    for (size_t i = 0; i < count; ++i) {
      momentum[i] = kDecay * momentum[i] + gradients[i];
      weights[i] -= kRate * momentum[i];
    }
    left -= count;
    at = at + count == pairs() ? 0 : at + count;
  }
  progress_.position = static_cast<int64_t>(at);
}

uint64_t TrainingState::Fingerprint() const {
  return Hash()
      .Add(progress_.updates)
      .Add(progress_.position)
      .Add(static_cast<int64_t>(HashOf(values_)))
      .value();
}

uint64_t HashOf(std::span<const float> values) {
  constexpr size_t kLanes = 4;
  uint64_t lanes[kLanes] = {1, 2, 3, 4};
  const auto add = [](uint64_t hash, float value) {
    return std::rotl((hash ^ std::bit_cast<uint32_t>(value)) * 0x9e3779b97f4a7c15ull, 29);
  };
  size_t i = 0;
  for (; i + kLanes <= values.size(); i += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) lanes[lane] = add(lanes[lane], values[i + lane]);
  }
  for (; i < values.size(); ++i) lanes[0] = add(lanes[0], values[i]);
  Hash hash;
  for (const uint64_t lane : lanes) hash.Add(static_cast<int64_t>(lane));
  return hash.value();
}

}  // namespace stagecraft
