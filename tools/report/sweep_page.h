// SweepPage: the points of a sweep as an HTML page that needs no other file.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace stagecraft {

// A point of a sweep and its results.
struct SweepPoint {
  std::map<std::string, std::string> flags;  // "tp": "8"
  std::string outcome = "fits";              // or what else it came to: "does not fit", "refused"
  // Without a value where a point that does not fit has none.
  std::optional<double> gpus, step_time_ms, tokens_per_s, peak_memory_gib;
};

// The most points of a chart; of more it shows evenly spaced ones, and all that none beats.
inline constexpr size_t kMostSweepPoints = 20'000;

// Returns a page with throughput over GPUs and over memory, with the points that no other beats in
// both; for each flag that takes several values, the best throughput per GPU with each of them; and
// how many points came to what. `origin` says in plain text what was swept. Same input, same bytes.
std::string SweepPage(const std::vector<SweepPoint>& points, const std::string& origin);

}  // namespace stagecraft
