#include "tools/sweep/evaluation_row.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "costmodel/units.h"
#include "sim/memory/stage_memory.h"
#include "tools/report/plan_choices.h"
#include "tools/verb/report_header.h"

namespace stagecraft {
namespace {

constexpr size_t kHashDigits = 16;

std::string PlanText(const Plan& plan, const Workload& workload, const Cluster& cluster) {
  std::string text;
  for (const PlanChoice& choice : ChoicesOf(plan, workload, cluster)) {
    if (!text.empty()) text += ", ";
    text.append(choice.name).append(" ").append(choice.value);
  }
  return text;
}

// Every result, to the bit: numbers have as many digits as they need.
std::string AllResults(const Evaluation& e, const std::string& plan) {
  fmt::memory_buffer text;
  auto out = std::back_inserter(text);
  const Breakdown& b = e.profile.breakdown;
  fmt::format_to(out, "{}\n{} {} {} {}\n", plan, e.step_time.ns(), e.step_time_low.ns(),
                 e.step_time_high.ns(), e.unshared_time.ns());
  fmt::format_to(out, "{} {} {} {} {} {} {} {}\n", b.compute.ns(), b.tensor.ns(), b.pipeline.ns(),
                 b.data.ns(), b.context.ns(), b.expert.ns(), b.optimizer.ns(), b.bubble.ns());
  fmt::format_to(out, "{} {} {} {}\n", e.profile.critical_rank, e.profile.bubble_fraction,
                 e.profile.host_wait.ns(), e.profile.spread);
  for (const double share : e.profile.basis_share) fmt::format_to(out, "{} ", share);
  fmt::format_to(out, "\n{} {} {} {} {} {}\n", e.tokens, e.samples, e.devices,
                 e.model_flops.count(), e.hardware_flops.count(), e.peak.flop_per_s());
  for (const StageMemory& m : e.memory) {
    fmt::format_to(out, "{} {} {} {} {} {} {} {} {} {} {} {}\n", m.device, m.weights.count(),
                   m.gradients.count(), m.optimizer.count(), m.activations.count(),
                   m.workspace.count(), m.communication.count(), m.framework.count(),
                   m.fragmentation.count(), m.capacity.count(), m.host.count(),
                   m.host_capacity.count());
  }
  return fmt::to_string(text);
}

// The stage whose device comes closest to its capacity, or is farthest beyond it.
const StageMemory& Fullest(const std::vector<StageMemory>& memory) {
  return *std::max_element(
      memory.begin(), memory.end(),
      [](const StageMemory& a, const StageMemory& b) { return a.Share() < b.Share(); });
}

std::string MisfitText(const std::vector<StageMemory>& memory, const Cluster& cluster,
                       const MemoryMargin& margin) {
  const StageMemory& fullest = Fullest(memory);
  if (fullest.Peak() > fullest.capacity) {
    return fmt::format("memory: stage {} needs {:.2f} of {:.2f} GiB{}", fullest.stage,
                       fullest.Peak().gib(), fullest.capacity.gib(), margin.Text(fullest, cluster));
  }
  const StageMemory& host = *std::max_element(
      memory.begin(), memory.end(), [](const StageMemory& a, const StageMemory& b) {
        return a.host - a.host_capacity < b.host - b.host_capacity;
      });
  return fmt::format("host memory: a rank of stage {} needs {:.1f} GiB, and its share is {:.1f}",
                     host.stage, host.host.gib(), host.host_capacity.gib());
}

// Unlike Duration::ms(), this returns the number nearest to the decimal one, with as few digits.
double Milliseconds(Duration time) { return static_cast<double>(time.ns()) / 1e6; }

void FillTimes(const Evaluation& e, bool knows_flops, RunRow& row) {
  const double seconds = e.step_time.seconds();
  row[RunNumber::kStepTime] = Milliseconds(e.step_time);
  row[RunNumber::kStepTimeLow] = Milliseconds(e.step_time_low);
  row[RunNumber::kStepTimeHigh] = Milliseconds(e.step_time_high);
  row[RunNumber::kTokensPerSecond] = e.tokens / seconds;
  row[RunNumber::kTokensPerSecondPerGpu] = e.tokens / seconds / e.devices;
  row[RunNumber::kSamplesPerSecond] = e.samples / seconds;
  row[RunNumber::kBubbleFraction] = e.profile.bubble_fraction;
  if (!knows_flops) return;
  row[RunNumber::kMfu] = e.mfu();
  row[RunNumber::kHfu] = e.hfu();
}

}  // namespace

std::string HashOfResults(const std::string& text) { return Sha256(text).substr(0, kHashDigits); }

void FillRow(const Evaluation& evaluation, const Plan& plan, const Workload& workload,
             const Cluster& cluster, const MemoryMargin& margin, RunRow& row) {
  row.plan = PlanText(plan, workload, cluster);
  row.result_hash = HashOfResults(AllResults(evaluation, row.plan));
  row.outcome = evaluation.fits ? Outcome::kFits : Outcome::kDoesNotFit;
  row.reason = evaluation.fits ? "" : MisfitText(evaluation.memory, cluster, margin);
  Bytes peak;
  for (const StageMemory& memory : evaluation.memory) peak = std::max(peak, memory.Peak());
  row[RunNumber::kPeakMemory] = peak.gib();
  row[RunNumber::kMemoryShare] = Fullest(evaluation.memory).Share();
  row[RunNumber::kGpus] = plan.device_count();
  if (evaluation.fits) FillTimes(evaluation, !workload.is_profile(), row);
}

}  // namespace stagecraft
