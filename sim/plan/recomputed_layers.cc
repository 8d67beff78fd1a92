#include "sim/plan/recomputed_layers.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>

#include "costmodel/check.h"

namespace stagecraft {
namespace {

using Method = RecomputeChoice::Method;

bool IsBlock(const Workload& workload, int layer) {
  return workload.layer(layer).role == LayerRole::kBlock;
}

bool Contains(const LayerRange& range, int layer) {
  return layer >= range.first && layer < range.first + range.count;
}

// The first `most` blocks of a chunk.
void AppendFirstBlocks(const Workload& workload, const LayerRange& chunk, int most,
                       std::vector<LayerRange>& ranges) {
  for (int l = chunk.first; l < chunk.first + chunk.count && most > 0; ++l) {
    if (!IsBlock(workload, l)) continue;
    ranges.push_back({l, 1});
    --most;
  }
}

// All transformer blocks of a chunk, in ranges of `size` consecutive ones.
void AppendUniform(const Workload& workload, const LayerRange& chunk, int size,
                   std::vector<LayerRange>& ranges) {
  const size_t begin = ranges.size();
  for (int l = chunk.first; l < chunk.first + chunk.count; ++l) {
    if (!IsBlock(workload, l)) continue;
    const bool continues = ranges.size() > begin && ranges.back().count < size &&
                           ranges.back().first + ranges.back().count == l;
    if (continues) {
      ++ranges.back().count;
    } else {
      ranges.push_back({l, 1});
    }
  }
}

void AppendListed(const std::vector<LayerRange>& listed, const LayerRange& chunk,
                  std::vector<LayerRange>& ranges) {
  for (const LayerRange& range : listed) {
    const int end = std::min(range.first + range.count, chunk.first + chunk.count);
    for (int l = std::max(range.first, chunk.first); l < end; ++l) ranges.push_back({l, 1});
  }
}

void CheckChoice(const RecomputeChoice& choice, const Plan& plan, const Workload& workload) {
  const size_t stages = plan.stages.size();
  if (!choice.counts.empty() && !choice.layers.empty()) {
    throw InputError("recompute_layers: cannot be given together with recompute_num_layers");
  }
  if (choice.method == Method::kUniform && choice.counts.size() != 1) {
    throw InputError(fmt::format("recompute_num_layers: got {} numbers, want one with uniform",
                                 choice.counts.size()));
  }
  if (choice.counts.size() > 1 && choice.counts.size() != stages) {
    throw InputError(
        fmt::format("recompute_num_layers: got {} numbers, want one, or one for each of {} stages",
                    choice.counts.size(), stages));
  }
  const int least = choice.method == Method::kUniform ? 1 : 0;
  for (const int count : choice.counts) {
    if (count < least) {
      throw InputError(fmt::format("recompute_num_layers: got {}, want at least {}", count, least));
    }
  }
  for (const LayerRange& range : choice.layers) {
    const bool exists = range.first >= 0 && range.count >= 1 &&
                        range.first < workload.layer_count() &&
                        range.count <= workload.layer_count() - range.first;
    if (exists) continue;
    throw InputError(fmt::format("recompute_layers: got layers {} to {}, want 0 to {}, of {}",
                                 range.first, static_cast<int64_t>(range.first) + range.count - 1,
                                 workload.layer_count() - 1, workload.name));
  }
}

// What is wrong with one range of a stage; "" if nothing.
std::string RangeProblem(const Stage& stage, const LayerRange& range, int next, int zero,
                         const Workload& workload) {
  const auto inside = [&](const LayerRange& chunk) {
    return range.count >= 1 && Contains(chunk, range.first) &&
           range.count <= chunk.first + chunk.count - range.first;
  };
  if (std::none_of(stage.chunks.begin(), stage.chunks.end(), inside)) {
    return "want them in one chunk of the stage";
  }
  if (range.first < next) return "want ranges that ascend, each layer once";
  for (int l = range.first; l < range.first + range.count; ++l) {
    if (!IsBlock(workload, l)) {
      return fmt::format("but layer {} of {} is its embedding or head, which do not recompute", l,
                         workload.name);
    }
  }
  if (zero >= 3 && range.count > 1) {
    return "want ranges of one layer with zero 3, which gathers layer by layer";
  }
  return "";
}

}  // namespace

void ChooseRecomputedLayers(const PlanDegrees& degrees, const Workload& workload, Plan& plan) {
  const RecomputeChoice& choice = degrees.recompute_choice;
  for (Stage& stage : plan.stages) stage.recompute = degrees.recompute;
  if (choice == RecomputeChoice()) return;
  CheckChoice(choice, plan, workload);
  for (size_t s = 0; s < plan.stages.size(); ++s) {
    Stage& stage = plan.stages[s];
    if (stage.recompute == Recompute::kFull) stage.recompute = Recompute::kNone;
    for (const LayerRange& chunk : stage.chunks) {
      if (!choice.layers.empty()) {
        AppendListed(choice.layers, chunk, stage.recomputed);
        continue;
      }
      const int count = choice.counts[choice.counts.size() == 1 ? 0 : s];
      if (choice.method == Method::kUniform) {
        AppendUniform(workload, chunk, count, stage.recomputed);
      } else {
        AppendFirstBlocks(workload, chunk, count, stage.recomputed);
      }
    }
    std::sort(stage.recomputed.begin(), stage.recomputed.end(),
              [](const LayerRange& a, const LayerRange& b) { return a.first < b.first; });
  }
}

void FindRecomputeErrors(const Plan& plan, const Workload& workload,
                         std::vector<std::string>& errors) {
  for (size_t s = 0; s < plan.stages.size(); ++s) {
    const Stage& stage = plan.stages[s];
    if (stage.recompute == Recompute::kFull && !stage.recomputed.empty()) {
      errors.push_back(fmt::format(
          "stages[{}].recomputed: got {} ranges, want none with recompute full, which covers all",
          s, stage.recomputed.size()));
      return;
    }
    int next = 0;
    for (size_t i = 0; i < stage.recomputed.size(); ++i) {
      const LayerRange& range = stage.recomputed[i];
      const std::string problem = RangeProblem(stage, range, next, plan.zero, workload);
      if (!problem.empty()) {
        errors.push_back(fmt::format("stages[{}].recomputed[{}]: got layers {} to {}, {}", s, i,
                                     range.first,
                                     static_cast<int64_t>(range.first) + range.count - 1, problem));
        return;
      }
      next = range.first + range.count;
    }
  }
}

}  // namespace stagecraft
