#include "tests/small_network.h"

#include <algorithm>
#include <cmath>

#include "costmodel/check.h"
#include "costmodel/random.h"

namespace stagecraft {
namespace {

Layers::Vector Draw(Random random, int count, double most) {
  Layers::Vector values(count);
  for (float& value : values) value = static_cast<float>((2 * random.Uniform() - 1) * most);
  return values;
}

bool IsForward(Phase phase) { return phase == Phase::kForward || phase == Phase::kSendForward; }

}  // namespace

Layers::Layers(int count) {
  for (int layer = 0; layer < count; ++layer) {
    parameters_.push_back(Draw(Random(7).Child("layer", layer), parameters(), 0.6));
  }
}

Layers::Vector Layers::Forward(int layer, const Vector& input) const {
  const float* w = parameters_[layer].data();
  Vector output(kWidth);
  for (int row = 0; row < kWidth; ++row) {
    float sum = w[kWidth * kWidth + row];
    for (int column = 0; column < kWidth; ++column) sum += w[row * kWidth + column] * input[column];
    output[row] = std::tanh(sum);
  }
  return output;
}

Layers::Vector Layers::Inner(const Vector& output, const Vector& gradient) {
  Vector inner(kWidth);
  for (int i = 0; i < kWidth; ++i) inner[i] = gradient[i] * (1 - output[i] * output[i]);
  return inner;
}

Layers::Vector Layers::Backward(int layer, const Vector& inner) const {
  Vector gradient(kWidth);
  for (int row = 0; row < kWidth; ++row) {
    for (int column = 0; column < kWidth; ++column) {
      gradient[column] += parameters_[layer][row * kWidth + column] * inner[row];
    }
  }
  return gradient;
}

void Layers::AddGradient(const Vector& inner, const Vector& input, float* gradient) {
  for (int row = 0; row < kWidth; ++row) {
    for (int column = 0; column < kWidth; ++column) {
      gradient[row * kWidth + column] += inner[row] * input[column];
    }
    gradient[kWidth * kWidth + row] += inner[row];
  }
}

Layers::Vector Layers::Sample(int index) {
  return Draw(Random(11).Child("sample", index), kWidth, 1);
}

std::vector<Layers::Vector> Layers::Gradients(int samples) const {
  std::vector<Vector> sums(count(), Vector(parameters()));
  for (int sample = 0; sample < samples; ++sample) {
    std::vector<Vector> values{Sample(sample)};
    for (int layer = 0; layer < count(); ++layer) values.push_back(Forward(layer, values.back()));
    Vector gradient = values.back();
    for (int layer = count() - 1; layer >= 0; --layer) {
      const Vector inner = Inner(values[layer + 1], gradient);
      AddGradient(inner, values[layer], sums[layer].data());
      gradient = Backward(layer, inner);
    }
  }
  return sums;
}

SmallNetwork::SmallNetwork(const Plan& plan, const Schedule& schedule, const Layers& layers,
                           int32_t rank)
    : plan_(plan), schedule_(schedule), layers_(layers), rank_(rank) {}

void SmallNetwork::BeginStep() {
  inputs_.clear();
  gradients_.clear();
  inner_.clear();
  buffers_.clear();
  sums_.assign(layers_.count(), Layers::Vector(Layers::parameters()));
}

LayerRange SmallNetwork::RangeOf(const Tag& tag) const {
  return plan_.stages[tag.stage].chunks[tag.chunk];
}

// Separate pipelines number their own micro-batches.
int SmallNetwork::SampleOf(const Tag& tag) const {
  if (!HasSeparatePipelines(plan_)) return tag.micro_batch;
  const int replica = schedule_.ranks()[tag.rank].replica;
  return StageShares(plan_, tag.stage).MicroBatch(replica, tag.micro_batch);
}

Layers::Vector& SmallNetwork::Message(const Tag& tag) {
  const LayerRange range = RangeOf(tag);
  if (IsForward(tag.phase)) return inputs_[{range.first + range.count, SampleOf(tag)}];
  return gradients_[{range.first, SampleOf(tag)}];
}

void SmallNetwork::Forward(const LayerRange& range, int sample) {
  if (range.first == 0) inputs_[{0, sample}] = Layers::Sample(sample);
  for (int layer = range.first; layer < range.first + range.count; ++layer) {
    inputs_[{layer + 1, sample}] = layers_.Forward(layer, inputs_.at({layer, sample}));
  }
}

void SmallNetwork::BackwardInput(const LayerRange& range, int sample) {
  const int end = range.first + range.count;
  if (end == layers_.count()) gradients_[{end, sample}] = inputs_.at({end, sample});
  for (int layer = end - 1; layer >= range.first; --layer) {
    inner_[{layer, sample}] =
        Layers::Inner(inputs_.at({layer + 1, sample}), gradients_.at({layer + 1, sample}));
    gradients_[{layer, sample}] = layers_.Backward(layer, inner_.at({layer, sample}));
  }
}

void SmallNetwork::BackwardWeight(const LayerRange& range, int sample) {
  for (int layer = range.first; layer < range.first + range.count; ++layer) {
    Layers::AddGradient(inner_.at({layer, sample}), inputs_.at({layer, sample}),
                        sums_[layer].data());
  }
}

void SmallNetwork::Run(TaskId, int) {}

// The first part of a divided pass computes all of it.
void SmallNetwork::Finish(TaskId task) {
  const std::lock_guard lock(mutex_);
  const Tag& tag = schedule_.tag(task);
  if (!IsPass(tag.phase) || tag.segment > 0) return;
  const LayerRange range = RangeOf(tag);
  const int sample = SampleOf(tag);
  if (tag.phase == Phase::kForward) Forward(range, sample);
  if (IsBackward(tag.phase)) BackwardInput(range, sample);
  if (MakesWeightGradients(tag.phase)) BackwardWeight(range, sample);
}

std::vector<int> SmallNetwork::ReducedLayers(const Tag& tag) const {
  std::vector<int> found;
  const std::vector<LayerRange>& chunks = plan_.stages[tag.stage].chunks;
  for (size_t chunk = 0; chunk < chunks.size(); ++chunk) {
    if (tag.chunk >= 0 && tag.chunk != static_cast<int>(chunk)) continue;
    for (int i = 0; i < chunks[chunk].count; ++i) found.push_back(chunks[chunk].first + i);
  }
  std::sort(found.begin(), found.end());
  if (tag.chunk < 0) return found;
  // Buckets hold the layers in order, the last layers first.
  size_t buckets = 0;
  for (TaskId task = 0; task < schedule_.task_count(); ++task) {
    const Tag& other = schedule_.tag(task);
    const bool is_alike = other.phase == Phase::kGradReduce && other.stage == tag.stage &&
                          other.chunk == tag.chunk && other.rank == tag.rank;
    if (is_alike) buckets = std::max<size_t>(buckets, other.segment + 1);
  }
  std::reverse(found.begin(), found.end());
  const size_t first = found.size() * tag.segment / buckets;
  const size_t last = found.size() * (tag.segment + 1) / buckets;
  return {found.begin() + static_cast<ptrdiff_t>(first),
          found.begin() + static_cast<ptrdiff_t>(last)};
}

std::span<float> SmallNetwork::Buffer(TaskId task, int) {
  const std::lock_guard lock(mutex_);
  const Tag& tag = schedule_.tag(task);
  if (tag.phase == Phase::kSendForward || tag.phase == Phase::kSendBackward) {
    Layers::Vector& message = tag.rank == rank_ ? Message(tag) : buffers_[task];
    message.resize(Layers::kWidth);
    return message;
  }
  Layers::Vector& buffer = buffers_[task];
  if (tag.phase != Phase::kGradReduce) {
    buffer.resize(1);
    return buffer;
  }
  buffer.clear();
  for (const int layer : ReducedLayers(tag)) {
    buffer.insert(buffer.end(), sums_[layer].begin(), sums_[layer].end());
  }
  return buffer;
}

void SmallNetwork::Receive(TaskId task) {
  const std::lock_guard lock(mutex_);
  Message(schedule_.tag(task)) = std::move(buffers_.at(task));
}

double SmallNetwork::Error(const std::vector<Layers::Vector>& expected) {
  double most = 0, largest = 0;
  const auto compare = [&](const float* found, int layer) {
    for (int i = 0; i < Layers::parameters(); ++i) {
      largest = std::max(largest, std::abs(static_cast<double>(expected[layer][i])));
      most = std::max(most, std::abs(static_cast<double>(found[i]) - expected[layer][i]));
    }
  };
  // Reduced gradients are in the buffers; those that needed no reduction are in the sums.
  std::vector<bool> is_reduced(layers_.count());
  for (const auto& [task, buffer] : buffers_) {
    const Tag& tag = schedule_.tag(task);
    if (tag.phase != Phase::kGradReduce) continue;
    const std::vector<int> reduced = ReducedLayers(tag);
    for (size_t i = 0; i < reduced.size(); ++i) {
      compare(buffer.data() + i * Layers::parameters(), reduced[i]);
      is_reduced[reduced[i]] = true;
    }
  }
  const int stage = schedule_.ranks()[rank_].stage;
  for (const LayerRange& range : plan_.stages[stage].chunks) {
    for (int layer = range.first; layer < range.first + range.count; ++layer) {
      if (!is_reduced[layer]) compare(sums_[layer].data(), layer);
    }
  }
  return most / largest;
}

}  // namespace stagecraft
