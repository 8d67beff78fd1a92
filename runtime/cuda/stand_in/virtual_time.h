// VirtualTime: the work given to streams happens in the order of the streams, each at a time of its
// own.
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

// A kernel, a copy, or anything else that a stream does.
struct Work {
  std::string name;  // begins the sentence that says what is wrong with it
  Nanoseconds duration = 0;
  std::vector<Range> touched = {};    // memory of the device, which must be alive when it begins
  std::function<void()> effect = {};  // writes what the work leaves in memory
  // Marks memory of a pool as alive from now on, or as no longer alive.
  std::function<void()> ownership = {};
  // The program may look at its result, so it is done even if nothing is calculated
  // (StandInData::kChecked).
  bool is_answer = false;
  const volatile int* gate = nullptr;  // it ends when this is not zero, or after `duration`
  CUevent_st* records = nullptr;       // as a part of a graph, it records this event
};

// When something ends; below zero while that is not known.
struct Mark {
  Nanoseconds at = -1;
  bool is_known() const { return at >= 0; }
};
using MarkPointer = std::shared_ptr<Mark>;
using WorkPointer = std::shared_ptr<const Work>;

// The host has a clock too, which advances only by what the host spends and waits. A work begins
// when it was queued, the one before it in its stream has ended, and the mark for which it waits is
// reached; effects happen in the order of these times, whatever the order in which they were
// queued: a program that forgets to wait reads what was there before.
class VirtualTime {
 public:
  // Checks touched memory, just before an effect.
  using Check = std::function<void(const Work&)>;
  explicit VirtualTime(Check check) : check_(std::move(check)) {}

  Nanoseconds now() const { return now_; }
  // The host spends this time on a call. Gates that it opened during the call are open after it.
  void Spend(Nanoseconds time);

  // `before` is the end of what the stream was given before; nullptr: nothing.
  MarkPointer Queue(WorkPointer work, MarkPointer before, MarkPointer waited);
  // The host waits; a gate that only the host could open runs out.
  void WaitFor(const Mark& mark);
  void WaitForAll();
  bool IsOver(const Mark& mark);

  int gates_run_out() const { return gates_run_out_; }

 private:
  struct Queued {
    WorkPointer work;
    MarkPointer before, waited, end;
    Nanoseconds at;           // when it was queued
    Nanoseconds opened = -1;  // its gate
  };
  bool FindTimes(Queued& queued);
  void Settle();
  void RunOutGate();
  void Perform();

  Check check_;
  Nanoseconds now_ = 0, last_end_ = 0;
  std::list<Queued> queued_;  // whose times are not known, in the order in which they came
  std::list<Queued*> gates_;  // among them, still closed
  std::map<std::pair<Nanoseconds, int64_t>, WorkPointer> timed_;  // not yet done, by their begin
  int64_t count_ = 0;
  int gates_run_out_ = 0;
};

}  // namespace stagecraft::stand_in
