#include "sim/step/evaluation_errors.h"

#include <fmt/core.h>

#include <cmath>
#include <stdexcept>
#include <utility>

#include "costmodel/units.h"
#include "sim/analysis/breakdown.h"
#include "sim/memory/stage_memory.h"
#include "sim/step/peak_share.h"

namespace stagecraft {
namespace {

// How far rounding may bring a share, which is a sum of rounded numbers, beyond its limit.
constexpr double kRounding = 1e-9;

using Errors = std::vector<std::string>;

void FindTimeErrors(const Evaluation& e, Errors& errors) {
  const double step = e.step_time.seconds();
  if (e.step_time <= Duration() || e.step_time > kLongestTime) {
    errors.push_back(fmt::format("the step takes {:.3g} s", step));
    return;
  }
  if (e.step_time_high > kLongestTime) {
    errors.push_back(fmt::format("the 80 % interval ends at {:.3g} s", e.step_time_high.seconds()));
  }
  const double slack = step * kRounding;  // the three are rounded separately
  if (e.step_time_low < Duration() || e.step_time_low.seconds() > step + slack ||
      e.step_time_high.seconds() < step - slack) {
    errors.push_back(fmt::format("a step of {:.3g} s lies between {:.3g} and {:.3g} s", step,
                                 e.step_time_low.seconds(), e.step_time_high.seconds()));
  }
  const Breakdown& b = e.profile.breakdown;
  Duration sum;
  for (const auto& [name, part] :
       std::vector<std::pair<const char*, Duration>>{{"compute", b.compute},
                                                     {"tp", b.tensor},
                                                     {"pp", b.pipeline},
                                                     {"dp", b.data},
                                                     {"cp", b.context},
                                                     {"ep", b.expert},
                                                     {"optimizer", b.optimizer},
                                                     {"bubble", b.bubble}}) {
    if (part < Duration() || part > e.step_time) {
      errors.push_back(
          fmt::format("{} takes {:.3g} of {:.3g} s of the step", name, part.seconds(), step));
    }
    sum += part;
  }
  if (sum != e.step_time) {
    errors.push_back(
        fmt::format("the parts of the step add up to {} of its {} ns", sum.ns(), e.step_time.ns()));
  }
}

void FindWaitErrors(const Evaluation& e, Errors& errors) {
  for (const auto& [what, time] : std::vector<std::pair<const char*, Duration>>{
           {"CPU launch overhead is", e.profile.host_wait},
           {"the time that no shared interface delays takes", e.unshared_time}}) {
    if (time >= Duration() && time <= e.step_time) continue;
    errors.push_back(fmt::format("{} {:.3g} of {:.3g} s of the step", what, time.seconds(),
                                 e.step_time.seconds()));
  }
}

void FindShareErrors(const StepProfile& profile, Errors& errors) {
  if (!(profile.bubble_fraction >= 0 && profile.bubble_fraction <= 1 + kRounding)) {
    errors.push_back(
        fmt::format("{:.3g} % of the compute lanes are idle", 100 * profile.bubble_fraction));
  }
  if (!(profile.spread >= 0 && std::isfinite(profile.spread))) {
    errors.push_back(fmt::format("the logarithm of its time varies by {:.3g}", profile.spread));
  }
  double sum = 0;
  for (const double share : profile.basis_share) {
    sum += share;
    if (share >= 0 && share <= 1 + kRounding) continue;
    errors.push_back(fmt::format("{:.3g} % of the time rests on one basis", 100 * share));
  }
  if (!(std::abs(sum - 1) <= kRounding)) {
    errors.push_back(fmt::format("{:.6g} % of the time rests on all bases together", 100 * sum));
  }
}

void FindMemoryErrors(const Evaluation& e, Errors& errors) {
  bool fits = true;
  for (const StageMemory& stage : e.memory) {
    fits = fits && stage.fits();
    for (const Bytes part :
         {stage.weights, stage.gradients, stage.optimizer, stage.activations, stage.workspace,
          stage.communication, stage.framework, stage.fragmentation, stage.allocated, stage.host}) {
      if (part >= Bytes()) continue;
      errors.push_back(fmt::format("stage {} holds {} bytes", stage.stage, part.count()));
    }
  }
  if (fits != e.fits)
    errors.push_back("the plan is reported to fit although a stage does not, or the reverse");
}

void FindArithmeticErrors(const Evaluation& e, const PeakShare& share, Errors& errors) {
  const bool is_counted = e.model_flops.count() >= 0 && e.hardware_flops >= e.model_flops;
  const bool is_possible = share.model >= 0 && share.hardware <= 1 + kRounding;
  if (is_counted && is_possible && std::isfinite(e.mfu()) && std::isfinite(e.hfu())) return;
  errors.push_back(fmt::format(
      "{:.3g} FLOPs, {:.3g} of them the model's, in {:.3g} s are {:.3g} times what its devices "
      "compute at the peak rate of their number formats",
      e.hardware_flops.count(), e.model_flops.count(), e.step_time.seconds(), share.hardware));
}

}  // namespace

Errors FindEvaluationErrors(const Evaluation& e, const Plan& plan, const Workload& workload,
                            const Cluster& cluster) {
  Errors errors;
  FindTimeErrors(e, errors);
  FindWaitErrors(e, errors);
  FindShareErrors(e.profile, errors);
  FindMemoryErrors(e, errors);
  if (!errors.empty() || workload.is_profile()) return errors;
  FindArithmeticErrors(e, PeakShareOf(e, plan, workload, cluster), errors);
  return errors;
}

void RequireSound(const Evaluation& evaluation, const Plan& plan, const Workload& workload,
                  const Cluster& cluster) {
  const Errors errors = FindEvaluationErrors(evaluation, plan, workload, cluster);
  if (errors.empty()) return;
  throw std::runtime_error(
      fmt::format("the step predicted for {} on {} is impossible, and nothing is printed: {}; "
                  "check the rates of its devices and links",
                  workload.name, cluster.name(), errors[0]));
}

std::vector<std::string> UseWarnings(const Evaluation& e, const Workload& workload) {
  if (workload.is_profile()) return {};
  const double mfu = e.mfu();
  if (mfu > 1) {
    const char* const why =
        workload.lists_kernels
            ? "Winograd's algorithm needs fewer multiplications than are counted"
            : "GEMMs run in 8 bits or fewer, and MFU is relative to the 16-bit peak";
    return {fmt::format("MFU is {:.0f} %: {}", 100 * mfu, why)};
  }
  if (mfu < 0.01) {
    return {
        fmt::format("MFU is {:.2g} %, below 1 %: are the rates of all devices and links as "
                    "meant, and the batch large enough?",
                    100 * mfu)};
  }
  return {};
}

}  // namespace stagecraft
