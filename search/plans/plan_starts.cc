#include "search/plans/plan_starts.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <optional>
#include <queue>
#include <set>
#include <utility>

#include "costmodel/check.h"
#include "search/plans/draft_moves.h"
#include "search/plans/plan_maker.h"

namespace stagecraft {
namespace {

struct Simulated {
  std::vector<PlanStart> fitting;  // least score first
  std::vector<PlanStart> others;   // in their given order
};

Simulated SimulateFirst(const std::vector<PlanStart>& starts, PlanTrials& trials) {
  constexpr size_t kMost = 1024;
  size_t count = std::min(kMost, starts.size());
  const int64_t limit = trials.budget().evaluations;
  if (limit > 0) count = std::min(count, static_cast<size_t>(std::max<int64_t>(1, limit / 5)));
  std::vector<PlanDraft> drafts;
  for (size_t i = 0; i < count; ++i) drafts.push_back(starts[i].draft);
  const std::vector<double> scores = trials.Score(drafts);
  std::vector<std::pair<double, size_t>> fitting;
  Simulated simulated;
  for (size_t i = 0; i < starts.size(); ++i) {
    if (i < count && PlanTrials::Fits(scores[i])) {
      fitting.emplace_back(scores[i], i);
    } else {
      simulated.others.push_back(starts[i]);
    }
  }
  std::sort(fitting.begin(), fitting.end());
  for (const auto& [score, index] : fitting) simulated.fitting.push_back(starts[index]);
  return simulated;
}

}  // namespace

std::vector<PlanStart> FindStarts(const SearchProblem& problem, PlanSpace& space, size_t most) {
  using Bounded = std::pair<double, size_t>;  // bound and index
  std::priority_queue<Bounded, std::vector<Bounded>, std::greater<>> waiting;
  size_t known = 0;
  const auto enumerate = [&] {
    for (;; space.EnumerateMore()) {
      for (; known < space.size(); ++known) {
        const double bound = space.Bound(known);
        if (bound < std::numeric_limits<double>::infinity()) waiting.emplace(bound, known);
      }
      const std::optional<double> rest = space.BoundOfRest();
      if (!rest || (!waiting.empty() && *rest > waiting.top().first)) return;
    }
  };
  std::vector<PlanStart> starts;
  while (starts.size() < most) {
    enumerate();
    if (waiting.empty()) break;
    const auto [bound, index] = waiting.top();
    waiting.pop();
    if (space.LeastMemory(index).Share() > 1) continue;
    try {
      starts.push_back({DraftOf(space.Make(index), problem), bound});
    } catch (const InputError&) {
      continue;  // its schedule needs more memory than it may use, or its split fits nowhere
    }
  }
  return starts;
}

std::vector<PlanStart> ShapesOf(const SearchProblem& problem,
                                const std::vector<PlanStart>& starts) {
  constexpr size_t kReshaped = 32;  // for how many starts other shapes are tried
  const DraftMoves moves(problem);
  const PlanMaker maker(problem);
  std::vector<PlanStart> shapes;
  std::set<PlanDraft> seen;
  const auto add = [&](const PlanStart& start) {
    PlanDraft shape = start.draft;
    shape.stages.assign(shape.stages.size(), {.replicas = {shape.replica_count()}});
    const bool is_new = seen.insert(std::move(shape)).second;
    if (is_new) shapes.push_back(start);
    return is_new;
  };
  size_t reshaped = 0;
  for (const PlanStart& start : starts) {
    if (!add(start) || problem.cluster.homogeneous() || reshaped >= kReshaped) continue;
    ++reshaped;
    for (PlanDraft& other : moves.OfShape(start.draft)) {
      if (maker.IsPlan(other)) add({std::move(other), start.bound});
    }
  }
  return shapes;
}

std::vector<PlanStart> OrderBySimulation(const std::vector<PlanStart>& starts, PlanTrials& trials) {
  auto [ordered, others] = SimulateFirst(starts, trials);
  ordered.insert(ordered.end(), others.begin(), others.end());
  return ordered;
}

std::vector<PlanStart> OrderShapes(const std::vector<PlanStart>& shapes, PlanTrials& trials) {
  const auto [fitting, others] = SimulateFirst(shapes, trials);
  std::vector<PlanStart> ordered;
  for (size_t i = 0; i < std::max(fitting.size(), others.size()); ++i) {
    if (i < fitting.size()) ordered.push_back(fitting[i]);
    if (i < others.size()) ordered.push_back(others[i]);
  }
  return ordered;
}

}  // namespace stagecraft
