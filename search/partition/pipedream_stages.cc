#include "search/partition/pipedream_stages.h"

#include <limits>
#include <utility>

#include "costmodel/check.h"
#include "search/partition/node_set.h"

namespace stagecraft {
namespace {

// Tail counts what is still to come behind a state; less is better.
struct Tail {
  int stages = std::numeric_limits<int>::max();
  int machines = 0;
  friend auto operator<=>(const Tail&, const Tail&) = default;
};

struct Cut {
  int last = 0;  // state
  int replicas = 0;
};

// StageChooser finds the stages of one level: stages of at most `limit` seconds, as few as
// possible.
class StageChooser {
 public:
  StageChooser(const AntichainStates& states, const PipeDreamOptions& options,
               const PipeDreamLevel& level, double limit, int begin, int end)
      : states_(states),
        options_(options),
        level_(level),
        limit_(limit),
        begin_(begin),
        end_(end),
        tails_((end - begin + 1) * level.machines()) {}

  std::vector<Cut> Choose(const StopSign& stop) {
    for (int last = end_; last >= begin_; --last) {
      for (int used = level_.machines(); used >= 1; --used) {
        stop.Check();
        TailAt(last, used) = BestTail(last, used);
      }
    }
    std::vector<Cut> cuts;
    int before = begin_ - 1;
    int used = 0;
    while (before < end_) {
      const auto [tail, cut, spent] = BestStep(before, used);
      CHECK(tail.stages < std::numeric_limits<int>::max());
      cuts.push_back(cut);
      before = cut.last;
      used = spent;
    }
    return cuts;
  }

 private:
  struct Step {
    Tail tail;
    Cut cut;
    int used = 0;
  };

  Tail& TailAt(int last, int used) {
    return tails_[(last - begin_) * level_.machines() + used - 1];
  }

  Tail BestTail(int last, int used) {
    if (last == end_) {
      const bool is_complete = options_.use_fewer_machines || used == level_.machines();
      return is_complete ? Tail{.stages = 0} : Tail{};
    }
    return BestStep(last, used).tail;
  }

  // Returns the next stage behind state `before` if `used` machines are taken: the best by (tail,
  // last state, replicas). For the first stage, `before` is begin - 1 and `used` is 0.
  Step BestStep(int before, int used) {
    const bool is_first = before < begin_;
    Step best;
    const int idle = options_.use_fewer_machines ? level_.machines() - used - 1 : 0;
    for (int last = before + 1; last <= end_; ++last) {
      if (!is_first && !states_.states[last].earlier.test(before)) continue;
      for (int skipped = 0; skipped <= idle; ++skipped) {
        Try(before, last, used + skipped, best);
      }
    }
    return best;
  }

  void Try(int before, int last, int used, Step& best) {
    const bool is_first = before < begin_;
    const int most = level_.MostReplicas(level_.machines() - used);
    for (int replicas = 1; replicas <= most; ++replicas) {
      Tail tail = TailAt(last, used + replicas);
      if (tail.stages == std::numeric_limits<int>::max()) continue;
      tail = {tail.stages + 1, tail.machines + replicas};
      if (tail >= best.tail) continue;
      const double time = is_first ? level_.FirstStage(begin_, last, replicas)
                                   : level_.LaterStage(before + 1, last, used + replicas, replicas);
      if (time <= limit_) best = {tail, {last, replicas}, used + replicas};
    }
  }

  const AntichainStates& states_;
  const PipeDreamOptions& options_;
  const PipeDreamLevel& level_;
  const double limit_;
  const int begin_;
  const int end_;
  std::vector<Tail> tails_;  // by state and machines used
};

NodeSet Between(const AntichainStates& states, int begin, int end) {
  const NodeSet& done = states.states[end].done;
  return begin == 0 ? done : done - states.states[begin - 1].done;
}

}  // namespace

std::vector<PipeDreamStage> FindStages(const AntichainStates& states,
                                       const PipeDreamOptions& options,
                                       std::span<const PipeDreamLevel> levels,
                                       const std::deque<TimeTable>& times, int begin, int end,
                                       const StopSign& stop) {
  if (levels.empty()) return {};
  const double limit = times[levels.size()](begin, end);
  std::vector<PipeDreamStage> stages;
  StageChooser chooser(states, options, levels.back(), limit, begin, end);
  for (const Cut& cut : chooser.Choose(stop)) {
    PipeDreamStage stage;
    stage.nodes = Between(states, begin, cut.last);
    stage.replicas = cut.replicas;
    stage.inside =
        FindStages(states, options, levels.first(levels.size() - 1), times, begin, cut.last, stop);
    stages.push_back(std::move(stage));
    begin = cut.last + 1;
  }
  return stages;
}

}  // namespace stagecraft
