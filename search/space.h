// DegreeSpace: all plans of equal stages and replicas that a problem allows, each once.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "search/device_orders.h"
#include "search/problem.h"
#include "search/replica_counts.h"
#include "sim/plan/plan.h"

namespace stagecraft {

// Limits of the values that are tried if none are asked for.
inline constexpr int kMostTensor = 64;
inline constexpr int kMostChunks = 16;

// Returns the most samples of a micro-batch that are tried if none are asked for: 16, or more as
// long as they have at most 65,536 tokens.
int64_t MostMicroBatch(const SearchProblem& problem);

// The functions below return the choices of the problem or, if it leaves them open, the usual ones.
// Pipeline schedules are in the order of their enumerators, each once.
std::vector<PipelineSchedule> SchedulesToTry(const SearchProblem& problem);
// Returns the schedule that is tried with one stage: 1F1B or, if that is not among the choices, the
// first one that allows one chunk per stage.
std::optional<PipelineSchedule> ScheduleOfOneStage(const SearchProblem& problem);
std::vector<Recompute> RecomputesToTry(const SearchProblem& problem);
std::vector<std::string> RankOrdersToTry(const SearchProblem& problem);
// Returns numbers of samples of a micro-batch, all of which divide the batch.
std::vector<int64_t> MicroBatchesToTry(const SearchProblem& problem);
std::vector<int> ExpertsToTry(const SearchProblem& problem);
// Returns the chunks per stage with which this many stages can run a schedule.
std::vector<int> ChunksToTry(const SearchProblem& problem, PipelineSchedule pipeline_schedule,
                             int stages);

// DegreePart stands for the plans that use only a given part of a list's devices, with pipeline
// schedules of one class.
struct DegreePart {
  DevicePart devices;
  ScheduleClass schedules = ScheduleClass::kUsual;
};

// DegreeFamily stands for the plans of a part with the same number of devices and the same degrees
// of tensor, context, pipeline and data parallelism.
struct DegreeFamily {
  DegreePart part;
  int devices = 0;
  int tensor = 1, context = 1, pipeline = 1, data = 1;
  bool splits_tokens = false;           // sequence parallelism
  bool overlaps_tensor = false;         // StepOptions::overlap_tensor
  std::optional<int> device_list = {};  // index in DeviceOrders::For(); nullopt: any list
};

// DegreeChoice is one plan of a family that is on a list of devices; only a few bytes, since there
// are millions.
struct DegreeChoice {
  DevicePart part;
  int32_t devices, tensor, context, pipeline, data, expert, chunks, micro_batch;
  uint8_t schedule, recompute, zero;
  uint8_t rank_order;  // of RankOrdersToTry()
  bool splits_tokens : 1;
  bool overlaps_tensor : 1, overlaps_gather : 1, overlaps_sends : 1;  // as in StepOptions
  uint8_t device_list;                                                // index: the family's
};

// DegreeSpace lists the degrees that a problem allows for plans on `devices`, in parts and
// families, so that a search need not list what it can rule out as a whole. MakePlan() can make
// every choice into a plan, unless its pipeline schedule needs more memory than it may use. All
// numbers are resolved: data and zero are what the plan will have. Parts, families, and the choices
// of each are in the order of the problem's choices, so they are the same at every call. No plan is
// in two parts.
//
//   devices    as DeviceCounts says; with kAny also numbers with which the replicas divide the
//              batch
//   tensor     divides heads and hidden size; at most kMostTensor
//   context    a power of two, at most 16, that leaves each rank 256 tokens of a sequence
//   expert     divides the experts and the data-parallel ranks
//   pipeline   divides what is left of the devices
//   schedule   a pipeline schedule; only one if there is one stage
//   chunks     at most kMostChunks; more than the schedule needs only if virtual stages divide
//              the blocks, or the layers with both ends; one if there is one stage
//   micro-batch  divides a replica's samples, at most MostMicroBatch(); only if the schedule
//              takes that many micro-batches (FindMicroBatchError()). If the replicas do not
//              divide the batch, it divides the batch, and some replicas take one micro-batch
//              more than others
//   sequence parallelism  with and without, if tensor ranks can share tokens
//   rank order  the replicas of a stage next to each other, or the stages of a replica; only
//              one if it makes no difference (rank_places.h)
//   recompute  none and full, and selective if it changes anything
//   zero       only 0 if there is nothing to share; 0 and 1 with unequal replicas
//   overlap    as given, or if the choices leave it open: that of tensor parallelism with and
//              without where its groups lie within scale-up domains and share tokens; that of
//              gathers with and without where there are any after the update
class DegreeSpace {
 public:
  // The problem must outlive the space. Ranks take `devices` as DeviceOrders says; those of one
  // node are next to each other.
  DegreeSpace(const SearchProblem& problem, std::vector<int> devices);

  const std::vector<int>& devices() const { return orders_.devices(); }
  // Returns the list of devices of a family or choice: rank r of its plans is on the r-th of them.
  // Equal lists are the same object. May be called from any thread. Precondition: the family is on
  // a list.
  const std::vector<int>& DevicesOf(const DegreeFamily& family) const;
  const std::vector<int>& DevicesOf(const DegreeChoice& choice) const;
  // Returns the devices of a part, in the order of the list.
  const std::vector<int>& DevicesOf(const DevicePart& part) const { return orders_.In(part); }
  // Returns the parts into which all plans are divided, by the devices that they may use and by the
  // class of their pipeline schedules.
  std::vector<DegreePart> Parts() const;
  // Returns how many devices of a part plans may use, the most first. Leaves out the numbers that
  // are tried in addition because the replicas then divide the batch.
  std::vector<int> CountsOf(const DevicePart& part) const;
  // Returns every way to divide a replica that plans of a part may have: families without numbers
  // of devices and replicas.
  std::vector<DegreeFamily> ReplicasOf(const DegreePart& part) const;
  ReplicaCounts ReplicaCountsOf(const DevicePart& part) const;
  // Returns the family of such a replica with the most replicas, less than `below`; no value if
  // there is none.
  std::optional<DegreeFamily> FamilyBelow(const DegreeFamily& replica, const ReplicaCounts& counts,
                                          int64_t below) const;
  // Returns the families of a part, none of them on a list of devices yet: those of one replica
  // after another, the most replicas first.
  std::vector<DegreeFamily> FamiliesOf(const DegreePart& part) const;
  // Returns every way to divide what a stage computes: families of which nothing else is set.
  std::vector<DegreeFamily> StageDegrees() const;
  // Returns whether there is only one list of devices for all families of a part.
  bool has_one_list() const { return orders_.are_by_number(); }
  // Returns the family on each list of devices that suits its degrees.
  std::vector<DegreeFamily> OnLists(const DegreeFamily& family) const;
  // Returns the plans of a family. Precondition: the family is on a list.
  std::vector<DegreeChoice> ChoicesOf(const DegreeFamily& family) const;
  // Returns the degrees that problem and choice give together.
  PlanDegrees Degrees(const DegreeChoice& choice) const;
  // Returns them without the shares of unequal replicas (PlanDegrees::replica_micro_batches), which
  // bounds do not need and which take time for each replica.
  PlanDegrees DegreesWithoutShares(const DegreeChoice& choice) const;

 private:
  const SearchProblem& problem_;
  const DeviceOrders orders_;
  const std::vector<std::string> rank_orders_;
};

// Returns all devices of the cluster, in order.
std::vector<int> AllDevices(const Cluster& cluster);

}  // namespace stagecraft
