#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "search/family_queue.h"
#include "search/layer_times.h"
#include "search/plan_space.h"
#include "search/space.h"
#include "search/step_bound.h"
#include "sim/cluster/node_type.h"
#include "sim/plan/make_plan.h"

namespace stagecraft {
namespace {

// What has been enumerated, which does not depend on the cost model.
struct Enumerated {
  Enumerated(const SearchProblem& problem, std::vector<int> devices)
      : degrees(problem, std::move(devices)), group_count(problem.cluster.groups().size()) {
    for (const DegreePart& part : degrees.Parts()) {
      runs.try_emplace(part.devices, RunsOf(degrees.DevicesOf(part.devices), problem.cluster));
    }
  }

  // Returns how many of the first `count` devices of a part are in each node group of the cluster.
  std::vector<int> GroupDevices(const DevicePart& part, int count) const {
    std::vector<int> by_group(group_count);
    int begin = 0;
    for (const Run& run : runs.at(part)) {
      if (begin < count) by_group[run.group] += std::min(count, run.end) - begin;
      begin = run.end;
    }
    return by_group;
  }

  // Consecutive ranks, up to `end`, whose devices are in one node group.
  struct Run {
    int group = 0;
    int end = 0;
  };
  static std::vector<Run> RunsOf(const std::vector<int>& devices, const Cluster& cluster) {
    std::vector<Run> found;
    int rank = 0;
    for (const int device : devices) {
      const int group = cluster.device_group(device);
      if (rank == 0 || group != found.back().group) found.push_back({group, 0});
      found.back().end = ++rank;
    }
    return found;
  }

  const DegreeSpace degrees;
  const size_t group_count;
  std::map<DevicePart, std::vector<Run>> runs;  // of each part, in the order of ranks
  std::vector<DegreeChoice> choices;
};

class EqualStages : public PlanSpace {
 public:
  EqualStages(const SearchProblem& problem, std::shared_ptr<Enumerated> all,
              std::shared_ptr<LayerTimesMemo> memo)
      : PlanSpace(problem),
        all_(std::move(all)),
        memo_(std::move(memo)),
        divisions_(all_->degrees.StageDegrees()),
        rows_(RowsOf(all_->degrees.devices())) {}

  // Begins with no plan enumerated.
  void Begin() {
    rest_.emplace(problem(), all_->degrees,
                  FamilyScores{[this](const DegreePart& part) { return BoundOf(part); },
                               [this](const DegreeFamily& family) {
                                 return ScoreOf(family, BoundOn(family).StepTime(family));
                               },
                               [this](const DegreeFamily& family) {
                                 return ScoreOf(family, BoundOn(family).CloseStepTime(family));
                               }});
  }

  size_t size() const override { return all_->choices.size(); }
  std::optional<double> BoundOfRest(ScheduleClass schedules, Overlaps overlaps) const override {
    return rest_ ? rest_->LeastScore(schedules, overlaps) : std::nullopt;
  }
  void EnumerateMore(ScheduleClass schedules, Overlaps overlaps) override {
    const std::optional<DegreeFamily> family =
        rest_ ? rest_->Divide(schedules, overlaps) : std::optional<DegreeFamily>();
    if (!family) return;
    const std::vector<DegreeChoice> choices = all_->degrees.ChoicesOf(*family);
    all_->choices.insert(all_->choices.end(), choices.begin(), choices.end());
  }
  std::string name() const override {
    const bool is_any = problem().choices.device_counts == DeviceCounts::kAny;
    const Cluster& cluster = problem().cluster;
    const bool is_wired =
        cluster.has_explicit_links() || std::any_of(devices().begin(), devices().end(), [&](int d) {
          return !JoinsAlike(cluster.node(cluster.place(d).node));
        });
    return fmt::format("plans of equal stages{}{}", is_any ? " on any number of nodes" : "",
                       is_wired ? ", on devices chosen by their links" : "");
  }
  Duration LeastTime(size_t index) override {
    return BoundOn(DevicesOf(index)).StepTime(At(index));
  }
  MemoryNeed LeastMemory(size_t index) override {
    return {BoundOn(DevicesOf(index)).Memory(At(index)),
            problem().cluster.device(devices()[0]).memory};
  }
  std::vector<int> GroupDevices(size_t index) const override {
    return all_->GroupDevices(all_->choices[index].part, all_->choices[index].devices);
  }
  Plan Make(size_t index) const override {
    return MakePlanOn(DevicesOf(index), all_->degrees.Degrees(all_->choices[index]),
                      problem().workload, problem().cluster);
  }
  PlanKey Key(size_t index) const override {
    PlanKeyBuilder key;
    const std::vector<int>& list = DevicesOf(index);
    const bool is_usual = &list == &devices();
    const std::vector<DeviceRow> own_rows = is_usual ? std::vector<DeviceRow>() : RowsOf(list);
    int left = all_->choices[index].devices;
    for (const DeviceRow& row : is_usual ? rows_ : own_rows) {
      if (left == 0) break;
      const int count = std::min(left, row.count);
      key.AddDevices(row.device, count);
      left -= count;
    }
    return key.Build(At(index), /*is_whole=*/true);
  }
  std::string Describe(size_t index) const override {
    const PlanDegrees d = At(index);
    return fmt::format("tp {}, cp {}, pp {}, dp {}, micro-batch {}, recompute {}, zero {}{}{}{}",
                       d.tensor, d.context, d.pipeline, d.data, d.micro_batch, Name(d.recompute),
                       d.zero, d.tensor > 1 && !d.sequence_parallel ? ", sp off" : "",
                       d.rank_order == kDefaultRankOrder ? "" : ", rank order " + d.rank_order,
                       OverlapText(d));
  }
  PipelineSchedule Order(size_t index) const override {
    return static_cast<PipelineSchedule>(all_->choices[index].schedule);
  }
  bool ChoosesOverlap(size_t index) const override {
    const DegreeChoice& choice = all_->choices[index];
    const PlanDegrees& given = problem().given;
    return choice.overlaps_tensor != given.overlap_tensor ||
           choice.overlaps_gather != given.overlap_param_gather;
  }
  std::unique_ptr<PlanSpace> Under(const SearchProblem& other) const override {
    return std::make_unique<EqualStages>(other, all_, std::make_shared<LayerTimesMemo>(other));
  }

 private:
  // The overlaps that the search has chosen.
  std::string OverlapText(const PlanDegrees& degrees) const {
    const Choices& choices = problem().choices;
    std::string text;
    if (choices.chooses_tensor_overlap && degrees.overlap_tensor) text += ", overlap tp";
    if (choices.chooses_gather_overlap && degrees.overlap_param_gather) text += ", overlap gather";
    return text;
  }
  // `count` consecutive devices, from `device` on.
  struct DeviceRow {
    int device = 0;
    int count = 0;
  };
  static std::vector<DeviceRow> RowsOf(const std::vector<int>& devices) {
    std::vector<DeviceRow> rows;
    for (const int device : devices) {
      if (rows.empty() || rows.back().device + rows.back().count != device) {
        rows.push_back({device, 0});
      }
      ++rows.back().count;
    }
    return rows;
  }
  const std::vector<int>& devices() const { return all_->degrees.devices(); }
  const std::vector<int>& DevicesOf(size_t index) const {
    return all_->degrees.DevicesOf(all_->choices[index]);
  }
  double ScoreOf(const DegreeFamily& family, Duration least) const {
    return LeastScore(problem(), least, all_->GroupDevices(family.part.devices, family.devices));
  }
  // Returns a lower bound for the plans of a part. A bound of the step time falls with the number
  // of devices, so that of the most devices holds for all; a bound of the cost may be least for any
  // number of them.
  double BoundOf(const DegreePart& part) {
    std::vector<int> counts = all_->degrees.CountsOf(part.devices);
    if (problem().objective == Objective::kStepTime) {
      counts.resize(1);
    } else if (problem().choices.device_counts == DeviceCounts::kAny) {
      return 0;
    }
    double bound = std::numeric_limits<double>::infinity();
    for (const int count : counts) {
      const std::vector<int> devices_of_groups = all_->GroupDevices(part.devices, count);
      for (const DegreeFamily& division : divisions_) {
        const Duration least = BoundOn(devices()).StepTime(division, part.schedules, count);
        bound = std::min(bound, LeastScore(problem(), least, devices_of_groups));
      }
    }
    return bound;
  }
  // Returns the bound for plans whose ranks take these devices, which are a list of the
  // DegreeSpace.
  StepBound& BoundOn(const std::vector<int>& devices) {
    return bounds_.try_emplace(&devices, problem(), devices, *memo_).first->second;
  }
  StepBound& BoundOn(const DegreeFamily& family) {
    return BoundOn(family.device_list ? all_->degrees.DevicesOf(family) : devices());
  }
  PlanDegrees At(size_t index) const {
    return all_->degrees.DegreesWithoutShares(all_->choices[index]);
  }

  const std::shared_ptr<Enumerated> all_;
  const std::shared_ptr<LayerTimesMemo> memo_;
  const std::vector<DegreeFamily> divisions_;
  const std::vector<DeviceRow> rows_;                    // of all devices, in order
  std::map<const std::vector<int>*, StepBound> bounds_;  // by list
  std::optional<FamilyQueue> rest_;  // plans that are not enumerated yet; no value: none
};

}  // namespace

std::unique_ptr<PlanSpace> MakeEqualStages(const SearchProblem& problem, std::vector<int> devices,
                                           std::shared_ptr<LayerTimesMemo> memo) {
  auto space = std::make_unique<EqualStages>(
      problem, std::make_shared<Enumerated>(problem, std::move(devices)), std::move(memo));
  space->Begin();
  return space;
}

std::unique_ptr<PlanSpace> MakeEqualStages(const SearchProblem& problem) {
  return MakeEqualStages(problem, AllDevices(problem.cluster),
                         std::make_shared<LayerTimesMemo>(problem));
}

}  // namespace stagecraft
