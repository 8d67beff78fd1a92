// EventQueue: the pending events of a simulation, earliest first.
//
// It is a radix heap (Ahuja, Mehlhorn, Orlin, Tarjan, "Faster algorithms for the shortest path
// problem", JACM 1990): times never run backwards, so an event moves down at most 64 buckets in its
// life and most pushes are one append.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace stagecraft {

struct Event {
  int64_t time_ns;
  int32_t task;
};

class EventQueue {
 public:
  bool empty() const { return size_ == 0; }

  // Precondition: time_ns is not below the last time that PopAll() or NextTime() returned.
  void Push(int64_t time_ns, int32_t task) {
    buckets_[BucketOf(time_ns)].push_back({time_ns, task});
    is_peeked_ = false;
    ++size_;
  }

  // Returns the time of the earliest event. Precondition: the queue is not empty.
  int64_t NextTime() {
    if (buckets_[0].empty()) Refill();
    return last_ns_;
  }

  // Does the same, but earlier events may still be pushed afterwards.
  int64_t PeekTime() {
    if (!buckets_[0].empty()) return last_ns_;
    if (!is_peeked_) peek_ns_ = EarliestOf(LowestBucket());
    is_peeked_ = true;
    return peek_ns_;
  }

  // Moves every event of the earliest time into `events` (cleared first) and returns that time.
  // Events at the same time come in no particular order.
  int64_t PopAll(std::vector<Event>& events) {
    const int64_t now = NextTime();
    events.clear();
    events.swap(buckets_[0]);
    size_ -= events.size();
    return now;
  }

 private:
  int BucketOf(int64_t time_ns) const {
    return std::bit_width(static_cast<uint64_t>(time_ns ^ last_ns_));
  }

  // Returns the first bucket above 0 that holds events; no bucket above 0 holds an event that is
  // earlier than its earliest.
  std::vector<Event>& LowestBucket() {
    int lowest = 1;
    while (buckets_[lowest].empty()) ++lowest;
    return buckets_[lowest];
  }

  static int64_t EarliestOf(const std::vector<Event>& events) {
    int64_t earliest = events[0].time_ns;
    for (const Event& event : events) {
      if (event.time_ns < earliest) earliest = event.time_ns;
    }
    return earliest;
  }

  // Spreads the lowest bucket that holds events over the buckets below it; events of the earliest
  // time end up in bucket 0.
  void Refill() {
    std::vector<Event>& source = LowestBucket();
    last_ns_ = EarliestOf(source);
    is_peeked_ = false;
    for (const Event& event : source) buckets_[BucketOf(event.time_ns)].push_back(event);
    source.clear();
  }

  std::array<std::vector<Event>, 65> buckets_;
  int64_t last_ns_ = 0;
  int64_t peek_ns_ = 0;  // what PeekTime() found, if is_peeked_
  bool is_peeked_ = false;
  size_t size_ = 0;
};

}  // namespace stagecraft
