// PiperStageCost: how long one stage takes, in the modes that its memory allows.
#pragma once

#include <vector>

#include "search/partition/node_set.h"
#include "search/partition/piper.h"

namespace stagecraft {

// PiperStageCost is for one set of nodes at one tensor degree.
class PiperStageCost {
 public:
  // is_possible() is false if a node has no mode at that degree.
  PiperStageCost(const PiperProblem& problem, const PiperOptions& options, const NodeSet& nodes,
                 int tensor);

  bool is_possible() const { return is_possible_; }
  // Returns a lower bound of the time for any choice of modes.
  double LeastTime(int replicas) const;
  // Returns whether some choice of modes fits with this number of micro-batches in flight.
  bool Fits(int in_flight) const;
  // Returns the time; infinity if nothing fits. Writes the choice of modes to `modes` unless it is
  // nullptr.
  double Time(int replicas, int in_flight, std::vector<int>* modes = nullptr) const;
  double Memory(const std::vector<int>& modes, int in_flight) const;

 private:
  // One node in one mode.
  struct Choice {
    double serial_s;    // shared by the replicas
    double gradient_s;  // grows with (replicas - 1) / replicas
    double bytes_per_micro_batch;
    double fixed_bytes;
    double Time(int replicas) const { return (serial_s + gradient_s * (replicas - 1)) / replicas; }
    double Bytes(int in_flight) const { return bytes_per_micro_batch * in_flight + fixed_bytes; }
  };
  Choice ChoiceOf(const PiperProblem& problem, const PiperOptions& options, const NodeSet& nodes,
                  int node, const PiperMode& mode) const;
  bool SwitchOne(int replicas, int in_flight, double excess, std::vector<int>& modes) const;

  bool is_possible_ = true;
  double memory_bytes_;
  std::vector<std::vector<Choice>> choices_;  // by member, by mode
};

}  // namespace stagecraft
