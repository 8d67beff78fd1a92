#include "search/evaluation_errors.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "costmodel/device.h"
#include "costmodel/units.h"
#include "sim/breakdown.h"

namespace stagecraft {
namespace {

// Of shares that are sums of rounded numbers.
constexpr double kRounding = 1e-9;

using Errors = std::vector<std::string>;

void FindTimeErrors(const Evaluation& e, Errors& errors) {
  const double step = e.step_time.seconds();
  if (e.step_time <= Duration() || e.step_time > kLongestTime) {
    errors.push_back(fmt::format("the step takes {:.3g} s", step));
    return;
  }
  for (const auto& [name, time] : std::vector<std::pair<const char*, Duration>>{
           {"four steps of five may take up to", e.step_time_high},
           {"without messages that meet the step takes", e.unshared_time},
           {"devices wait for hosts", e.profile.host_wait}}) {
    if (time >= Duration() && time <= kLongestTime) continue;
    errors.push_back(fmt::format("{} {:.3g} s", name, time.seconds()));
  }
  const double slack = step * kRounding;  // the three are rounded each for itself
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

// FLOP/s of the fastest units of all devices that the plan uses, whatever format they take.
double FastestPeak(const Evaluation& e, const Cluster& cluster) {
  double peak = 0;
  for (size_t group = 0; group < e.group_devices.size(); ++group) {
    const Device& device = cluster.groups()[group].type.device;
    double fastest = device.vector_peak.flop_per_s();
    for (const FlopRate rate : device.peak) fastest = std::max(fastest, rate.flop_per_s());
    peak += e.group_devices[group] * fastest;
  }
  return peak;
}

}  // namespace

Errors FindEvaluationErrors(const Evaluation& e, const Workload& workload, const Cluster& cluster) {
  Errors errors;
  FindTimeErrors(e, errors);
  if (!(e.profile.bubble_fraction >= 0 && e.profile.bubble_fraction <= 1 + kRounding)) {
    errors.push_back(
        fmt::format("{:.3g} % of the compute lanes are idle", 100 * e.profile.bubble_fraction));
  }
  for (const double share : e.profile.basis_share) {
    if (share >= 0 && share <= 1 + kRounding) continue;
    errors.push_back(fmt::format("{:.3g} % of the time rests on one basis", 100 * share));
  }
  if (!errors.empty() || workload.is_profile()) return errors;
  const double use = e.model_flops.count() / (FastestPeak(e, cluster) * e.step_time.seconds());
  if (!(use >= 0 && use <= 1 + kRounding && std::isfinite(e.mfu()))) {
    errors.push_back(
        fmt::format("{:.3g} FLOPs in {:.3g} s are {:.3g} times what the devices' fastest units do",
                    e.model_flops.count(), e.step_time.seconds(), use));
  }
  return errors;
}

void RequireSound(const Evaluation& evaluation, const Workload& workload, const Cluster& cluster) {
  const Errors errors = FindEvaluationErrors(evaluation, workload, cluster);
  if (errors.empty()) return;
  throw std::runtime_error(fmt::format(
      "{} on {} comes out as no step can be, and nothing is printed: {}; look at the rates of its "
      "devices and links",
      workload.name, cluster.name(), errors[0]));
}

std::vector<std::string> UseWarnings(const Evaluation& e, const Workload& workload) {
  if (workload.is_profile()) return {};
  const double mfu = e.mfu();
  if (mfu > 1) {
    return {fmt::format("MFU is {:.0f} %: more than the dense peak that it is measured against",
                        100 * mfu)};
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
