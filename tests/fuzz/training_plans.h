// Checks a plan that was imported from a training framework.
#pragma once

#include "sim/cluster/cluster_spec.h"
#include "sim/plan/plan_proto.h"
#include "sim/workload/workload_catalogue.h"
#include "tests/fuzz/fuzzing.h"
#include "tools/frameworks/imported_training.h"
#include "tools/frameworks/parted_plan.h"

namespace stagecraft::fuzz {

// Layers of a network that takes no time to build.
inline constexpr int64_t kMostFuzzedLayers = 200;

// What the readers assume besides their files.
inline const Cluster& TrainingCluster() {
  static const Cluster cluster = ParseCluster("h100-sxm:2x8");
  return cluster;
}
inline TrainingWishes Wishes() {
  TrainingWishes wishes;
  wishes.cluster = &TrainingCluster();
  wishes.model = "megatron:8x64x4";
  wishes.sequence = 64;
  return wishes;
}

// Whether import() returns a training whose plan is sound; others must be refused by an InputError.
template <typename Import>
bool AcceptsTraining(const Import& import) {
  return Accepts([&] {
    ImportedTraining training = import();
    if (training.network && training.network->layers > kMostFuzzedLayers) return;
    const Workload workload =
        training.network ? BuildDecoder(*training.network, AttentionBackend::kFlash, "fuzzed")
                         : LoadWorkload("megatron:8x64x4", AttentionBackend::kFlash);
    PlaceParts("fuzzed", workload, &TrainingCluster(), training);
    const Plan plan = PlanFromProto(training.plan, workload, TrainingCluster(), "fuzzed");
    CHECK(FindErrors(plan, workload, TrainingCluster()).empty());
  });
}

}  // namespace stagecraft::fuzz
