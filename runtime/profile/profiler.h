// Measures the cases of a suite one after another.
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
  std::string gpu;     // of the samples: id in the device catalogue
  std::string source;  // of the samples
  uint64_t seed = 1;   // of the order: no drift of the device correlates with the sizes of ops
  MeasuringRules rules;
  Duration budget = Duration::Max();  // no further op once it is used up
  // How long the device may cool before a throttled op is measured again, and how often.
  Duration cooling = Duration::Nanoseconds(2'000'000'000);
  int most_tries = 3;
  // After this many ops in a row that were throttled at every try the device is taken to stay so:
  // what it measures then is kept at the first try, with ", throttled" in the software of the
  // sample.
  int most_given_up = 5;
  const std::atomic<bool>* stop = nullptr;  // true: no further op
};

// Time as the profiler sees it: tests have a clock of their own.
class ProfilerClock {
 public:
  virtual ~ProfilerClock() = default;
  virtual Duration Elapsed() = 0;
  virtual void Sleep(Duration time) = 0;
};

struct ProfileProgress {
  size_t done = 0, all = 0;  // of this suite, including earlier runs
  Duration elapsed;
  const ProfileCase* next = nullptr;
  DeviceState state;  // of the last one
};

struct ProfileOutcome {
  size_t measured = 0;
  size_t already = 0;                     // in `done`
  size_t left = 0;                        // budget or stop came before them
  size_t throttled = 0;                   // measured only by a throttled device: no sample
  size_t measured_hot = 0;                // of those measured, by a device that stays throttled
  std::map<std::string, size_t> refused;  // by reason
  // Whether any case of a kind of op can be run, for every kind that was tried or was measured
  // before. If none can, a library is missing rather than a format.
  std::map<OpKind, bool> runs;

  void Refuse(const ProfileCase& one, const std::string& reason) {
    ++refused[reason];
    runs.try_emplace(one.op.kind, false);
  }
  void Accept(const ProfileCase& one) { runs[one.op.kind] = true; }
};

// Passes each sample to `keep` as soon as its case and those measured in turn with it have had
// their turns, or as many as the budget allowed. Cases in `done` are not measured again.
ProfileOutcome RunProfiler(std::span<const ProfileCase> suite,
                           const std::unordered_set<ProfileCase>& done, OpTimer& timer,
                           const ProfilerOptions& options, ProfilerClock& clock,
                           const std::function<void(const Sample&)>& keep,
                           const std::function<void(const ProfileProgress&)>& show);

// A permutation of 0 .. size - 1.
std::vector<size_t> ShuffledOrder(size_t size, uint64_t seed);

}  // namespace stagecraft
