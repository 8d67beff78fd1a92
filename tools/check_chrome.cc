#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "costmodel/check.h"
#include "costmodel/json_to_proto.h"
#include "tools/check_trace.h"

namespace stagecraft {
namespace {

using Json = nlohmann::json;

// A complete slice, in nanoseconds.
struct Slice {
  int64_t begin = 0;
  int64_t end = 0;
  size_t event = 0;
};

class Checker {
 public:
  explicit Checker(const std::string& file) : file_(file) {}

  std::string Check(const Json& events) {
    for (event_ = 0; event_ < events.size(); ++event_) Read(events[event_]);
    int64_t count = 0;
    for (auto& [thread, slices] : slices_) {
      count += static_cast<int64_t>(slices.size());
      CheckNesting(slices);
    }
    for (const auto& [thread, open] : open_) {
      if (open.empty()) continue;
      event_ = open.back().event;
      Fail("ph: got a slice that begins (\"B\") and never ends, want an \"E\"");
    }
    return fmt::format("{} events, {} slices on {} threads", events.size(), count, slices_.size());
  }

 private:
  [[noreturn]] void Fail(const std::string& problem) const {
    throw InputError(fmt::format("{}: traceEvents[{}]: {}", file_, event_, problem));
  }

  int64_t Nanoseconds(const Json& event, const char* key) const {
    constexpr double kMostMicroseconds = 9e15;  // in nanoseconds still 64 bits
    if (!event.contains(key) || !event[key].is_number()) {
      Fail(fmt::format("{}: got no number, want microseconds", key));
    }
    const double value = event[key].get<double>();
    if (!(std::abs(value) <= kMostMicroseconds)) {
      Fail(fmt::format("{}: got {}, want microseconds", key, value));
    }
    return std::llround(value * 1000);
  }

  // Process and thread, whether numbers or names.
  static std::string Thread(const Json& event) {
    return event.value("pid", Json(0)).dump() + "/" + event.value("tid", Json(0)).dump();
  }

  void Read(const Json& event) {
    if (!event.is_object() || !event.contains("ph") || !event["ph"].is_string()) {
      Fail("ph: got none, want an event with a phase");
    }
    const std::string phase = event["ph"].get<std::string>();
    if (phase == "M") return;  // names; need no time
    const int64_t begin = Nanoseconds(event, "ts");
    if (phase == "X") {
      const int64_t duration = event.contains("dur") ? Nanoseconds(event, "dur") : 0;
      if (duration < 0) Fail("dur: got less than zero, want microseconds >= 0");
      slices_[Thread(event)].push_back({begin, begin + duration, event_});
    } else if (phase == "B") {
      open_[Thread(event)].push_back({begin, begin, event_});
    } else if (phase == "E") {
      std::vector<Slice>& open = open_[Thread(event)];
      if (open.empty()) Fail("ph: got an \"E\", but no slice of its thread is open");
      Slice slice = open.back();
      open.pop_back();
      slice.end = begin;
      if (slice.end < slice.begin) Fail("ts: got an end before its beginning");
      slices_[Thread(event)].push_back(slice);
    }
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

  std::string file_;
  size_t event_ = 0;
  std::map<std::string, std::vector<Slice>> slices_, open_;
};

}  // namespace

std::string CheckChromeTrace(const std::string& text, const std::string& file) {
  const Json trace = ParseJson(text, file);
  if (!trace.is_object() || !trace.contains("traceEvents") || !trace["traceEvents"].is_array()) {
    throw InputError(file + ": traceEvents: got none, want an array of events");
  }
  return Checker(file).Check(trace["traceEvents"]);
}

}  // namespace stagecraft
