#include "tools/check/check_kinds.h"

#include <fmt/core.h>

#include <cstdint>
#include <set>

#include "costmodel/check.h"
#include "costmodel/device_catalogue.h"
#include "costmodel/learned/learned_model.h"
#include "costmodel/learned/samples/attention_kernels.h"
#include "costmodel/learned/samples/sample_proto.h"
#include "costmodel/nccl_proto.h"
#include "costmodel/network/measured_networks.h"
#include "costmodel/network/network_model.h"
#include "costmodel/proto_file.h"
#include "proto/attention_kernels.pb.h"
#include "proto/cluster.pb.h"
#include "proto/cost_model.pb.h"
#include "proto/dynamics.pb.h"
#include "proto/grid.pb.h"
#include "proto/history.pb.h"
#include "proto/in_view.pb.h"
#include "proto/job.pb.h"
#include "proto/job_events.pb.h"
#include "proto/layer_state.pb.h"
#include "proto/measured_networks.pb.h"
#include "proto/nccl.pb.h"
#include "proto/network.pb.h"
#include "proto/plan.pb.h"
#include "proto/row_facts.pb.h"
#include "proto/sample.pb.h"
#include "proto/schedule.pb.h"
#include "proto/stack.pb.h"
#include "proto/timeline.pb.h"
#include "proto/training_framework.pb.h"
#include "proto/workload.pb.h"
#include "sim/cluster/cluster_proto.h"
#include "sim/cluster/cluster_spec.h"
#include "sim/cluster/node_catalogue.h"
#include "sim/dynamics/dynamics_proto.h"
#include "sim/job/job_events_proto.h"
#include "sim/plan/plan_proto.h"
#include "sim/schedule/deadlock.h"
#include "sim/schedule/schedule_proto.h"
#include "sim/schedule/timeline_record_proto.h"
#include "sim/workload/layer_state.h"
#include "sim/workload/layer_state_proto.h"
#include "sim/workload/workload_catalogue.h"
#include "sim/workload/workload_proto.h"
#include "tools/check/check_samples.h"
#include "tools/frameworks/framework_table.h"
#include "tools/report/in_view.h"
#include "tools/stacks/stack_table.h"
#include "tools/sweep/read_grid.h"
#include "tools/train/job_file.h"
#include "tools/validation/row_facts.h"

namespace stagecraft {
namespace {

using google::protobuf::Message;

std::string DescribeSchedule(const Schedule& schedule, const std::string& path) {
  try {
    CheckForDeadlock(schedule);
  } catch (const DeadlockError& error) {
    throw InputError(path + ": tasks wait for each other in a circle: " + error.what());
  }
  return fmt::format("{} tasks on {} lanes of {} ranks", schedule.task_count(),
                     schedule.lane_count(), schedule.ranks().size());
}

// Checks that the tasks of a lane follow one another, and that none precedes those for which it
// waits.
void CheckFollows(const Schedule& schedule, const Timeline& timeline, const std::string& path) {
  const auto check = [&](TaskId before, TaskId after, const char* why) {
    if (timeline.end(before) <= timeline.start(after)) return;
    throw InputError(fmt::format(
        "{}: start_ns[{}]: got {}, want at least {}, the end of task {} "
        "{}",
        path, after, timeline.start(after).ns(), timeline.end(before).ns(), before, why));
  };
  for (TaskId task = 0; task < schedule.task_count(); ++task) {
    for (const TaskId next : schedule.successors(task)) check(task, next, "that it waits for");
  }
  for (int lane = 0; lane < schedule.lane_count(); ++lane) {
    const std::span<const TaskId> order = schedule.order(Lane(lane));
    for (size_t i = 1; i < order.size(); ++i) {
      check(order[i - 1], order[i], "before it on its lane");
    }
  }
}

std::string DescribeTimeline(const TimelineProto& proto, const std::string& path) {
  const Timeline timeline = TimelineFromProto(proto, path + ": timeline");
  std::string detail =
      fmt::format("{} tasks in {:.6f} ms, fingerprint {:016x}", timeline.task_count(),
                  timeline.makespan().ms(), timeline.Fingerprint());
  if (!proto.has_schedule()) return detail + ", no schedule";
  const TimelineRecord record = TimelineRecordFromProto(proto, path);
  // Kernels of one stream may run side by side, as those of a CUDA graph do.
  if (!record.kernels) CheckFollows(record.schedule, timeline, path);
  if (record.measurement) detail += ", measured by executor " + record.measurement->executor;
  return detail + ", schedule of " + DescribeSchedule(record.schedule, path);
}

std::string DescribePlan(const PlanProto& proto, const std::string& path,
                         const CheckContext& context) {
  CheckPlanStructure(proto, path);
  if (!context.workload || !context.cluster) {
    return "only its structure is checked: give --model and --cluster for the rest";
  }
  const Plan plan = PlanFromProto(proto, *context.workload, *context.cluster, path);
  return fmt::format("{} stages on {} of {} devices, {} micro-batches of {} sample{} for {}",
                     plan.stages.size(), plan.device_count(), context.cluster->device_count(),
                     plan.micro_batches(), plan.micro_batch, plan.micro_batch == 1 ? "" : "s",
                     context.workload->name);
}

std::string DescribeWorkload(const WorkloadProto& proto, const std::string& path) {
  const Workload workload = WorkloadFromProto(proto, path);
  return fmt::format("{}: {} layers, {} parameters", workload.name, workload.layer_count(),
                     workload.Parameters());
}

std::string DescribeLayerStates(const LayerStatesProto& proto, const std::string& path,
                                const CheckContext& context) {
  CheckLayerStates(proto, path);
  if (!context.workload) return "only its numbers are checked: give --model for the rest";
  Workload workload = *context.workload;
  ApplyLayerStates(path, LayerStatesFromProto(proto, workload, path), workload);
  return fmt::format("{} entries for {} layers of {}, {} of {} parameters trained",
                     proto.states_size(), workload.layer_count(), workload.name,
                     workload.TrainedParameters(), workload.Parameters());
}

std::string DescribeDynamics(const DynamicsProto& proto, const std::string& path,
                             const CheckContext& context) {
  if (!context.workload) return "nothing is checked: give --model of the network that changes";
  DynamicsFromProto(proto, *context.workload, path);
  return "changes of " + context.workload->name;
}

std::string DescribeJobEvents(const JobEventsProto& proto, const std::string& path,
                              const CheckContext& context) {
  if (!context.cluster) return "nothing is checked: give --cluster for which they are";
  const JobEvents events = JobEventsFromProto(proto, *context.cluster, path);
  return fmt::format("{} events on {}{}", events.events.size(), context.cluster->name(),
                     proto.has_rates() ? ", and others that are drawn" : "");
}

std::string DescribeJob(const JobProto& proto, const std::string& path,
                        const CheckContext& context) {
  const JobFile job = JobFileFrom(proto, path);
  if ((job.model.empty() && !context.workload) || (job.cluster.empty() && !context.cluster)) {
    return "only its own numbers are checked: it names no network, or no cluster";
  }
  const Workload workload =
      context.workload ? *context.workload : LoadWorkload(job.model, AttentionBackend::kFlash);
  const Cluster cluster = context.cluster ? *context.cluster : ParseCluster(job.cluster);
  CheckJobFile(job, workload, cluster);
  return fmt::format("{} steps of {} on {}", proto.steps(), workload.name, cluster.name());
}

std::string DescribeHistory(const HistoryProto& proto, const std::string&, const CheckContext&) {
  return fmt::format("{} steps on {} devices, {} phases, {} failures", proto.steps(),
                     proto.devices(), proto.phases_size(), proto.failures());
}

// A kind whose messages are of type Proto.
template <typename Proto, typename Describe>
FileKind Kind(const char* name, std::vector<std::string> telling_keys, Describe describe) {
  return {name, std::move(telling_keys), [] { return std::make_unique<Proto>(); },
          [describe](const Message& message, const std::string& path, const CheckContext& context) {
            return describe(static_cast<const Proto&>(message), path, context);
          }};
}

std::string DescribeDevices(const DeviceCatalogueProto& proto, const std::string& path,
                            const CheckContext&) {
  const auto catalogue = DeviceCatalogue::Parse(proto.SerializeAsString(), path, ".pb");
  return fmt::format("{} devices", catalogue.entries().size());
}

std::string DescribeNodes(const NodeCatalogueProto& proto, const std::string& path,
                          const CheckContext&) {
  const auto catalogue = NodeCatalogue::Parse(proto.SerializeAsString(), path, ".pb");
  return fmt::format("{} node types", catalogue.entries().size());
}

std::string DescribeCostModel(const CostModelProto& proto, const std::string& path,
                              const CheckContext&) {
  const LearnedModel model = LearnedModel::FromProto(proto, path);
  std::set<std::string> gpus;
  int families = 0, trees = 0;
  for (const FamilyModelProto& family : proto.families()) {
    for (const GpuConstantsProto& gpu : family.boards()) gpus.insert(gpu.device().id());
    families += family.boards_size() > 0 ? 1 : 0;
    trees += family.trees().roots_size() + family.spread_trees().roots_size();
  }
  return fmt::format(
      "{} families fitted on {} GPU types, {} trees, {} bytes{}{}", families, gpus.size(), trees,
      proto.ByteSizeLong(),
      model.measured_ops() == 0 ? "" : fmt::format(", {} measured ops", model.measured_ops()),
      proto.provenance().empty() ? "" : "; " + proto.provenance());
}

}  // namespace

const std::vector<FileKind>& FileKinds() {
  using C = CheckContext;
  using S = std::string;
  static const std::vector<FileKind> kinds = {
      Kind<TimelineProto>("timeline", {"start_ns", "end_ns", "fingerprint"},
                          [](const TimelineProto& proto, const S& path, const C&) {
                            return DescribeTimeline(proto, path);
                          }),
      Kind<ScheduleProto>("schedule", {"tasks", "lanes", "blocks", "ops", "ranks"},
                          [](const ScheduleProto& proto, const S& path, const C&) {
                            return DescribeSchedule(ScheduleFromProto(proto, path + ": schedule"),
                                                    path);
                          }),
      Kind<PlanProto>("plan", {"stages", "degrees", "micro_batch", "global_batch"}, DescribePlan),
      Kind<ClusterProto>("cluster", {"node_groups", "links"},
                         [](const ClusterProto& proto, const S& path, const C&) {
                           return DescribeCluster(ClusterFromProto(proto, path));
                         }),
      Kind<WorkloadProto>("workload", {"kinds", "layers"},
                          [](const WorkloadProto& proto, const S& path, const C&) {
                            return DescribeWorkload(proto, path);
                          }),
      Kind<LayerStatesProto>("layer states", {"states", "depth", "trained_last"},
                             DescribeLayerStates),
      Kind<DynamicsProto>(
          "dynamics",
          {"pruning", "freezing", "experts", "early_exit", "mixture_of_depths", "sparse_attention"},
          DescribeDynamics),
      Kind<JobProto>("job",
                     {"model", "cluster", "steps", "plan", "plan_file", "dynamics", "dynamics_file",
                      "events_file", "balance", "checkpoint", "recovery"},
                     DescribeJob),
      Kind<JobEventsProto>("cluster events", {"events", "rates"}, DescribeJobEvents),
      Kind<HistoryProto>("history", {"phases", "losses", "goodput"}, DescribeHistory),
      Kind<DeviceCatalogueProto>("device catalogue", {"devices"}, DescribeDevices),
      Kind<NodeCatalogueProto>("node catalogue", {"nodes"}, DescribeNodes),
      Kind<NcclTuningProto>("NCCL tuning", {"ring", "tree", "generation"},
                            [](const NcclTuningProto& proto, const S& path, const C&) {
                              NcclTuningFromProto(proto, path);
                              return S("version ") + proto.version();
                            }),
      Kind<StackTableProto>("stack defaults", {"stacks", "gpt_vocabulary"},
                            [](const StackTableProto& proto, const S& path, const C&) {
                              StackTable::Parse(proto.DebugString(), path);
                              return fmt::format("{} stacks", proto.stacks_size());
                            }),
      Kind<TrainingFrameworkTableProto>(
          "training frameworks", {"frameworks"},
          [](const TrainingFrameworkTableProto& proto, const S& path, const C&) {
            FrameworkTable::Parse(proto.DebugString(), path);
            return fmt::format("{} frameworks", proto.frameworks_size());
          }),
      Kind<RowFactTableProto>("facts of measured rows", {"rows", "flag_lists"},
                              [](const RowFactTableProto& proto, const S& path, const C&) {
                                RowFactTable::Parse(proto.DebugString(), path);
                                return fmt::format("{} entries", proto.rows_size());
                              }),
      Kind<MeasuredNetworksProto>("measured networks", {"networks", "sources"},
                                  [](const MeasuredNetworksProto& proto, const S& path, const C&) {
                                    MeasuredNetworks::Parse(proto.DebugString(), path);
                                    return fmt::format("{} networks, {} sources",
                                                       proto.networks_size(), proto.sources_size());
                                  }),
      Kind<AttentionKernelsProto>("attention kernels", {"kernels"},
                                  [](const AttentionKernelsProto& proto, const S& path, const C&) {
                                    AttentionKernels::Parse(proto.DebugString(), path);
                                    return fmt::format("{} kernels", proto.kernels_size());
                                  }),
      Kind<InViewTableProto>("constants chosen in view", {"chosen"},
                             [](const InViewTableProto& proto, const S& path, const C&) {
                               InViewTable::Parse(proto.DebugString(), path);
                               return fmt::format("{} entries", proto.chosen_size());
                             }),
      Kind<GridProto>("grid", {"flags", "points"},
                      [](const GridProto& proto, const S& path, const C&) {
                        return DescribeGrid(GridFrom(proto, path));
                      }),
      Kind<CostModelProto>("cost model", {"families", "floors"}, DescribeCostModel),
      Kind<NetworkModelProto>("network model", {"curves"},
                              [](const NetworkModelProto& proto, const S& path, const C&) {
                                const size_t curves = NetworkModel::FromProto(proto, path).curves();
                                return fmt::format(
                                    "{} curves{}", curves,
                                    proto.provenance().empty() ? "" : "; " + proto.provenance());
                              }),
      Kind<SampleSetProto>(
          "samples", {"samples"},
          [](const SampleSetProto& proto, const S& path, const C&) {
            return DescribeSamples({"samples", SamplesFromProto(proto, path), 0}, path);
          }),
  };
  return kinds;
}

}  // namespace stagecraft
