#include "sim/job/job_run.h"

#include <fmt/core.h>
#include <oneapi/tbb/parallel_for.h>

#include <atomic>
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
  want(spec.nodes_per_rack >= 0, "nodes_per_rack", spec.nodes_per_rack, "0 or more");
  for (size_t i = 0; i < spec.network_changes.size(); ++i) {
    want(spec.network_changes[i].step > (i == 0 ? 0 : spec.network_changes[i - 1].step),
         "network_changes", spec.network_changes[i].step, "ascending steps above 0");
    want(spec.network_changes[i].cost >= Duration(), "network_changes",
         spec.network_changes[i].cost.seconds(), "costs of 0 s or more");
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

void SimulateRun(const RunSpec& spec, Random random, History* history) {
  CHECK(FindErrors(spec).empty());
  const RunSetup setup(spec);
  StepMemo memo(spec.step, spec.replan);
  SimulatedRun run(setup, &memo, random, /*keeps_phases=*/true);
  try {
    run.Simulate();
  } catch (const std::exception& error) {
    *history = run.TakeHistory(error.what());
    throw;
  }
  *history = run.TakeHistory("");
}

History SimulateRun(const RunSpec& spec, Random random) {
  History history;
  SimulateRun(spec, random, &history);
  return history;
}

std::vector<RunTotals> SimulateRuns(const RunSpec& spec, int runs, Random random) {
  CHECK(FindErrors(spec).empty());
  const RunSetup setup(spec);
  StepMemo memo(spec.step, spec.replan);
  std::vector<RunTotals> totals(static_cast<size_t>(runs));
  std::vector<std::exception_ptr> errors(totals.size());
  std::atomic<size_t> first_error = totals.size();
  tbb::parallel_for(size_t{0}, totals.size(), [&](size_t number) {
    if (number > first_error) return;  // Nobody will see it.
    try {
      SimulatedRun run(setup, &memo, random.Child("history", number), /*keeps_phases=*/false);
      run.Simulate();
      totals[number] = run.TakeHistory("").totals;
    } catch (...) {
      errors[number] = std::current_exception();
      size_t first = first_error;
      while (number < first && !first_error.compare_exchange_weak(first, number)) {
      }
    }
  });
  if (first_error < totals.size()) std::rethrow_exception(errors[first_error]);
  return totals;
}

}  // namespace stagecraft
