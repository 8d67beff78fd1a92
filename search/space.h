// The plans of equal stages and replicas from which a problem leaves to choose, each once.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "search/device_orders.h"
#include "search/problem.h"
#include "sim/plan/plan.h"

namespace stagecraft {

// Limits for what is sought if nothing is asked for.
inline constexpr int kMostTensor = 64;
inline constexpr int kMostChunks = 16;

// Samples of a micro-batch if nothing is asked for: 16, or more as long as they have at most 65,536
// tokens.
int64_t MostMicroBatch(const SearchProblem& problem);

// The choices of the problem or, if it leaves them open, the usual ones; pipeline schedules in the
// order of their enumeration, each once.
std::vector<PipelineSchedule> SchedulesToTry(const SearchProblem& problem);
// The schedule that is tried with one stage: 1F1B or, if that is no choice, the first that takes
// one chunk.
std::optional<PipelineSchedule> ScheduleOfOneStage(const SearchProblem& problem);
std::vector<Recompute> RecomputesToTry(const SearchProblem& problem);
std::vector<std::string> RankOrdersToTry(const SearchProblem& problem);
// Samples of a micro-batch; all divide the batch.
std::vector<int64_t> MicroBatchesToTry(const SearchProblem& problem);
std::vector<int> ExpertsToTry(const SearchProblem& problem);

// Plans of equal stages and replicas that use only some of a list's devices, with pipeline
// schedules of one class.
struct DegreePart {
  DevicePart devices;
  ScheduleClass schedules = ScheduleClass::kUsual;
};

// Plans of a part that share what is costly to distinguish: the number of its devices, and the
// number of stages of the pipeline.
struct DegreeFamily {
  DegreePart part;
  int devices = 0;
  int tensor = 1, context = 1, pipeline = 1, data = 1;
  bool splits_tokens = false;           // sequence parallelism
  std::optional<int> device_list = {};  // index into DeviceOrders::For(); nullopt: any
};

// What one plan of a family on a list of devices chooses in addition; a few bytes, since there are
// millions.
struct DegreeChoice {
  DevicePart part;
  int32_t devices, tensor, context, pipeline, data, expert, chunks, micro_batch;
  uint8_t schedule, recompute, zero;
  uint8_t rank_order;  // of RankOrdersToTry()
  bool splits_tokens;
  uint8_t device_list;  // of the family
};

// The degrees from which a problem leaves to choose for plans on `devices`, in parts and families,
// so that a search need not list what it can rule out as a whole. Every choice can be made into a
// plan by MakePlan(), unless its pipeline schedule needs more of what is measured. All numbers are
// resolved: data and zero are what the plan will have. Parts, families, and the choices of each are
// sorted by the order of the problem's choices, so they are the same at every call. No plan is in
// two parts.
//
//   devices    as DeviceCounts says; with kAny also as many replicas as divide the batch
//   tensor     divides heads and hidden size; at most kMostTensor
//   context    a power of two, at most 16, that leaves 256 tokens of a sequence
//   expert     divides the experts and the data-parallel ranks
//   pipeline   divides what is left of the devices
//   schedule   one pipeline schedule if there is one stage
//   chunks     if virtual stages divide the blocks, or the layers with both ends; at most
//              kMostChunks, and one if there is one stage
//   micro-batch  divides a replica's samples, at most MostMicroBatch(); of those with one
//              chunk and several only what fills the pipeline's groups. If the replicas do
//              not divide the batch, it divides the batch, and some replicas take one
//              micro-batch more than others
//   sequence parallelism  with and without if tensor ranks could share tokens
//   rank order replicas of a stage beside each other, or stages of a replica; only one if
//              it makes no difference (rank_places.h)
//   recompute  none and full, and selective if it changes anything
//   zero       only 0 if there is nothing to share; 0 and 1 with unequal replicas
class DegreeSpace {
 public:
  // The problem must outlive it. Ranks take `devices` as DeviceOrders says; those of a node stand
  // together.
  DegreeSpace(const SearchProblem& problem, std::vector<int> devices);

  const std::vector<int>& devices() const { return orders_.devices(); }
  // Rank r of its plans is on the r-th of these. Equal lists are the same object. May be called
  // from any thread. Precondition: the family is on a list.
  const std::vector<int>& DevicesOf(const DegreeFamily& family) const;
  const std::vector<int>& DevicesOf(const DegreeChoice& choice) const;
  // The devices of a part, by number in the list.
  const std::vector<int>& DevicesOf(const DevicePart& part) const { return orders_.In(part); }
  // All plans, divided by the devices that they may use and by the class of their pipeline
  // schedules.
  std::vector<DegreePart> Parts() const;
  // How many devices of a part plans may use, the most first, apart from numbers of replicas that
  // divide the batch.
  std::vector<int> CountsOf(const DevicePart& part) const;
  // The families of a part, none of them on a list of devices yet.
  std::vector<DegreeFamily> FamiliesOf(const DegreePart& part) const;
  // Every way to divide what a stage computes; nothing else about these families is set.
  std::vector<DegreeFamily> StageDegrees() const;
  // Whether the families of each part are all on one list of devices.
  bool has_one_list() const { return orders_.are_by_number(); }
  // The family on each list of devices that suits its degrees.
  std::vector<DegreeFamily> OnLists(const DegreeFamily& family) const;
  // The plans of a family. Precondition: the family is on a list.
  std::vector<DegreeChoice> ChoicesOf(const DegreeFamily& family) const;
  // The degrees that problem and choice give together.
  PlanDegrees Degrees(const DegreeChoice& choice) const;

 private:
  const SearchProblem& problem_;
  const DeviceOrders orders_;
  const std::vector<std::string> rank_orders_;
};

// All devices of the cluster, in order.
std::vector<int> AllDevices(const Cluster& cluster);

}  // namespace stagecraft
