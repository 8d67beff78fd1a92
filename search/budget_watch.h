// BudgetWatch: how long a search has been going on, and whether its budget is used up.
#pragma once

#include <cstdint>

#include "search/solution.h"
#include "search/stopwatch.h"

namespace stagecraft {

// The clocks of a team's ranks differ, and a signal may reach them at different times. So the ranks
// decide by what they told each other in their last exchange: a search ends once any of them wants
// it to. All ranks must call IsSpent() and IsStopped() equally often, from one thread.
class BudgetWatch {
 public:
  // What one rank has to say.
  struct Opinion {
    bool is_late = false;     // its seconds are used up
    bool is_stopped = false;  // it was told to stop
  };

  // The clock starts now.
  explicit BudgetWatch(const Budget& budget) : budget_(budget) {}

  Team* team() const { return budget_.team; }
  double Seconds() const { return watch_.Seconds(); }

  // Returns whether the budget is used up after this many evaluations.
  bool IsSpent(int64_t evaluated);
  // Returns whether a stop of the search was requested (Budget::stop).
  bool IsStopped();

  // Return the same for this process alone. May be called from any thread.
  bool IsSpentHere(int64_t evaluated) const { return budget_.IsSpent(evaluated, Seconds()); }
  bool IsStoppedHere() const { return budget_.IsStopped(); }

  Opinion Own() const { return {budget_.IsLate(Seconds()), budget_.IsStopped()}; }
  // Takes the opinion that a rank, maybe this one, handed over in an exchange.
  void Hear(const Opinion& opinion);

 private:
  // Asks the other ranks, unless it has done so a moment ago.
  void Ask();

  const Budget& budget_;
  const Stopwatch watch_;
  Opinion agreed_;  // of any rank
  int calls_ = 0;   // since the last exchange
};

}  // namespace stagecraft
