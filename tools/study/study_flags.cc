#include "tools/study/study_flags.h"

#include <sstream>
#include <utility>

#include "costmodel/check.h"

namespace stagecraft {
namespace {

// The flags beside those of PlanFlags.
constexpr const char* kOwnFlags[] = {"cost-model", "measured-ops", "slow", "network", "link-rate"};

}  // namespace

StudyFlags::StudyFlags() : parser_("simulate", "Simulates one training step.") {
  values_.plan.Register(parser_);
  values_.slow.Register(parser_);
  values_.network.Register(parser_);
  values_.cost_model.Register(parser_);
  unset_ = std::make_unique<Values>(values_);
}

void StudyFlags::Read(const StudyPoint& point) {
  values_ = *unset_;
  std::ostringstream help;
  if (parser_.Parse(WordsOf(point), help)) throw InputError("--help: want flags of a step only");
  std::vector<StackValue> used;
  resolved_ = values_.plan.Resolve(used);
  own_key_.clear();
  for (const char* name : kOwnFlags) {
    const auto flag = point.flags.find(name);
    own_key_ += '\n';
    if (flag != point.flags.end()) own_key_ += flag->second;
  }
}

std::string StudyFlags::BaseKey(const ClusterChanges& changes) const {
  std::string key = resolved_.BaseKey() + own_key_;
  for (const ClusterChange& change : changes) key += '\n' + change.name;
  return key;
}

std::shared_ptr<const StudyBase> StudyFlags::Base(StudyCache& cache,
                                                  const ClusterChanges& changes) const {
  return cache.bases().Get(BaseKey(changes), [&] {
    JobBase job = resolved_.BuildBase();
    for (const ClusterChange& change : changes) job.cluster = change.apply(job.cluster);
    Cluster cluster = job.cluster;
    std::vector<SlowPart> slow = values_.slow.SlowDown(cluster);
    NetworkOptions network = values_.network.Build(cluster);
    return std::make_shared<StudyBase>(StudyBase{std::move(job), std::move(cluster),
                                                 std::move(network), std::move(slow),
                                                 cache.Model(values_.cost_model)});
  });
}

JobPlan StudyFlags::BuildPlan(const StudyBase& base) const { return resolved_.BuildPlan(base.job); }

}  // namespace stagecraft
