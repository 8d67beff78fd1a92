// StudyCache: what the points of a study have in common, made once.
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "costmodel/cost_model.h"
#include "sim/cluster/cluster.h"
#include "sim/engine/sim_executor.h"
#include "tools/flags/planned_job.h"

namespace stagecraft {

// A cost model that remembers its estimates, and what it was made from.
struct StudyModel {
  std::unique_ptr<const CostModel> model;  // as --cost-model and --measured-ops name it
  std::unique_ptr<const CostModel> memo;   // asks `model`
};

// All of a point but its plan.
struct StudyBase {
  JobBase job;      // the cluster is at full speed; plans are made for it
  Cluster cluster;  // with the parts that are slow; steps are simulated on it
  NetworkOptions network;
  std::vector<SlowPart> slow;
  std::shared_ptr<const StudyModel> model;
};

// SharedByKey: the latest values that were asked for, each made once. May be used from any thread.
template <typename Value>
class SharedByKey {
 public:
  // Keeps at most `most` values; those in use live on with their users.
  explicit SharedByKey(size_t most) : most_(most) {}

  // Returns the value of this key; calls `make` if there is none, while other threads wait. What
  // `make` throws is passed on, and nothing is kept.
  std::shared_ptr<const Value> Get(const std::string& key,
                                   const std::function<std::shared_ptr<const Value>()>& make) {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (auto it = values_.begin(); it != values_.end(); ++it) {
      if (it->first != key) continue;
      values_.splice(values_.begin(), values_, it);
      return values_.front().second;
    }
    values_.emplace_front(key, make());
    if (values_.size() > most_) values_.pop_back();
    return values_.front().second;
  }

 private:
  const size_t most_;
  std::mutex mutex_;
  std::list<std::pair<std::string, std::shared_ptr<const Value>>> values_;  // latest first
};

// What all threads of a study share. Must outlive their evaluators. Files are read once: a study
// does not see that they change.
class StudyCache {
 public:
  SharedByKey<StudyModel>& models() { return models_; }
  SharedByKey<StudyBase>& bases() { return bases_; }

 private:
  static constexpr size_t kMostModels = 8;
  static constexpr size_t kMostBases = 64;

  SharedByKey<StudyModel> models_{kMostModels};
  SharedByKey<StudyBase> bases_{kMostBases};
};

}  // namespace stagecraft
