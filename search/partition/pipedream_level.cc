#include "search/partition/pipedream_level.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

namespace stagecraft {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
// Returns the bytes that one of `replicas` machines sends to reduce `bytes` of gradients, by each
// rule's count.
double SyncBytes(PipeDreamRule rule, double bytes, int replicas) {
  return rule == PipeDreamRule::kCode ? 4.0 * (replicas - 1) * bytes / replicas
                                      : 2.0 * (replicas - 1) * bytes;
}

double DivideUp(int amount, int share) { return (amount + share - 1) / share; }

}  // namespace

PipeDreamLevel::PipeDreamLevel(const AntichainStates& states, const PipeDreamOptions& options,
                               const MachineLevel& level, int within, const TimeTable& one_machine)
    : states_(states),
      options_(options),
      level_(level),
      within_(within),
      one_machine_(one_machine) {}

PipeDreamLevel::Run PipeDreamLevel::RunOf(int begin, int end) const {
  const AntichainState& last = states_.states[end];
  Run run;
  Bytes activations = last.activations;
  Bytes parameters = last.parameters;
  if (begin > 0) {
    activations = activations - states_.states[begin - 1].activations;
    parameters = parameters - states_.states[begin - 1].parameters;
  }
  run.parameters = static_cast<double>(parameters.count());
  run.stash = static_cast<double>((activations + parameters).count());
  return run;
}

bool PipeDreamLevel::Fits(const Run& run, int used, int replicas) const {
  if (!options_.memory) return true;
  const double copies = DivideUp(level_.machines - used, replicas);
  return copies * run.stash <= static_cast<double>(options_.memory->count());
}

double PipeDreamLevel::FirstStage(int begin, int end, int replicas) const {
  const double compute = one_machine_(begin, end);
  if (compute == kNever) return kNever;
  const Run run = RunOf(begin, end);
  if (!Fits(run, replicas, replicas)) return kNever;
  const double sync =
      SyncBytes(options_.rule, run.parameters, replicas) / level_.bandwidth.bytes_per_s();
  return options_.rule == PipeDreamRule::kCode ? (compute + sync / within_) / replicas
                                               : std::max(compute, sync) / replicas;
}

double PipeDreamLevel::LaterStage(int begin, int end, int used, int replicas) const {
  const double compute = one_machine_(begin, end);
  if (compute == kNever) return kNever;
  const Run run = RunOf(begin, end);
  if (!Fits(run, used, replicas)) return kNever;
  const double bandwidth = level_.bandwidth.bytes_per_s();
  const double sync = SyncBytes(options_.rule, run.parameters, replicas) / bandwidth;
  const double input = 2.0 * static_cast<double>(states_.states[begin - 1].output.count());
  if (options_.rule == PipeDreamRule::kPaper) {
    return std::max(std::max(compute, sync) / replicas, input / bandwidth);
  }
  const double time = (compute + sync) / replicas;
  if (!options_.activation_compression) return time;
  const double output = end + 1 == states_.size()
                            ? 0.0
                            : 2.0 * static_cast<double>(states_.states[end].output.count());
  return std::max(
      time, std::max(input, output) / (bandwidth * replicas) / *options_.activation_compression);
}

TimeTable PipeDreamLevel::FirstStages(int rows, int replicas) const {
  TimeTable times = TimeTable::Constant(rows, states_.size(), kNever);
  for (int begin = 0; begin < rows; ++begin) {
    for (int end = begin; end < states_.size(); ++end) {
      times(begin, end) = FirstStage(begin, end, replicas);
    }
  }
  return times;
}

// Returns the times by (state before, last state): the right factor of the min-max product.
TimeTable PipeDreamLevel::LaterStages(int used, int replicas) const {
  TimeTable times = TimeTable::Constant(states_.size(), states_.size(), kNever);
  for (int before = 0; before + 1 < states_.size(); ++before) {
    for (int end = before + 1; end < states_.size(); ++end) {
      times(before, end) = LaterStage(before + 1, end, used, replicas);
    }
  }
  return times;
}

TimeTable PipeDreamLevel::Best(bool only_whole, const StopSign& stop) const {
  const int rows = only_whole ? 1 : states_.size();
  std::vector<TimeTable> best;  // by machines - 1
  std::map<std::pair<int, int>, TimeTable> later;
  for (int used = 1; used <= level_.machines; ++used) {
    stop.Check();
    best.push_back(MostReplicas(used) == used ? FirstStages(rows, used)
                                              : TimeTable::Constant(rows, states_.size(), kNever));
    if (used > 1 && options_.use_fewer_machines) {
      best.back() = best.back().min(best[used - 2]).eval();
    }
    for (int replicas = 1; replicas <= MostReplicas(used - 1); ++replicas) {
      // Without a limit of memory the number of machines behind the stage does not matter.
      const std::pair key(replicas, options_.memory ? used : 0);
      if (!later.contains(key)) later.emplace(key, LaterStages(used, replicas));
      ImproveByProduct(best[used - replicas - 1], later.at(key), best.back(), stop);
    }
    if (options_.memory) later.clear();
  }
  return best.back();
}

}  // namespace stagecraft
