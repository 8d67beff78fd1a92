// TrainingReader: the base of classes that read the options of one framework, or a part of them.
#pragma once

#include <span>
#include <string>

#include "proto/plan.pb.h"
#include "sim/plan/rank_order.h"
#include "tools/frameworks/imported_training.h"
#include "tools/frameworks/option_reader.h"

namespace stagecraft {

// An option that changes time or memory, but not here.
struct NotSimulated {
  const char* name;
  const char* why;
};

// Keeps references to the arguments of its constructor. Errors begin with `file`.
class TrainingReader {
 public:
  TrainingReader(OptionReader& reader, const std::string& file, const TrainingWishes& wishes,
                 ImportedTraining& training)
      : reader_(reader),
        file_(file),
        wishes_(wishes),
        training_(training),
        plan_(training.plan),
        degrees_(*training.plan.mutable_degrees()) {}

 protected:
  // Sets what does not depend on options.
  void BeginPlan() {
    plan_.set_schema(1);
    plan_.set_rank_order(kDefaultRankOrder);
  }

  void AreNotSimulated(std::span<const NotSimulated> options) {
    for (const NotSimulated& option : options) reader_.IsNotSimulated(option.name, option.why);
  }

  OptionReader& reader_;
  const std::string& file_;
  const TrainingWishes& wishes_;
  ImportedTraining& training_;
  PlanProto& plan_;  // of `training_`, as are its degrees
  DegreesProto& degrees_;
};

}  // namespace stagecraft
