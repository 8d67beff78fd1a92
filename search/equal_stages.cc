#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "search/plan_space.h"
#include "search/space.h"
#include "search/step_bound.h"
#include "sim/make_plan.h"
#include "sim/node_type.h"

namespace stagecraft {
namespace {

// What is enumerated, whatever the cost model.
struct Enumerated {
  Enumerated(const SearchProblem& problem, std::vector<int> devices)
      : degrees(problem, std::move(devices)) {}

  const DegreeSpace degrees;
  std::vector<DegreeChoice> choices;
};

class EqualStages : public PlanSpace {
 public:
  EqualStages(const SearchProblem& problem, std::shared_ptr<Enumerated> all)
      : PlanSpace(problem), all_(std::move(all)) {
    int rank = 0;
    for (const int device : devices()) {
      const int group = problem.cluster.device_group(device);
      if (rank == 0 || group != runs_.back().group) runs_.push_back({group, 0});
      runs_.back().end = ++rank;
    }
    rows_ = RowsOf(devices());
  }

  // Puts the families in the order of their bounds.
  void FindFamilies() {
    for (const DegreeFamily& family : all_->degrees.Families()) {
      const Duration least = BoundOn(all_->degrees.DevicesOf(family)).StepTime(family);
      Rest(family.schedules)
          .push_back({LeastScore(problem(), least, Devices(family.devices)), family});
    }
    for (const ScheduleClass schedules : kScheduleClasses) {
      std::vector<BoundFamily>& rest = Rest(schedules);
      // The least last, and of equal ones the first.
      std::reverse(rest.begin(), rest.end());
      std::stable_sort(rest.begin(), rest.end(), [](const BoundFamily& a, const BoundFamily& b) {
        return a.least_score > b.least_score;
      });
    }
  }

  size_t size() const override { return all_->choices.size(); }
  std::optional<double> BoundOfRest(ScheduleClass schedules) const override {
    const std::vector<BoundFamily>& rest = rest_[static_cast<size_t>(schedules)];
    return rest.empty() ? std::nullopt : std::optional(rest.back().least_score);
  }
  void EnumerateMore(ScheduleClass schedules) override {
    std::vector<BoundFamily>& rest = Rest(schedules);
    if (rest.empty()) return;
    for (const DegreeChoice& choice : all_->degrees.ChoicesOf(rest.back().family)) {
      all_->choices.push_back(choice);
    }
    rest.pop_back();
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
    return Devices(all_->choices[index].devices);
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
                       d.rank_order == kDefaultRankOrder ? "" : ", ranks " + d.rank_order);
  }
  PipelineOrder Order(size_t index) const override {
    return static_cast<PipelineOrder>(all_->choices[index].order);
  }
  std::unique_ptr<PlanSpace> Under(const SearchProblem& other) const override {
    return std::make_unique<EqualStages>(other, all_);
  }

 private:
  // Devices of one group of the cluster, ranks up to `end`.
  struct Run {
    int group = 0;
    int end = 0;
  };
  // Devices that stand in a row, from this one on.
  struct DeviceRow {
    int device = 0;
    int count = 0;
  };
  struct BoundFamily {
    double least_score = 0;
    DegreeFamily family;
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
  std::vector<BoundFamily>& Rest(ScheduleClass schedules) {
    return rest_[static_cast<size_t>(schedules)];
  }
  const std::vector<int>& DevicesOf(size_t index) const {
    return all_->degrees.DevicesOf(all_->choices[index]);
  }
  // For plans whose ranks take these devices, a list of the DegreeSpace.
  StepBound& BoundOn(const std::vector<int>& devices) {
    return bounds_.try_emplace(&devices, problem(), devices).first->second;
  }
  PlanDegrees At(size_t index) const { return all_->degrees.Degrees(all_->choices[index]); }

  // The first of these, by group of the cluster.
  std::vector<int> Devices(int count) const {
    std::vector<int> by_group(problem().cluster.groups().size());
    int begin = 0;
    for (const Run& run : runs_) {
      if (begin < count) by_group[run.group] += std::min(count, run.end) - begin;
      begin = run.end;
    }
    return by_group;
  }

  const std::shared_ptr<Enumerated> all_;
  std::map<const std::vector<int>*, StepBound> bounds_;  // by list
  std::vector<Run> runs_;
  std::vector<DeviceRow> rows_;  // of all devices, in order
  // For each class of schedules, the families by bound, the least last.
  std::array<std::vector<BoundFamily>, std::size(kScheduleClasses)> rest_;
};

}  // namespace

std::unique_ptr<PlanSpace> MakeEqualStages(const SearchProblem& problem, std::vector<int> devices) {
  auto space = std::make_unique<EqualStages>(
      problem, std::make_shared<Enumerated>(problem, std::move(devices)));
  space->FindFamilies();
  return space;
}

std::unique_ptr<PlanSpace> MakeEqualStages(const SearchProblem& problem) {
  return MakeEqualStages(problem, AllDevices(problem.cluster));
}

}  // namespace stagecraft
