#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "costmodel/check.h"
#include "costmodel/json_to_proto.h"
#include "tools/trace/check_trace.h"

namespace stagecraft {
namespace {

using Json = nlohmann::json;

// A complete slice, in nanoseconds.
struct Slice {
  int64_t begin = 0;
  int64_t end = 0;
  size_t event = 0;
};

// An event that begins ("B") or ends ("E") a slice.
struct Mark {
  int64_t time = 0;
  bool begins = false;
  size_t event = 0;
};

class Checker {
 public:
  // `place` is where the list of events is; errors begin with it.
  explicit Checker(std::string place) : place_(std::move(place)) {}

  std::string Check(const Json& events) {
    for (event_ = 0; event_ < events.size(); ++event_) Read(events[event_]);
    for (auto& [thread, marks] : marks_) Pair(marks, &slices_[thread]);
    int64_t count = 0;
    for (auto& [thread, slices] : slices_) {
      count += static_cast<int64_t>(slices.size());
      CheckNesting(slices);
    }
    return fmt::format("{} events, {} slices on {} threads", events.size(), count, slices_.size());
  }

 private:
  [[noreturn]] void Fail(const std::string& problem) const {
    throw InputError(fmt::format("{}[{}]: {}", place_, event_, problem));
  }

  int64_t Nanoseconds(const Json& event, const char* key) const {
    constexpr double kMostMicroseconds = 9e15;  // as nanoseconds they still fit into 64 bits
    if (!event.contains(key) || !event[key].is_number()) {
      Fail(fmt::format("{}: got no number, want microseconds", key));
    }
    const double value = event[key].get<double>();
    if (!(std::abs(value) <= kMostMicroseconds)) {
      Fail(fmt::format("{}: got {}, want microseconds", key, value));
    }
    return std::llround(value * 1000);
  }

  // The process and thread of an event, whether they are numbers or names.
  static std::string Thread(const Json& event) {
    return event.value("pid", Json(0)).dump() + "/" + event.value("tid", Json(0)).dump();
  }

  void Read(const Json& event) {
    if (!event.is_object() || !event.contains("ph") || !event["ph"].is_string()) {
      Fail("ph: got none, want an event with a phase");
    }
    const std::string phase = event["ph"].get<std::string>();
    if (phase == "M") return;  // a name, which needs no time
    const int64_t begin = Nanoseconds(event, "ts");
    if (phase == "X") {
      const int64_t duration = event.contains("dur") ? Nanoseconds(event, "dur") : 0;
      if (duration < 0) Fail("dur: got less than zero, want microseconds >= 0");
      slices_[Thread(event)].push_back({begin, begin + duration, event_});
    } else if (phase == "B" || phase == "E") {
      marks_[Thread(event)].push_back({begin, phase == "B", event_});
    }
  }

  // Pairs marks as viewers do: in order of time, whatever their order in the file; those of one
  // instant in the file's order.
  void Pair(std::vector<Mark>& marks, std::vector<Slice>* slices) {
    std::stable_sort(marks.begin(), marks.end(),
                     [](const Mark& a, const Mark& b) { return a.time < b.time; });
    std::vector<Mark> open;
    for (const Mark& mark : marks) {
      event_ = mark.event;
      if (mark.begins) {
        open.push_back(mark);
        continue;
      }
      if (open.empty()) Fail("ph: got an \"E\", but no slice of its thread is open");
      slices->push_back({open.back().time, mark.time, open.back().event});
      open.pop_back();
    }
    if (open.empty()) return;
    event_ = open.back().event;
    Fail("ph: got a slice that begins (\"B\") and never ends, want an \"E\"");
  }

  void CheckNesting(std::vector<Slice>& slices) {
    std::sort(slices.begin(), slices.end(), [](const Slice& a, const Slice& b) {
      if (a.begin != b.begin) return a.begin < b.begin;
      return a.end != b.end ? a.end > b.end : a.event < b.event;
    });
    std::vector<int64_t> ends;
    for (const Slice& slice : slices) {
      while (!ends.empty() && ends.back() <= slice.begin) ends.pop_back();
      if (!ends.empty() && slice.end > ends.back()) {
        event_ = slice.event;
        Fail(
            fmt::format("dur: got an end at {} ns, want one no later than the {} ns of the slice "
                        "it begins in",
                        slice.end, ends.back()));
      }
      ends.push_back(slice.end);
    }
  }

  std::string place_;
  size_t event_ = 0;
  std::map<std::string, std::vector<Slice>> slices_;  // by thread
  std::map<std::string, std::vector<Mark>> marks_;
};

}  // namespace

std::string CheckChromeTrace(const std::string& text, const std::string& file) {
  const Json trace = ParseJson(text, file);
  if (trace.is_array()) return Checker(file + ": ").Check(trace);
  if (!trace.is_object() || !trace.contains("traceEvents") || !trace["traceEvents"].is_array()) {
    throw InputError(file + ": traceEvents: got none, want an array of events");
  }
  return Checker(file + ": traceEvents").Check(trace["traceEvents"]);
}

}  // namespace stagecraft
