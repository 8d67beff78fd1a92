// RunProfiler: measures the cases of a suite, one after another.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "costmodel/learned/sample.h"
#include "costmodel/units.h"
#include "runtime/profile/measuring.h"
#include "runtime/profile/op_timer.h"
#include "runtime/profile/profile_case.h"

namespace stagecraft {

struct ProfilerOptions {
  std::string gpu;     // id of the samples' GPU type in the device catalogue
  std::string source;  // of the samples
  uint64_t seed = 1;   // for the order, so that no drift correlates with the sizes of ops
  MeasuringRules rules;
  Duration budget = Duration::Max();  // no further op begins once it is used up
  // How long the device may cool before a throttled op is measured again, and how often it is
  // measured.
  Duration cooling = Duration::Nanoseconds(2'000'000'000);
  int most_tries = 3;
  // If this many ops in a row were throttled at every try, the device is assumed to stay throttled:
  // what it measures from then on is kept at the first try, with ", throttled" in the software of
  // the sample.
  int most_given_up = 5;
  const std::atomic<bool>* stop = nullptr;  // true: no further op begins
};

// The clock of the profiler; tests have one of their own.
class ProfilerClock {
 public:
  virtual ~ProfilerClock() = default;
  virtual Duration Elapsed() = 0;
  virtual void Sleep(Duration time) = 0;
};

struct ProfileProgress {
  size_t done = 0, all = 0;  // cases of this suite, including those of earlier runs
  Duration elapsed;
  const ProfileCase* next = nullptr;
  DeviceState state;  // state of the device at the last op
};

struct ProfileOutcome {
  size_t measured = 0;
  size_t already = 0;                     // cases in `done`
  size_t left = 0;                        // cases not begun because of budget or stop
  size_t throttled = 0;                   // measured only while throttled, so without a sample
  size_t measured_hot = 0;                // of those measured, while the device stayed throttled
  std::map<std::string, size_t> refused;  // by reason
  // By kind of op, whether any of its cases can be run, for every kind that was tried or was
  // measured before. If none can, a library is missing rather than a format.
  std::map<OpKind, bool> runs;

  void Refuse(const ProfileCase& one, const std::string& reason) {
    ++refused[reason];
    runs.try_emplace(one.op.kind, false);
  }
  void Accept(const ProfileCase& one) { runs[one.op.kind] = true; }
};

// Measures the cases that are not in `done`. Passes each sample to `keep` as soon as its case and
// those measured in turn with it have had their turns, or as many turns as the budget allowed.
ProfileOutcome RunProfiler(std::span<const ProfileCase> suite,
                           const std::unordered_set<ProfileCase>& done, OpTimer& timer,
                           const ProfilerOptions& options, ProfilerClock& clock,
                           const std::function<void(const Sample&)>& keep,
                           const std::function<void(const ProfileProgress&)>& show);

// Returns a random permutation of 0 .. size - 1.
std::vector<size_t> ShuffledOrder(size_t size, uint64_t seed);

}  // namespace stagecraft
