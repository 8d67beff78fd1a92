#include "sim/analysis/steady_state.h"

#include "costmodel/check.h"
#include "costmodel/divide.h"
#include "sim/plan/asynchronous_plan.h"

namespace stagecraft {
namespace {

// What was measured on a rank.
struct Window {
  Interval first_half, whole;
  int64_t micro_batches = 0;  // those that passed meanwhile, in all replicas
};

// Returns when the backwards of a lane ended, by the micro-batches of its replica.
std::vector<Duration> BackwardEnds(const Schedule& schedule, const Timeline& timeline, Lane lane) {
  std::vector<Duration> ends;
  for (const TaskId task : schedule.order(lane)) {
    const Tag& tag = schedule.tag(task);
    if (!IsBackward(tag.phase)) continue;
    if (tag.segment == 0) ends.emplace_back();
    ends.back() = timeline.end(task);
  }
  return ends;
}

Window FindWindow(const Stretch& stretch, int replicas, int replica,
                  const std::vector<Duration>& ends) {
  const int64_t first = DivideUp(stretch.settle - replica, replicas);
  const int64_t half = stretch.measured / replicas / 2;
  CHECK(first > 0 && half > 0);
  CHECK(first + 2 * half <= static_cast<int64_t>(ends.size()));
  const Duration begin = ends[first - 1];
  return {
      {begin, ends[first + half - 1]}, {begin, ends[first + 2 * half - 1]}, 2 * half * replicas};
}

}  // namespace

SteadyState MeasureSteadyState(const Plan& plan, const Workload& workload, const Schedule& schedule,
                               const Timeline& timeline, const BoundCosts& costs) {
  SteadyState state;
  state.stretch = StretchOf(plan);
  for (int stage = 0; stage < static_cast<int>(plan.stages.size()); ++stage) {
    state.stages.push_back(AsynchronyOf(plan, workload, stage));
  }
  std::vector<Window> windows(schedule.ranks().size());
  std::vector<Interval> intervals(schedule.ranks().size());
  for (int lane = 0; lane < schedule.lane_count(); ++lane) {
    const LaneInfo& info = schedule.lane_infos()[lane];
    if (info.kind != LaneKind::kCompute) continue;
    const RankInfo& rank = schedule.ranks()[info.rank];
    const auto replicas = static_cast<int>(plan.stages[rank.stage].replicas.size());
    windows[info.rank] = FindWindow(state.stretch, replicas, rank.replica,
                                    BackwardEnds(schedule, timeline, Lane(lane)));
    intervals[info.rank] = windows[info.rank].whole;
  }
  state.step = ProfileIntervals(schedule, timeline, costs, intervals);
  const Window& measured = windows[state.step.critical_rank];
  state.step.breakdown =
      Portion(state.step.breakdown, plan.micro_batches(), measured.micro_batches);
  state.step.host_wait =
      Duration::Seconds(state.step.host_wait.seconds() * static_cast<double>(plan.micro_batches()) /
                        static_cast<double>(measured.micro_batches));
  const double whole = measured.whole.length().seconds();
  const double first = measured.first_half.length().seconds();
  if (first > 0) state.drift = (whole - first) / first - 1;
  return state;
}

}  // namespace stagecraft
