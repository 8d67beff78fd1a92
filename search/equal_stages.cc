#include <fmt/format.h>

#include <utility>
#include <vector>

#include "search/plan_space.h"
#include "search/space.h"
#include "search/step_bound.h"

namespace stagecraft {
namespace {

class EqualStages : public PlanSpace {
 public:
  explicit EqualStages(const SearchProblem& problem)
      : problem_(problem), all_(EnumerateDegrees(problem)), bound_(problem) {}

  size_t size() const override { return all_.size(); }
  std::string name() const override { return "plans of equal stages"; }
  double Bound(size_t index) override { return bound_.Score(all_[index]); }
  MemoryNeed LeastMemory(size_t index) override {
    return {bound_.Memory(all_[index]), problem_.cluster.device(0).memory};
  }
  Plan Make(size_t index) const override {
    return MakePlan(all_[index], problem_.workload, problem_.cluster);
  }
  std::string Describe(size_t index) const override {
    const PlanDegrees& d = all_[index];
    return fmt::format("tp {}, cp {}, pp {}, dp {}, micro-batch {}, recompute {}, zero {}",
                       d.tensor, d.context, d.pipeline, d.data, d.micro_batch, Name(d.recompute),
                       d.zero);
  }

 private:
  const SearchProblem& problem_;
  const std::vector<PlanDegrees> all_;
  StepBound bound_;
};

}  // namespace

std::unique_ptr<PlanSpace> MakeEqualStages(const SearchProblem& problem) {
  return std::make_unique<EqualStages>(problem);
}

}  // namespace stagecraft
