// SmallNetwork: what the tasks of a schedule compute on real numbers, for a network small
// enough to be computed again by one rank alone.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "runtime/rank_work.h"
#include "sim/plan/plan.h"
#include "sim/schedule/schedule.h"

namespace stagecraft {

// Layers y = tanh(W x + b) of equal width; the loss is half the square of what the last
// one makes.
class Layers {
 public:
  static constexpr int kWidth = 6;
  using Vector = std::vector<float>;

  explicit Layers(int count);

  int count() const { return static_cast<int>(parameters_.size()); }
  static int parameters() { return kWidth * kWidth + kWidth; }
  // What a sample's forward through a layer makes.
  Vector Forward(int layer, const Vector& input) const;
  // Gradient before the tanh, of the gradient of the output.
  static Vector Inner(const Vector& output, const Vector& gradient);
  // Gradient of the input.
  Vector Backward(int layer, const Vector& inner) const;
  // Adds the gradient of a layer's parameters.
  static void AddGradient(const Vector& inner, const Vector& input, float* gradient);

  static Vector Sample(int index);
  // By layer, the sum over samples 0 to `samples` - 1: what any schedule must come to.
  std::vector<Vector> Gradients(int samples) const;

 private:
  std::vector<Vector> parameters_;  // by layer: W row by row, then b
};

// A micro-batch is one sample. A layer of the plan's workload is a layer of the network,
// whatever it is.
class SmallNetwork : public RankWork {
 public:
  // All outlive it.
  SmallNetwork(const Plan& plan, const Schedule& schedule, const Layers& layers, int32_t rank);

  void BeginStep() override;
  void Run(TaskId task, int index) override;
  std::span<float> Buffer(TaskId task, int index) override;
  void Finish(TaskId task) override;
  void Receive(TaskId task) override;

  // How far any parameter's gradient that this rank has in the end is from `expected`, over
  // the largest of them.
  double Error(const std::vector<Layers::Vector>& expected);

 private:
  using Key = std::pair<int, int>;  // layer, sample

  LayerRange RangeOf(const Tag& tag) const;
  int SampleOf(const Tag& tag) const;
  // Whose output, or gradient, a message holds.
  Layers::Vector& Message(const Tag& tag);
  void Forward(const LayerRange& range, int sample);
  void BackwardInput(const LayerRange& range, int sample);
  void BackwardWeight(const LayerRange& range, int sample);
  // Layers whose gradients a reduction adds up.
  std::vector<int> ReducedLayers(const Tag& tag) const;

  const Plan& plan_;
  const Schedule& schedule_;
  const Layers& layers_;
  const int32_t rank_;
  std::mutex mutex_;                         // of all below
  std::map<Key, Layers::Vector> inputs_;     // of a layer
  std::map<Key, Layers::Vector> gradients_;  // of a layer's input
  std::map<Key, Layers::Vector> inner_;      // before the tanh
  std::vector<Layers::Vector> sums_;         // by layer
  std::map<TaskId, Layers::Vector> buffers_;
};

}  // namespace stagecraft
