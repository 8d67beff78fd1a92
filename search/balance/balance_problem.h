// BalanceProblem: the layers of a pipeline with their loads, to be divided over its stages.
#pragma once

#include <cstdint>
#include <vector>

#include "costmodel/units.h"

namespace stagecraft {

// A division gives each stage, in order, the next so many layers. Each stage has at least one.
using Division = std::vector<int>;

// BalanceProblem describes layers and stages. A load is a time (in seconds, for one micro-batch) or
// a number of parameters: only ratios of loads matter.
struct BalanceProblem {
  std::vector<double> loads;  // The load of each layer, >= 0.
  // The speed of each stage, > 0: 1 if its layers take what their loads say, 0.5 if it has half
  // that speed.
  std::vector<double> speeds;
  // What each layer holds, >= 0, and the most that the layers of each stage may hold. Memory does
  // not matter if both are empty.
  std::vector<Bytes> layer_memory = {};
  std::vector<Bytes> stage_limits = {};

  int layers() const { return static_cast<int>(loads.size()); }
  int stages() const { return static_cast<int>(speeds.size()); }
};

// Throws InputError with one sentence unless there is a stage, each stage can have a layer, and
// all numbers are finite and in their ranges.
void CheckBalanceProblem(const BalanceProblem& problem);
// Throws InputError with one sentence unless the division is one of the problem's layers.
void CheckDivision(const BalanceProblem& problem, const Division& division);

// BalanceSums answers in O(1) what a stage takes and holds. The problem must outlive it.
class BalanceSums {
 public:
  explicit BalanceSums(const BalanceProblem& problem);

  // Returns what layers [begin, end) take on a stage: the sum of their loads, divided by the
  // stage's speed. It is never less for more layers, rounding included.
  double Time(int stage, int begin, int end) const {
    return (loads_[end] - loads_[begin]) / problem_.speeds[stage];
  }
  bool Fits(int stage, int begin, int end) const {
    return bytes_.empty() || bytes_[end] - bytes_[begin] <= problem_.stage_limits[stage].count();
  }
  double total() const { return loads_.back(); }
  // Returns how many layers from the first on have loads whose sum is nearest to `load`; of two
  // equally near, the larger number.
  int NearestEdge(double load) const;

 private:
  const BalanceProblem& problem_;
  std::vector<double> loads_;   // The sum of the layers before each layer.
  std::vector<int64_t> bytes_;  // The same of memory; empty if that does not matter.
};

// Returns the time (or parameters, per speed) of each stage.
std::vector<double> StageLoads(const BalanceProblem& problem, const Division& division);
// Returns the largest of them: the pace of the pipeline.
double SlowestLoad(const BalanceProblem& problem, const Division& division);
// Returns the least that the slowest stage could take if layers could be cut anywhere: the sum of
// all loads, divided by the sum of the speeds.
double FluidLoad(const BalanceProblem& problem);
// Returns whether every stage's layers fit its memory.
bool FitsMemory(const BalanceProblem& problem, const Division& division);

// Returns equal numbers of layers; the first stages have one more if they do not come out even.
Division UniformDivision(int layers, int stages);

}  // namespace stagecraft
