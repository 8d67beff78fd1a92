#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "search/plan_space.h"
#include "search/space.h"
#include "search/step_bound.h"

namespace stagecraft {
namespace {

using Degrees = std::shared_ptr<const std::vector<PlanDegrees>>;

class EqualStages : public PlanSpace {
 public:
  EqualStages(const SearchProblem& problem, Degrees all)
      : PlanSpace(problem), all_(std::move(all)), bound_(problem) {}

  size_t size() const override { return all_->size(); }
  std::string name() const override { return "plans of equal stages"; }
  Duration LeastTime(size_t index) override { return bound_.StepTime(At(index)); }
  MemoryNeed LeastMemory(size_t index) override {
    return {bound_.Memory(At(index)), problem().cluster.device(0).memory};
  }
  std::vector<int> GroupDevices(size_t index) const override {
    const PlanDegrees& d = At(index);
    int left = d.tensor * d.context * d.pipeline * d.data;
    std::vector<int> devices;
    for (const Cluster::NodeGroup& group : problem().cluster.groups()) {
      devices.push_back(std::min(left, group.count * group.type.devices));
      left -= devices.back();
    }
    return devices;
  }
  Plan Make(size_t index) const override {
    return MakePlan(At(index), problem().workload, problem().cluster);
  }
  std::string Describe(size_t index) const override {
    const PlanDegrees& d = At(index);
    return fmt::format("tp {}, cp {}, pp {}, dp {}, micro-batch {}, recompute {}, zero {}{}{}",
                       d.tensor, d.context, d.pipeline, d.data, d.micro_batch, Name(d.recompute),
                       d.zero, d.tensor > 1 && !d.sequence_parallel ? ", sp off" : "",
                       d.rank_order == kDefaultRankOrder ? "" : ", ranks " + d.rank_order);
  }
  std::unique_ptr<PlanSpace> Under(const SearchProblem& other) const override {
    return std::make_unique<EqualStages>(other, all_);
  }

 private:
  const PlanDegrees& At(size_t index) const { return (*all_)[index]; }

  const Degrees all_;
  StepBound bound_;
};

}  // namespace

std::unique_ptr<PlanSpace> MakeEqualStages(const SearchProblem& problem) {
  return std::make_unique<EqualStages>(
      problem, std::make_shared<const std::vector<PlanDegrees>>(EnumerateDegrees(problem)));
}

}  // namespace stagecraft
