// The flags that name a workload, a cluster and a plan, shared by every verb that simulates.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "proto/plan.pb.h"
#include "sim/cluster/cluster.h"
#include "sim/memory/framework_memory.h"
#include "sim/plan/plan.h"
#include "sim/step/mechanism.h"
#include "sim/workload/workload.h"
#include "tools/flags/file_part.h"
#include "tools/flags/pipeline_schedule_flags.h"
#include "tools/flags/planned_job.h"
#include "tools/flags/sync_flags.h"
#include "tools/stacks/stack_table.h"
#include "tools/verb/flags.h"

namespace stagecraft {

// PlanFlags: a workload, a cluster and a plan, as a command line describes them.
class PlanFlags {
 public:
  // Sets the cluster that is used without --cluster, which is required otherwise. Must be called
  // before Register().
  void SetUsualCluster(std::function<Cluster()> usual) { usual_cluster_ = std::move(usual); }

  // Lets a file say what flags do not: --model and --cluster are then not required. Must be called
  // before Register().
  void MayTakeFromFile() { may_take_from_file_ = true; }

  // Registers the flags; the object must outlive the parse.
  void Register(Flags& flags);

  // Takes a network, a cluster and a plan where no flags give them; `model` and `cluster` may be
  // empty. Must be called after the parse.
  void TakeFromFile(const std::string& model, const std::string& cluster,
                    std::optional<FilePart<PlanProto>> plan);

  // Returns what the flags ask for. Throws InputError that names the flag or file at fault.
  PlannedJob Build() const;
  // The same in parts, for verbs that build many plans. Resolve() returns a copy in which flags
  // that are not given have the defaults of the training stack, which it appends to `used`. Of this
  // copy, equal keys have equal bases, as long as the files that flags name stay as they are.
  PlanFlags Resolve(std::vector<StackValue>& used) const;
  std::string BaseKey() const;
  JobBase BuildBase() const;
  JobPlan BuildPlan(const JobBase& base) const;

  // The network, as --model names it.
  const std::string& model() const { return model_; }

  // Whether a flag of a plan is given; a training stack's default does not count.
  bool IsGiven(const std::string& flag) const;

  // Whether --attention is given; a training stack's default does not count.
  bool ChoosesAttention() const;
  // Has the same effect as --attention unfused. Must be called after the flags were parsed.
  void UseUnfusedAttention();

  // Registers the flags of a search: all but those of degrees, pipeline schedule, recomputation
  // and sharding, which it chooses.
  void RegisterGiven(Flags& flags);
  // Returns the workload and the cluster without a plan; sets `given` to all that the search does
  // not choose.
  PlannedJob BuildGiven(PlanDegrees* given) const;

 private:
  // What the defaults of a training stack are for: a plan that the flags describe, a search, which
  // chooses what it can, or a plan from a file, which says all but what the network and the
  // software are.
  enum class StackUse { kPlan, kSearch, kPlanFile };

  void RegisterJob(Flags& flags);
  void RegisterStack(Flags& flags);
  void RegisterMechanisms(Flags& flags);
  void RegisterAttention(Flags& flags);
  void RegisterDegrees(Flags& flags);
  void RegisterBatch(Flags& flags);
  void RegisterPlaces(Flags& flags);
  void RegisterMargin(Flags& flags);
  void RegisterMemory(Flags& flags);
  void RegisterRecomputation(Flags& flags);
  void RegisterStep(Flags& flags);
  void RegisterOffloading(Flags& flags);
  void RegisterOverlap(Flags& flags);
  void RegisterFramework(Flags& flags);
  // Adds a flag that a plan file replaces.
  template <typename T>
  Flag Add(FlagGroup group, const char* names, T& value, FlagText text) {
    return degree_options_.emplace_back(group.Add(names, value, std::move(text)));
  }
  PlanDegrees Degrees() const;
  // Appends a note on each default that depends on the network or the cluster to `notes`.
  PlanDegrees DegreesFor(const Workload& workload, std::vector<std::string>& notes) const;
  // Fills in the global batch, unless it is given.
  void FillBatch(const Cluster& cluster, PlanDegrees& degrees,
                 std::vector<std::string>& notes) const;
  std::vector<std::string> InputFiles() const;
  // Throws InputError if flags on the training stack contradict each other.
  void CheckStack() const;
  // The part of Resolve() that concerns the stack, which must be given.
  PlanFlags WithStackDefaults(StackUse use, std::vector<StackValue>& used) const;
  // `take(key, flag, to, value)` sets `to` to the stack's value of the key unless the flag is
  // given.
  template <typename Take>
  void TakeStepDefaults(const StackDefaults& stack, const Take& take);
  void TakePipelineDefaults(const StackDefaults& stack, std::vector<StackValue>& used);
  Cluster LoadCluster() const;
  // Throws InputError for an unknown mechanism.
  std::vector<Mechanism> SwitchedOff() const;
  std::vector<std::string> NotesOnCluster() const;
  Workload LoadNetwork(const Cluster& cluster) const;
  FrameworkMemory MemoryOfSoftware() const;
  // Returns the plan with the first of none, selective and full with which every stage fits into
  // its device, or else with full; sets `note` to a sentence about it.
  Plan LeastRecomputation(PlanDegrees degrees, const Workload& workload, const Cluster& cluster,
                          std::string* note) const;
  // Returns the plan that --plan or another file gives, if any. Throws InputError for flags that it
  // replaces.
  std::optional<FilePart<PlanProto>> PlanFromFile() const;
  // Whether the network has as many rows of a vocabulary as padding would give it for that plan.
  bool IsVocabularyPadded(int multiple) const;

  std::string memory_margin_ = "0";  // per cent; RegisterMargin() sets the default
  std::string model_, frozen_, layer_state_, cluster_, plan_file_;
  std::optional<double> host_dispatch_us_, clock_;  // of all devices
  std::string scale_;                               // of the cluster, as ParseClusterScale() reads
  std::string transport_;                           // what all interfaces speak; empty: as they do
  std::vector<std::string> without_;                // words of mechanisms
  bool may_take_from_file_ = false;
  std::optional<FilePart<PlanProto>> given_plan_;  // unless --plan is given
  std::function<Cluster()> usual_cluster_;         // empty: --cluster is required
  std::string precision_ = "bf16", recompute_ = "selective", recompute_method_ = "block";
  std::string attention_ = "flash", stack_, software_date_;
  std::string resolved_stack_;  // whose defaults Resolve() took, and of which month
  std::string backward_prefetch_ = "pre", parameter_gather_ = "layers";
  std::string parameter_exchange_ = "gather", recompute_layers_;
  std::string optimizer_ = "adam", context_exchange_ = "ring", fp8_recipe_ = "delayed";
  std::string embedding_placement_ = "first-last";
  std::vector<int> stage_layers_;
  double host_memory_gib_ = 0;
  PlanDegrees degrees_;
  PipelineScheduleFlags schedule_;
  SyncFlags sync_;
  FrameworkMemory memory_;        // of the stack's software
  std::string stack_note_;        // on what is not as the stack does it; may be empty
  bool keeps_attention_ = false;  // the stack's default does not replace attention_
  bool sequence_parallel_ = true, is_compiled_ = false;
  std::string recompute_parts_ = "none", expert_sends_ = "every-copy";
  bool groups_experts_ = true;
  int vocabulary_multiple_ = 0;       // > 0: as PaddedVocabulary() takes it
  std::vector<Flag> degree_options_;  // those that a plan file replaces
  Flag attention_option_;
  Flag sequence_parallel_option_;
};

}  // namespace stagecraft
