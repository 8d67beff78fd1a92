// StudyCache: what the points of a study have in common, made once.
#pragma once

#include <algorithm>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>

#include "costmodel/check.h"
#include "costmodel/cost_model.h"
#include "sim/cluster/cluster.h"
#include "sim/engine/sim_executor.h"
#include "tools/flags/cost_model_flag.h"
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

  // Returns the value of this key; calls `make` if there is none, while other threads wait. An
  // InputError of `make` is kept, too, and thrown again for the same key.
  std::shared_ptr<const Value> Get(const std::string& key,
                                   const std::function<std::shared_ptr<const Value>()>& make) {
    const std::lock_guard<std::mutex> lock(mutex_);
    auto entry = std::find_if(entries_.begin(), entries_.end(),
                              [&](const Entry& one) { return one.key == key; });
    if (entry == entries_.end()) {
      entries_.push_front(Make(key, make));
      if (entries_.size() > most_) entries_.pop_back();
    } else {
      entries_.splice(entries_.begin(), entries_, entry);
    }
    if (entries_.front().value == nullptr) throw InputError(entries_.front().refusal);
    return entries_.front().value;
  }

 private:
  struct Entry {
    std::string key;
    std::shared_ptr<const Value> value;
    std::string refusal;  // in place of a value
  };
  static Entry Make(const std::string& key,
                    const std::function<std::shared_ptr<const Value>()>& make) {
    try {
      return {key, make(), ""};
    } catch (const InputError& error) {
      return {key, nullptr, error.what()};
    }
  }

  const size_t most_;
  std::mutex mutex_;
  std::list<Entry> entries_;  // latest first
};

// What all threads of a study share. Must outlive their evaluators. Files are read once: a study
// does not see that they change.
class StudyCache {
 public:
  // Returns the model that a flag names. Throws InputError as CostModelFlag::Load() does.
  std::shared_ptr<const StudyModel> Model(const CostModelFlag& flag);
  SharedByKey<StudyBase>& bases() { return bases_; }

 private:
  static constexpr size_t kMostModels = 8;
  static constexpr size_t kMostBases = 64;

  SharedByKey<StudyModel> models_{kMostModels};
  SharedByKey<StudyBase> bases_{kMostBases};
};

}  // namespace stagecraft
