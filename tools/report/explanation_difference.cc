#include "tools/report/explanation_difference.h"

#include <fmt/format.h>
#include <fmt/ostream.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <ostream>
#include <utility>
#include <vector>

#include "sim/step/training_cost.h"
#include "tools/report/plan_report.h"
#include "tools/verb/text_table.h"

namespace stagecraft {
namespace {

using Json = nlohmann::ordered_json;
using Parts = std::vector<TimePart>;

// The sentence names a part only if it changes by at least this share of the change of the step
// time or, if that is larger, of the part that changes most.
constexpr double kLeastShare = 0.05;
constexpr size_t kMostNamed = 3;  // parts that take less time, and again that take more

// The parts of DeviceParts(), in its order, as the sentence names them.
constexpr const char* kPhrases[] = {"computation",
                                    "tensor-parallel collectives",
                                    "context-parallel collectives",
                                    "expert-parallel collectives",
                                    "optimizer",
                                    "warm-up",
                                    "waiting for slower stages",
                                    "waiting for transfers and collectives",
                                    "drain",
                                    "waiting for the update",
                                    "waiting for the host"};

Duration StepOf(const Explanation& explanation) { return explanation.step.evaluation.step_time; }

double PeakGib(const Explanation& explanation) { return TightestStage(explanation).Peak().gib(); }

// What a run of as many tokens as are asked about takes.
double DaysOf(const Explanation& explanation) {
  const Evaluation& evaluation = explanation.step.evaluation;
  const double steps = StepsOfTokens(evaluation, explanation.job.cost.tokens);
  return CostOfSteps(evaluation, explanation.job.cluster, {}, steps).days();
}

Json Minus(const Parts& b, const Parts& a) {
  Json json;
  for (size_t i = 0; i < a.size(); ++i) json[JsonKey(a[i].name)] = (b[i].time - a[i].time).ms();
  return json;
}

struct Change {
  const char* what;
  Duration time;  // > 0
};

// "3.0 ms less warm-up, 1.0 ms less drain": the kMostNamed largest changes, the largest first,
// without those that are less than `least`.
std::string List(std::vector<Change> changes, const char* word, Duration least) {
  std::erase_if(changes, [&](const Change& change) { return change.time < least; });
  std::stable_sort(changes.begin(), changes.end(),
                   [](const Change& x, const Change& y) { return x.time > y.time; });
  if (changes.size() > kMostNamed) changes.resize(kMostNamed);
  std::vector<std::string> texts;
  for (const Change& change : changes) {
    texts.push_back(fmt::format("{:.1f} ms {} {}", change.time.ms(), word, change.what));
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

// Formats a number with its sign, but without one if it rounds to zero.
std::string Signed(double value) {
  return std::abs(value) < 0.05 ? "0.0" : fmt::format("{:+.1f}", value);
}

class DifferenceTable {
 public:
  DifferenceTable(Duration step_a, Duration step_b)
      : table_({"", "A", "share", "B", "share", "B - A"}, 1), step_a_(step_a), step_b_(step_b) {}

  void Add(const std::string& name, double a, double b) {
    table_.Add({name, fmt::format("{:.1f}", a), "", fmt::format("{:.1f}", b), "", Signed(b - a)});
  }
  // Parts that take no time in either plan are left out.
  void Add(const std::string& title, const Parts& a, const Parts& b) {
    table_.Add({title, "", "", "", "", ""});
    for (size_t i = 0; i < a.size(); ++i) {
      if (a[i].time == Duration() && b[i].time == Duration()) continue;
      table_.Add({fmt::format("  {}", a[i].name), fmt::format("{:.1f}", a[i].time.ms()),
                  Share(a[i].time, step_a_), fmt::format("{:.1f}", b[i].time.ms()),
                  Share(b[i].time, step_b_), Signed((b[i].time - a[i].time).ms())});
    }
  }
  void Print(std::ostream& out) const { table_.Print(out); }

 private:
  static std::string Share(Duration time, Duration step) {
    return fmt::format("{:.1f} %", 100 * time.seconds() / step.seconds());
  }

  TextTable table_;
  Duration step_a_, step_b_;
};

}  // namespace

std::string DescribeParts(const Explanation& a, const Explanation& b) {
  const Parts before = DeviceParts(a), after = DeviceParts(b);
  std::vector<Change> less, more;
  Duration changed;
  for (size_t i = 0; i < before.size(); ++i) {
    const Duration change = after[i].time - before[i].time;
    if (change < Duration()) less.push_back({kPhrases[i], before[i].time - after[i].time});
    if (change > Duration()) more.push_back({kPhrases[i], change});
    changed = std::max({changed, change, before[i].time - after[i].time});
  }
  const bool is_slower = StepOf(b) > StepOf(a);
  const Duration absolute = is_slower ? StepOf(b) - StepOf(a) : StepOf(a) - StepOf(b);
  const Duration least = Duration::Seconds(kLeastShare * std::max(absolute, changed).seconds());
  std::string gains = List(less, "less", least), losses = List(more, "more", least);
  if (is_slower) std::swap(gains, losses);
  if (gains.empty() && losses.empty()) return "";
  std::string text = "on the mean device " + gains;
  if (!losses.empty()) text += (gains.empty() ? "" : "; but ") + losses;
  return text;
}

std::string DescribeDifference(const Explanation& a, const Explanation& b) {
  const bool is_slower = StepOf(b) > StepOf(a);
  const Duration absolute = is_slower ? StepOf(b) - StepOf(a) : StepOf(a) - StepOf(b);
  std::string text = absolute == Duration()
                         ? "A and B take the same time"
                         : fmt::format("B takes {:.1f} ms ({:.1f} %) {} than A", absolute.ms(),
                                       100 * absolute.seconds() / StepOf(a).seconds(),
                                       is_slower ? "more" : "less");
  const std::string parts = DescribeParts(a, b);
  if (!parts.empty()) text += ": " + parts;
  const double memory = PeakGib(b) - PeakGib(a);
  if (std::abs(memory) < 0.005) return text + ". Their peak memory is the same.";
  return text + fmt::format(". Its peak memory is {:.2f} GiB {}.", std::abs(memory),
                            memory > 0 ? "higher" : "lower");
}

nlohmann::ordered_json DifferenceToJson(const Explanation& a, const Explanation& b) {
  return {{"sentence", DescribeDifference(a, b)},
          {"step_time_ms", (StepOf(b) - StepOf(a)).ms()},
          {"critical_path_ms", Minus(PathParts(b), PathParts(a))},
          {"device_time_ms", Minus(DeviceParts(b), DeviceParts(a))},
          {"breakdown_ms", Minus(PartsOf(b.step.evaluation.profile.breakdown),
                                 PartsOf(a.step.evaluation.profile.breakdown))},
          {"peak_memory_gib", PeakGib(b) - PeakGib(a)}};
}

void PrintDifference(const Explanation& a, const Explanation& b, std::ostream& out) {
  fmt::print(out, "A  {}\n", a.label);
  PrintPlan(a.job, out);
  fmt::print(out, "B  {}\n", b.label);
  PrintPlan(b.job, out);
  DifferenceTable table(StepOf(a), StepOf(b));
  table.Add("step time, ms", StepOf(a).ms(), StepOf(b).ms());
  if (a.job.cost.tokens > 0 && b.job.cost.tokens > 0)
    table.Add("training, days", DaysOf(a), DaysOf(b));
  table.Add("peak memory, GiB", PeakGib(a), PeakGib(b));
  table.Add("critical path, ms", PathParts(a), PathParts(b));
  table.Add("mean device, ms", DeviceParts(a), DeviceParts(b));
  table.Add("critical rank, exposed, ms", PartsOf(a.step.evaluation.profile.breakdown),
            PartsOf(b.step.evaluation.profile.breakdown));
  table.Print(out);
  fmt::print(out, "\n{}\n", DescribeDifference(a, b));
}

}  // namespace stagecraft
