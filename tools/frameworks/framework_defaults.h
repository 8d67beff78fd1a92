// What every import sets in the same way: the software's habits, and products of degrees.
#pragma once

#include <cstdint>
#include <string>

#include "proto/plan.pb.h"
#include "tools/frameworks/imported_training.h"
#include "tools/frameworks/option_reader.h"

namespace stagecraft {

// Sets the stack, and how it carries out a plan: what data/stacks.textproto says of it in the month
// that `wishes` name.
void TakeStackHabits(const std::string& stack, const TrainingWishes& wishes,
                     ImportedTraining& training);

// Sets data parallelism if the number of processes, or the cluster, is known. Throws an InputError
// that begins with `file` if the degrees of the plan do not divide it, or if gradients would be
// reduced among more than kMostOfADegree ranks.
void TakeDataParallelism(const std::string& file, const TrainingWishes& wishes,
                         ImportedTraining& training);

// Returns the samples of a training step. All factors are at least 1. Throws an InputError that
// begins with `file` if there are more than kMostOfABatch.
int64_t GlobalBatch(const std::string& file, int64_t micro_batch, int64_t steps, int64_t replicas);

// The ranks among which gradients are reduced: data x context parallel; 0 if that is not known.
int64_t DataRanks(const PlanProto& plan);

// Has the optimizer's states offloaded to the host. Throws an InputError at the option unless
// --host-memory-gib was given.
void TakeOptimizerOffload(const std::string& place, const TrainingWishes& wishes, PlanProto& plan);

}  // namespace stagecraft
