// Tests the families into which a space of degrees is divided: FamilyQueue returns each of them
// once, those with the least bounds first, and no plan is below the bounds of its family.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "costmodel/memo_model.h"
#include "costmodel/random.h"
#include "costmodel/units.h"
#include "search/family_queue.h"
#include "search/layer_times.h"
#include "search/pipeline_times.h"
#include "search/space.h"
#include "search/step_bound.h"
#include "sim/pipeline/chunk_map.h"
#include "tests/all_families.h"
#include "tests/small_problems.h"

namespace stagecraft {
namespace {

// All that a family is.
using Identity = std::array<int, 11>;

Identity IdentityOf(const DegreeFamily& family) {
  return {family.part.devices.first_node,
          family.part.devices.node_devices,
          static_cast<int>(family.part.schedules),
          family.devices,
          family.tensor,
          family.context,
          family.pipeline,
          family.data,
          family.splits_tokens ? 1 : 0,
          family.overlaps_tensor ? 1 : 0,
          family.device_list.value_or(-1)};
}

SearchProblem AskForAll(const SmallProblem& small, const CostModel& model, uint64_t seed) {
  constexpr DeviceCounts kCounts[] = {DeviceCounts::kAny, DeviceCounts::kHalves,
                                      DeviceCounts::kAll};
  SearchProblem problem = small.Ask(model);
  problem.objective = seed % 4 == 3 ? Objective::kCost : Objective::kStepTime;
  problem.choices.device_counts = kCounts[seed % 3];
  problem.choices.micro_batches = {1, 2, 4};
  problem.choices.chooses_tensor_overlap = seed % 3 != 1;
  problem.choices.chooses_gather_overlap = seed % 4 == 0;
  if (seed % 2 == 1) {
    problem.choices.schedules = {PipelineSchedule::kOneForwardOneBackward,
                                 PipelineSchedule::kInterleaved, PipelineSchedule::kZeroBubbleV,
                                 PipelineSchedule::kDualPipe, PipelineSchedule::kChimera};
  }
  return problem;
}

TEST(FamilyQueueTest, EveryFamilyComesOnceInTheOrderOfItsBound) {
  int families = 0, overlapping = 0;
  for (uint64_t seed = 0; seed < 12; ++seed) {
    const auto small = MakeSmallProblem(Random(seed), 1);
    const MemoModel memo(small->model);
    const SearchProblem problem = AskForAll(*small, memo, seed);
    const DegreeSpace space(problem, AllDevices(problem.cluster));
    LayerTimesMemo layers(problem);
    StepBound bound(problem, AllDevices(problem.cluster), layers);
    const auto score = [&](const DegreeFamily& family, Duration least) {
      return least.seconds() * (problem.objective == Objective::kCost ? family.devices : 1);
    };
    const auto close = [&](const DegreeFamily& family) {
      return score(family, bound.CloseStepTime(family));
    };
    FamilyQueue queue(
        problem, space,
        {.of_part = [](const DegreePart&) { return 0.0; },
         .of_family =
             [&](const DegreeFamily& family) { return score(family, bound.StepTime(family)); },
         .close = close});
    std::vector<Identity> found, want;
    const auto divide = [&](ScheduleClass schedules, Overlaps overlaps) {
      double last = 0;
      while (const std::optional<double> least = queue.LeastScore(schedules, overlaps)) {
        EXPECT_GE(*least, last);
        last = *least;
        const std::optional<DegreeFamily> family = queue.Divide(schedules, overlaps);
        if (!family) continue;
        EXPECT_EQ(family->part.schedules, schedules);
        EXPECT_TRUE(overlaps == Overlaps::kAny || !family->overlaps_tensor);
        EXPECT_EQ(std::max(close(*family), last), last);
        overlapping += family->overlaps_tensor ? 1 : 0;
        found.push_back(IdentityOf(*family));
      }
    };
    for (const ScheduleClass schedules : kScheduleClasses) {
      // What the problem gives may be asked for before the rest.
      if (seed % 2 == 0) divide(schedules, Overlaps::kAsGiven);
      divide(schedules, Overlaps::kAny);
    }
    for (const DegreeFamily& family : AllFamilies(space)) want.push_back(IdentityOf(family));
    std::sort(found.begin(), found.end());
    std::sort(want.begin(), want.end());
    EXPECT_EQ(found, want) << seed;
    families += static_cast<int>(found.size());
  }
  EXPECT_GT(families, 1000);
  EXPECT_GT(overlapping, 100);
}

// With more families to choose from, those of a search without a choice come in the same order and
// with the same bounds, as long as no others are asked for.
TEST(FamilyQueueTest, AChoiceLeavesTheOrderOfWhatIsGiven) {
  int families = 0;
  for (uint64_t seed = 0; seed < 12; ++seed) {
    const auto small = MakeSmallProblem(Random(seed), 1);
    const MemoModel memo(small->model);
    const auto order = [&](bool chooses) {
      SearchProblem problem = AskForAll(*small, memo, seed);
      problem.choices.chooses_tensor_overlap = chooses;
      const DegreeSpace space(problem, AllDevices(problem.cluster));
      LayerTimesMemo layers(problem);
      StepBound bound(problem, AllDevices(problem.cluster), layers);
      FamilyQueue queue(
          problem, space,
          {.of_part = [](const DegreePart&) { return 0.0; },
           .of_family =
               [&](const DegreeFamily& family) { return bound.StepTime(family).seconds(); },
           .close =
               [&](const DegreeFamily& family) { return bound.CloseStepTime(family).seconds(); }});
      std::vector<std::pair<double, std::optional<Identity>>> steps;
      const ScheduleClass schedules = ScheduleClass::kUsual;
      while (const auto least = queue.LeastScore(schedules, Overlaps::kAsGiven)) {
        const auto family = queue.Divide(schedules, Overlaps::kAsGiven);
        steps.emplace_back(*least, family ? std::optional(IdentityOf(*family)) : std::nullopt);
      }
      EXPECT_EQ(queue.LeastScore(schedules, Overlaps::kAny).has_value(), chooses) << seed;
      return steps;
    };
    const auto as_given = order(false);
    EXPECT_EQ(order(true), as_given) << seed;
    families += static_cast<int>(as_given.size());
  }
  EXPECT_GT(families, 1000);
}

TEST(FamilyQueueTest, NoPlanIsBelowTheBoundsOfItsFamily) {
  int tight = 0, count = 0;
  for (uint64_t seed = 0; seed < 12; ++seed) {
    const auto small = MakeSmallProblem(Random(seed), 1);
    const MemoModel memo(small->model);
    const SearchProblem problem = AskForAll(*small, memo, seed);
    const DegreeSpace space(problem, AllDevices(problem.cluster));
    LayerTimesMemo layers(problem);
    StepBound bound(problem, AllDevices(problem.cluster), layers);
    for (const DegreeFamily& family : AllFamilies(space)) {
      if (!family.part.devices.is_whole()) continue;
      Duration least = Duration::Max();
      for (const DegreeChoice& choice : space.ChoicesOf(family)) {
        least = std::min(least, bound.StepTime(space.Degrees(choice)));
      }
      EXPECT_LE(bound.StepTime(family), least);
      EXPECT_LE(bound.CloseStepTime(family), least);
      if (least == Duration::Max()) continue;
      ++count;
      tight += bound.CloseStepTime(family) == least ? 1 : 0;
    }
  }
  EXPECT_GT(count, 500);
  EXPECT_GT(tight, count / 2);
}

TEST(PipelineTimesTest, IsTheTimeOfTheSlowestStage) {
  Random random(5);
  const std::vector<ChunkMap> maps = {ChunkMap::Looped(1, 1),     ChunkMap::Looped(5, 1),
                                      ChunkMap::Looped(4, 3),     ChunkMap::Wave(6, 2),
                                      ChunkMap::Bidirectional(4), ChunkMap::Bidirectional(8, 2)};
  for (const ChunkMap& map : maps) {
    PartTimes parts;
    for (int part = 0; part < map.length(); ++part) {
      parts.forward.push_back(Duration::Nanoseconds(random.Integer(1, 100)));
      parts.backward.push_back(Duration::Nanoseconds(random.Integer(1, 200)));
    }
    for (const PipelineEnds ends :
         {PipelineEnds{}, PipelineEnds{true, false}, PipelineEnds{false, false}}) {
      const PipelineTimes times(map, parts, ends);
      for (int micro_batches = 1; micro_batches < 40; ++micro_batches) {
        Duration want;
        for (int stage = 0; stage < map.stages(); ++stage) {
          Duration passes, before = Duration::Max(), after = Duration::Max();
          for (int chunk = 0; chunk < map.chunks(); ++chunk) {
            const ChunkMap::Part part = map.PartAt({stage, chunk});
            passes += map.MicroBatches(part.chain, micro_batches) *
                      (parts.forward[part.index] + parts.backward[part.index]);
            Duration forwards, backwards;
            for (int other = 0; other < part.index; ++other) {
              forwards += parts.forward[other];
              backwards += parts.backward[other];
            }
            before = std::min(before, forwards);
            after = std::min(after, backwards);
          }
          if (!ends.fills) before = Duration();
          if (!ends.drains) after = Duration();
          want = std::max(want, before + passes + after);
        }
        EXPECT_EQ(times.Of(micro_batches), want) << map.stages() << " " << micro_batches;
      }
    }
  }
}

}  // namespace
}  // namespace stagecraft
