// CompareBalancers(): one run with every balancer, beside the bound that none of them can exceed.
#pragma once

#include <string>
#include <vector>

#include "costmodel/units.h"
#include "search/training/job.h"
#include "search/training/trained_states.h"

namespace stagecraft {

// What a run with one balancer comes to, without failures.
struct BalancerRow {
  std::string name;        // "diffusion by time"
  Duration time;           // of the run, overheads included
  Duration overhead;       // of all changes: BalanceCost::Total()
  double gpu_hours = 0;    // of the devices that are in use
  int fewest_devices = 0;  // in any state, after re-packing
  int moves = 0;           // how often layers moved
};

struct BalancerComparison {
  // The first keeps the layers where the job's plan has them, the second where equally many
  // parameters are, if that is possible; the others are the balancers, by each kind of load.
  std::vector<BalancerRow> rows;
  double bound = 1;  // MostGain() of the first row
};

// Sums up a run of which each state lasts until the next one. Precondition: all states of the job
// were trained.
BalancerRow SumUp(std::string name, const Job& job, const std::vector<TrainedState>& states);

// Returns by how many times at most another division could make the run faster: the time of its
// steps over what they would take if each state were faster by its Imbalance(), as with layers that
// can be cut anywhere. At least 1.
double MostGain(const Job& job, const std::vector<TrainedState>& states);

// Compares the job without a balancer, and with every balancer by each kind of load in place of the
// job's. Costs TrainStates() eight times. Precondition: CheckDivisible() accepts the plan. Throws
// what keeps any of these runs from one of its states.
BalancerComparison CompareBalancers(const Job& job);

}  // namespace stagecraft
