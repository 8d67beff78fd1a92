// SmallNetwork: computes the tasks of a schedule with real numbers, for a network that is small
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

// Layers y = tanh(W x + b) of equal width; the loss is half the square of the last one's output.
class Layers {
 public:
  static constexpr int kWidth = 6;
  using Vector = std::vector<float>;

  explicit Layers(int count);

  int count() const { return static_cast<int>(parameters_.size()); }
  static int parameters() { return kWidth * kWidth + kWidth; }
  // Returns the output of a layer.
  Vector Forward(int layer, const Vector& input) const;
  // Returns the gradient before the tanh, from the gradient of the output.
  static Vector Inner(const Vector& output, const Vector& gradient);
  // Returns the gradient of the input, from that before the tanh.
  Vector Backward(int layer, const Vector& inner) const;
  // Adds the gradient of a layer's parameters.
  static void AddGradient(const Vector& inner, const Vector& input, float* gradient);

  static Vector Sample(int index);
  // Returns, by layer, the gradients summed over samples 0 to `samples` - 1, which any schedule
  // must give.
  std::vector<Vector> Gradients(int samples) const;

 private:
  std::vector<Vector> parameters_;  // by layer: W row by row, then b
};

// A micro-batch is one sample. Every layer of the plan's workload, of whatever kind, is one layer
// of this network.
class SmallNetwork : public RankWork {
 public:
  // Plan, schedule and layers must outlive it.
  SmallNetwork(const Plan& plan, const Schedule& schedule, const Layers& layers, int32_t rank);

  void BeginStep() override;
  void Run(TaskId task, int index) override;
  std::span<float> Buffer(TaskId task, int index) override;
  void Finish(TaskId task) override;
  void Receive(TaskId task) override;

  // Returns the largest difference of the gradients that this rank has in the end from `expected`,
  // over the largest of these.
  double Error(const std::vector<Layers::Vector>& expected);

 private:
  using Key = std::pair<int, int>;  // layer, sample

  LayerRange RangeOf(const Tag& tag) const;
  int SampleOf(const Tag& tag) const;
  // The output, or the gradient, that a message carries.
  Layers::Vector& Message(const Tag& tag);
  void Forward(const LayerRange& range, int sample);
  void BackwardInput(const LayerRange& range, int sample);
  void BackwardWeight(const LayerRange& range, int sample);
  // The layers whose gradients a reduction adds up.
  std::vector<int> ReducedLayers(const Tag& tag) const;

  const Plan& plan_;
  const Schedule& schedule_;
  const Layers& layers_;
  const int32_t rank_;
  std::mutex mutex_;                         // guards all members below
  std::map<Key, Layers::Vector> inputs_;     // the input of a layer
  std::map<Key, Layers::Vector> gradients_;  // the gradient of a layer's input
  std::map<Key, Layers::Vector> inner_;      // the gradient before the tanh
  std::vector<Layers::Vector> sums_;         // by layer, the gradients of its parameters
  std::map<TaskId, Layers::Vector> buffers_;
};

}  // namespace stagecraft
