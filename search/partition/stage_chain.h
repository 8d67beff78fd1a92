// StageSums: sums over a run of antichain states, which are what a stage between two cuts holds.
#pragma once

#include "search/partition/antichain_states.h"
#include "search/partition/node_set.h"

namespace stagecraft {

// StageSums is for one minibatch, as it was profiled.
struct StageSums {
  double compute_s = 0;
  double parameter_bytes = 0;
  double activation_bytes = 0;
  double input_bytes = 0;   // bytes across the cut in front; 0 for the first stage
  double output_bytes = 0;  // bytes across the cut behind; 0 for the last stage
};

// Returns the sums over everything that is done in state `end` but not in state `begin` - 1; begin
// = 0 is the start. Precondition: state `begin` - 1 comes before `end`.
inline StageSums SumsOf(const AntichainStates& states, int begin, int end) {
  const AntichainState& last = states.states[end];
  StageSums sums{last.compute.seconds(), static_cast<double>(last.parameters.count()),
                 static_cast<double>(last.activations.count()), 0, 0};
  if (begin > 0) {
    const AntichainState& before = states.states[begin - 1];
    sums.compute_s -= before.compute.seconds();
    sums.parameter_bytes -= static_cast<double>(before.parameters.count());
    sums.activation_bytes -= static_cast<double>(before.activations.count());
    sums.input_bytes = static_cast<double>(before.output.count());
  }
  if (end + 1 < states.size()) sums.output_bytes = static_cast<double>(last.output.count());
  return sums;
}

// Returns whether a stage may extend from behind state `before` (-1: the start) to `end`.
inline bool ComesBefore(const AntichainStates& states, int before, int end) {
  return before < 0 || states.states[end].earlier.test(before);
}

// Returns the operators of such a stage.
inline NodeSet NodesBetween(const AntichainStates& states, int before, int end) {
  const NodeSet& done = states.states[end].done;
  return before < 0 ? done : done - states.states[before].done;
}

}  // namespace stagecraft
