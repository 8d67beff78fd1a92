#include "runtime/cuda/stand_in/virtual_time.h"

#include <algorithm>

#include "costmodel/check.h"

namespace stagecraft::stand_in {

void VirtualTime::Spend(Nanoseconds time) {
  now_ += time;
  std::erase_if(gates_, [this](Queued* gate) {
    if (*gate->work->gate == 0) return false;
    gate->opened = now_;
    return true;
  });
}

MarkPointer VirtualTime::Queue(WorkPointer work, MarkPointer before, MarkPointer waited) {
  queued_.push_back({.work = std::move(work),
                     .before = std::move(before),
                     .waited = std::move(waited),
                     .end = std::make_shared<Mark>(),
                     .at = now_});
  if (queued_.back().work->gate != nullptr) gates_.push_back(&queued_.back());
  return queued_.back().end;
}

bool VirtualTime::FindTimes(Queued& queued) {
  Nanoseconds begin = queued.at;
  for (const MarkPointer& mark : {queued.before, queued.waited}) {
    if (mark == nullptr) continue;
    if (!mark->is_known()) return false;
    begin = std::max(begin, mark->at);
  }
  Nanoseconds end = begin + queued.work->duration;
  if (queued.work->gate != nullptr) {
    if (queued.opened < 0) return false;
    end = std::clamp(queued.opened, begin, end);
  }
  queued.end->at = end;
  last_end_ = std::max(last_end_, end);
  const bool leaves_traces =
      queued.work->effect || queued.work->ownership || !queued.work->touched.empty();
  if (leaves_traces) timed_.emplace(std::pair(begin, count_++), queued.work);
  return true;
}

// Finds all times that can be known. One pass is enough, since no work waits for one that was
// queued later.
void VirtualTime::Settle() {
  std::erase_if(queued_, [this](Queued& queued) { return FindTimes(queued); });
}

void VirtualTime::RunOutGate() {
  CHECK(!gates_.empty());
  Queued& gate = *gates_.front();
  gates_.pop_front();
  gate.opened = std::max(now_, gate.at) + gate.work->duration;
  ++gates_run_out_;
}

void VirtualTime::WaitFor(const Mark& mark) {
  Settle();
  while (!mark.is_known()) {
    RunOutGate();
    Settle();
  }
  now_ = std::max(now_, mark.at);
  Perform();
}

void VirtualTime::WaitForAll() {
  Settle();
  while (!queued_.empty()) {
    RunOutGate();
    Settle();
  }
  now_ = std::max(now_, last_end_);
  Perform();
}

bool VirtualTime::IsOver(const Mark& mark) {
  Settle();
  Perform();
  return mark.is_known() && mark.at <= now_;
}

// Does the work that begins up to now. What begins later may still be preceded by work that is
// queued from now on.
void VirtualTime::Perform() {
  while (!timed_.empty() && timed_.begin()->first.first <= now_) {
    const WorkPointer work = timed_.begin()->second;
    timed_.erase(timed_.begin());
    check_(*work);
    if (work->effect) work->effect();
    if (work->ownership) work->ownership();
  }
}

}  // namespace stagecraft::stand_in
