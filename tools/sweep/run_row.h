// RunRow: what is known of one point of a sweep, as a row of its database.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace stagecraft {

// kRefused: the flags contradict each other, the network or the cluster, or no plan was found.
enum class Outcome { kFits, kDoesNotFit, kRefused };
const char* Name(Outcome outcome);  // "fits", "does not fit", "refused"
// Returns no value for another text.
std::optional<Outcome> FindOutcome(const std::string& name);

// The results that are numbers, named as `simulate --json` names them.
enum class RunNumber {
  kStepTime,
  kStepTimeLow,
  kStepTimeHigh,
  kTokensPerSecond,
  kTokensPerSecondPerGpu,
  kSamplesPerSecond,
  kMfu,
  kHfu,
  kBubbleFraction,
  kPeakMemory,
  kMemoryShare,
  kGpus,
  kBound,     // of searches: no plan of the space takes less; 0 if nothing is known
  kEvaluated  // of searches: how many plans were evaluated
};
inline constexpr std::array kRunNumberNames = {"step_time_ms",
                                               "step_time_low_ms",
                                               "step_time_high_ms",
                                               "tokens_per_s",
                                               "tokens_per_s_per_gpu",
                                               "samples_per_s",
                                               "mfu",
                                               "hfu",
                                               "bubble_fraction",
                                               "peak_memory_gib",
                                               "memory_share",
                                               "gpus",
                                               "bound_ms",
                                               "evaluated"};
inline constexpr size_t kRunNumberCount = kRunNumberNames.size();

struct RunRow {
  int64_t point = 0;        // its number in the grid
  std::string inputs_hash;  // SHA-256 of all that the results depend on
  std::string result_hash;  // the first 16 digits of the SHA-256 of all results, also those that
                            // are no columns
  std::string flags;        // a JSON object: {"model":"gpt2","tp":"8"}
  Outcome outcome = Outcome::kRefused;
  std::string reason;  // why it does not fit or is refused; empty if it fits
  std::string plan;    // the choices that make it up, as text; empty if it is refused
  // Without a value where a plan that does not fit has none.
  std::array<std::optional<double>, kRunNumberCount> numbers;

  std::optional<double>& operator[](RunNumber number) {
    return numbers[static_cast<size_t>(number)];
  }
  const std::optional<double>& operator[](RunNumber number) const {
    return numbers[static_cast<size_t>(number)];
  }
  friend bool operator==(const RunRow&, const RunRow&) = default;
};

}  // namespace stagecraft
