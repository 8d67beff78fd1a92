#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <utility>
#include <vector>

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

  // Begins with one branch for each part.
  void AddParts() {
    for (const DegreePart& part : all_->degrees.Parts()) {
      Push({.least_score = BoundOf(part), .part = part, .family = {}});
    }
  }

  size_t size() const override { return all_->choices.size(); }
  std::optional<double> BoundOfRest(ScheduleClass schedules) const override {
    const std::priority_queue<Branch>& rest = rest_[static_cast<size_t>(schedules)];
    return rest.empty() ? std::nullopt : std::optional(rest.top().least_score);
  }
  void EnumerateMore(ScheduleClass schedules) override {
    std::priority_queue<Branch>& rest = rest_[static_cast<size_t>(schedules)];
    if (rest.empty()) return;
    const Branch branch = rest.top();
    rest.pop();
    if (!branch.family) {
      for (DegreeFamily& family : all_->degrees.FamiliesOf(branch.part)) {
        if (all_->degrees.has_one_list()) family.device_list = 0;
        Push(branch, family);
      }
    } else if (!branch.family->device_list) {
      for (const DegreeFamily& family : all_->degrees.OnLists(*branch.family)) Push(branch, family);
    } else {
      const std::vector<DegreeChoice> choices = all_->degrees.ChoicesOf(*branch.family);
      all_->choices.insert(all_->choices.end(), choices.begin(), choices.end());
    }
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
    return MakePlanOn(DevicesOf(index), At(index), problem().workload, problem().cluster);
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
    return fmt::format("tp {}, cp {}, pp {}, dp {}, micro-batch {}, recompute {}, zero {}{}{}",
                       d.tensor, d.context, d.pipeline, d.data, d.micro_batch, Name(d.recompute),
                       d.zero, d.tensor > 1 && !d.sequence_parallel ? ", sp off" : "",
                       d.rank_order == kDefaultRankOrder ? "" : ", rank order " + d.rank_order);
  }
  PipelineSchedule Order(size_t index) const override {
    return static_cast<PipelineSchedule>(all_->choices[index].schedule);
  }
  std::unique_ptr<PlanSpace> Under(const SearchProblem& other) const override {
    return std::make_unique<EqualStages>(other, all_, std::make_shared<LayerTimesMemo>(other));
  }

 private:
  // `count` consecutive devices, from `device` on.
  struct DeviceRow {
    int device = 0;
    int count = 0;
  };
  // Plans that are not enumerated yet: those of the part or, if there is a family, those of the
  // family.
  struct Branch {
    double least_score = 0;
    DegreePart part;
    std::optional<DegreeFamily> family;
    int64_t number = 0;  // in the order in which branches are found

    // Orders a heap so that the least score is on top, among equals the first.
    friend bool operator<(const Branch& a, const Branch& b) {
      return a.least_score != b.least_score ? a.least_score > b.least_score : a.number > b.number;
    }
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
  void Push(Branch branch) {
    branch.number = branches_++;
    rest_[static_cast<size_t>(branch.part.schedules)].push(std::move(branch));
  }
  // Queues a family of the branch's plans.
  void Push(const Branch& branch, const DegreeFamily& family) {
    const std::vector<int>& list = family.device_list ? all_->degrees.DevicesOf(family) : devices();
    const Duration least = BoundOn(list).StepTime(family);
    const double own =
        LeastScore(problem(), least, all_->GroupDevices(family.part.devices, family.devices));
    Push({.least_score = std::max(own, branch.least_score), .part = branch.part, .family = family});
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
  PlanDegrees At(size_t index) const { return all_->degrees.Degrees(all_->choices[index]); }

  const std::shared_ptr<Enumerated> all_;
  const std::shared_ptr<LayerTimesMemo> memo_;
  const std::vector<DegreeFamily> divisions_;
  const std::vector<DeviceRow> rows_;                    // of all devices, in order
  std::map<const std::vector<int>*, StepBound> bounds_;  // by list
  int64_t branches_ = 0;                                 // branches found so far
  std::array<std::priority_queue<Branch>, std::size(kScheduleClasses)> rest_;  // by class
};

}  // namespace

std::unique_ptr<PlanSpace> MakeEqualStages(const SearchProblem& problem, std::vector<int> devices,
                                           std::shared_ptr<LayerTimesMemo> memo) {
  auto space = std::make_unique<EqualStages>(
      problem, std::make_shared<Enumerated>(problem, std::move(devices)), std::move(memo));
  space->AddParts();
  return space;
}

std::unique_ptr<PlanSpace> MakeEqualStages(const SearchProblem& problem) {
  return MakeEqualStages(problem, AllDevices(problem.cluster),
                         std::make_shared<LayerTimesMemo>(problem));
}

}  // namespace stagecraft
