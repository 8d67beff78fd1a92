// VirtualTime: does the work of streams in their order, each work at its own virtual time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

struct CUevent_st;  // an event of CUDA's runtime

namespace stagecraft::stand_in {

using Nanoseconds = int64_t;

struct Range {
  const std::byte* begin = nullptr;
  size_t bytes = 0;
};

// A kernel, a copy, or any other work of a stream.
struct Work {
  std::string name;  // begins the sentence that reports a fault
  Nanoseconds duration = 0;
  std::vector<Range> touched = {};    // device memory that must be alive when the work begins
  std::function<void()> effect = {};  // writes what the work leaves in memory
  // Makes memory of a pool alive from now on, or ends its life.
  std::function<void()> ownership = {};
  // Whether the program may read its result, so that it is done even if nothing is calculated
  // (StandInData::kChecked).
  bool is_answer = false;
  const volatile int* gate = nullptr;  // the work ends when this is not zero, or after `duration`
  CUevent_st* records = nullptr;       // the event that this work of a graph records
};

// When something ends; negative while that is not known.
struct Mark {
  Nanoseconds at = -1;
  bool is_known() const { return at >= 0; }
};
using MarkPointer = std::shared_ptr<Mark>;
using WorkPointer = std::shared_ptr<const Work>;

// The host has a clock, too, which advances only by its calls and waits. A work begins when it has
// been queued, the one before it in its stream has ended, and the mark for which it waits is
// reached. Effects happen in the order of these times, whatever the order in which works were
// queued: a program that forgets to wait reads what was in memory before.
class VirtualTime {
 public:
  // Checks the memory that a work touches, just before its effect.
  using Check = std::function<void(const Work&)>;
  explicit VirtualTime(Check check) : check_(std::move(check)) {}

  Nanoseconds now() const { return now_; }
  // Spends this time of the host on a call. Gates that the host opened during the call are open
  // after it.
  void Spend(Nanoseconds time);

  // Queues a work and returns its end. `before` is the end of the last work in its stream; nullptr:
  // none.
  MarkPointer Queue(WorkPointer work, MarkPointer before, MarkPointer waited);
  // Lets the host wait. A gate that only the host could open runs out.
  void WaitFor(const Mark& mark);
  void WaitForAll();
  bool IsOver(const Mark& mark);

  int gates_run_out() const { return gates_run_out_; }

 private:
  struct Queued {
    WorkPointer work;
    MarkPointer before, waited, end;
    Nanoseconds at;           // when the work was queued
    Nanoseconds opened = -1;  // when its gate was opened
  };
  bool FindTimes(Queued& queued);
  void Settle();
  void RunOutGate();
  void Perform();

  Check check_;
  Nanoseconds now_ = 0, last_end_ = 0;
  std::list<Queued> queued_;  // those without known times, in the order of Queue()
  std::list<Queued*> gates_;  // those of them whose gate is still closed
  std::map<std::pair<Nanoseconds, int64_t>, WorkPointer> timed_;  // not yet done, by their begin
  int64_t count_ = 0;
  int gates_run_out_ = 0;
};

}  // namespace stagecraft::stand_in
