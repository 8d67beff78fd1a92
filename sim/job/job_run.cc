#include "sim/job/job_run.h"

#include <fmt/core.h>
#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <cstddef>
#include <exception>

#include "costmodel/check.h"
#include "sim/job/simulated_run.h"
#include "sim/job/step_memo.h"

namespace stagecraft {

std::vector<std::string> FindErrors(const RunSpec& spec) {
  std::vector<std::string> errors;
  const auto want = [&errors](bool is_right, const char* key, const auto& got, const char* wanted) {
    if (!is_right) errors.push_back(fmt::format("{}: got {}, want {}", key, got, wanted));
  };
  const auto want_time = [&want](const char* key, Duration time) {
    want(time >= Duration() && time <= kLongestTime, key, fmt::format("{} s", time.seconds()),
         "from 0 s to 100 years");
  };
  want(spec.steps > 0, "steps", spec.steps, "above 0");
  for (size_t i = 0; i < spec.network_changes.size(); ++i) {
    want(spec.network_changes[i] > (i == 0 ? 0 : spec.network_changes[i - 1]), "network_changes",
         spec.network_changes[i], "ascending steps above 0");
  }
  for (size_t i = 0; i < spec.devices.size(); ++i) {
    const int device = spec.devices[i];
    want(device >= 0 && device < spec.cluster->device_count() &&
             (i == 0 || device > spec.devices[i - 1]),
         "devices", device, "ascending devices of the cluster");
  }
  want_time("checkpoint.interval", spec.checkpoint.interval);
  want_time("checkpoint.write", spec.checkpoint.write);
  want(spec.checkpoint.slowdown >= 0 && spec.checkpoint.slowdown < 1, "checkpoint.slowdown",
       spec.checkpoint.slowdown, "from 0 to below 1");
  const Recovery& recovery = spec.recovery;
  want_time("recovery.detection", recovery.detection);
  want_time("recovery.restart", recovery.restart);
  want_time("recovery.reload", recovery.reload);
  want_time("recovery.swap", recovery.swap);
  want(recovery.spare_nodes >= 0, "recovery.spare_nodes", recovery.spare_nodes, "0 or more");
  want(recovery.policy != Recovery::Policy::kReplan || spec.replan != nullptr, "replan", "none",
       "a function that finds plans");
  return errors;
}

History SimulateRun(const RunSpec& spec, Random random) {
  CHECK(FindErrors(spec).empty());
  const RunSetup setup(spec);
  StepMemo memo(spec.step, spec.replan);
  return SimulatedRun(setup, &memo, random, /*keeps_phases=*/true).Simulate();
}

std::vector<RunTotals> SimulateRuns(const RunSpec& spec, int runs, Random random) {
  CHECK(FindErrors(spec).empty());
  const RunSetup setup(spec);
  StepMemo memo(spec.step, spec.replan);
  std::vector<RunTotals> totals(static_cast<size_t>(runs));
  std::vector<std::exception_ptr> errors(totals.size());
  tbb::parallel_for(size_t{0}, totals.size(), [&](size_t run) {
    try {
      totals[run] = SimulatedRun(setup, &memo, random.Child("history", run), /*keeps_phases=*/false)
                        .Simulate()
                        .totals;
    } catch (...) {
      errors[run] = std::current_exception();
    }
  });
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
  return totals;
}

}  // namespace stagecraft
