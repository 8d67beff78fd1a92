// Reports what training steps take in time, energy and money, as text and as JSON.
#pragma once

#include <iosfwd>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "sim/cluster/cluster.h"
#include "sim/step/evaluation.h"
#include "sim/step/training_cost.h"

namespace stagecraft {

// Returns gpu_hours_per_step and gpu_hours_per_billion_tokens; with prices also cost_usd_per_step
// and cost_usd_per_billion_tokens; and if tokens are asked about, `run`, as docs/json.md lists it.
nlohmann::ordered_json CostToJson(const CostQuestion& question, const Cluster& cluster,
                                  const Evaluation& evaluation);

// Returns, with prices, "1.23 GPU-hours and 3.21 USD per step, 4567 USD per 10^9 tokens"; else only
// the GPU-hours of both.
std::string StepCostText(const CostQuestion& question, const Cluster& cluster,
                         const Evaluation& evaluation);

// Returns "1T tokens in 238419 steps: 40.31 days, 247,603 GPU-hours, 190.6 MWh, 718,049 USD; 80 %
// prediction interval: 37.1 to 43.9 days". Precondition: tokens are asked about.
std::string RunCostText(const CostQuestion& question, const Cluster& cluster,
                        const Evaluation& evaluation);

// Returns "40.31 days, 247,603 GPU-hours, 190.6 MWh, 718,049 USD".
std::string TotalsText(const TrainingCost& cost);
// Returns the same as days, gpu_hours, energy_mwh (null if it is not known), pue and, if they are
// known, cost_usd and energy_cost_usd.
nlohmann::ordered_json TotalsToJson(const CostRates& rates, const TrainingCost& cost);

// Prints both as lines that begin with a heading of ten columns: the second if tokens are asked
// about, the first if there are only prices, nothing if there is neither.
void PrintCost(const CostQuestion& question, const Cluster& cluster, const Evaluation& evaluation,
               std::ostream& out);

// Returns what the energy of a run assumes, or that it is not known.
std::string EnergyNote(const CostRates& rates, const Cluster& cluster,
                       const Evaluation& evaluation);

// "1T", "1.4T", "300B"; with three digits and without a suffix otherwise.
std::string CountText(double count);

}  // namespace stagecraft
