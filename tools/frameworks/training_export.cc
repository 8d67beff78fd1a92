#include "tools/frameworks/training_export.h"

#include <fmt/format.h>

#include <algorithm>

#include "costmodel/check.h"
#include "costmodel/text.h"
#include "sim/workload/workload_catalogue.h"
#include "tools/frameworks/deepspeed_writer.h"
#include "tools/frameworks/megatron_writer.h"
#include "tools/frameworks/torchtitan_writer.h"

namespace stagecraft {
namespace {

// The nodes that hold the first `ranks` devices, all of them in full.
ProcessCount ProcessesOf(const Cluster& cluster, int ranks) {
  const int per_node = cluster.groups()[0].type.devices;
  if (ranks <= per_node) return {1, ranks};
  for (const Cluster::NodeGroup& group : cluster.groups()) {
    if (group.type.devices == per_node && ranks % per_node == 0) continue;
    throw InputError(
        fmt::format("{} ranks do not fill nodes of {} GPUs, want the same number on every node",
                    ranks, per_node));
  }
  return {ranks / per_node, per_node};
}

}  // namespace

const std::vector<TrainingExport::Format>& TrainingExport::Formats() {
  static const std::vector<Format> formats = {
      {"megatron", "megatron-core", {".sh"}, "a launch script of Megatron-LM's pretrain_gpt.py"},
      {"nemo", "megatron-bridge", {".yaml", ".yml"}, "a configuration of Megatron-Bridge"},
      {"torchtitan",
       "torchtitan",
       {".toml", ".sh"},
       "a job file of torchtitan's releases before 2026 (.toml), or a launch script (.sh)"},
      {"deepspeed", "deepspeed", {".json"}, "DeepSpeed's configuration"},
  };
  return formats;
}

const TrainingExport::Format* TrainingExport::Find(const std::string& name) {
  for (const Format& format : Formats()) {
    if (name == format.name) return &format;
  }
  return nullptr;
}

const TrainingExport::Format* TrainingExport::FindFor(const std::string& framework) {
  for (const Format& format : Formats()) {
    if (framework == format.framework) return &format;
  }
  return nullptr;
}

void TrainingExport::CheckPath(const Format& format, const std::string& flag,
                               const std::string& path) {
  const bool is_right =
      std::any_of(format.extensions.begin(), format.extensions.end(),
                  [&](const std::string& extension) { return path.ends_with(extension); });
  if (is_right) return;
  throw InputError(
      fmt::format("{}: got \"{}\", want a {} file", flag, path, Join(format.extensions, " or ")));
}

LaunchText TrainingExport::Write(const Format& format, const Plan& plan, const Workload& workload,
                                 const Cluster& cluster, const std::string& model,
                                 const std::string& path) {
  const TrainingFramework* const framework = FrameworkTable::Embedded().Find(format.framework);
  CHECK(framework != nullptr);
  RefuseObstacles(*framework, plan, workload);
  const RegularPlan regular = FindRegularity(plan, workload).plan;
  const std::string_view name = format.name;
  const DecoderConfig network =
      name == "deepspeed" ? DecoderConfig() : Completed(LoadDecoderConfig(model));
  const LaunchJob job{plan,    workload, regular,
                      network, model,    ProcessesOf(cluster, regular.Ranks())};
  LaunchText launch = name == "megatron"     ? WriteMegatron(job)
                      : name == "nemo"       ? WriteNemo(job)
                      : name == "torchtitan" ? WriteTorchtitan(job, path.ends_with(".sh"))
                                             : WriteDeepspeed(job);
  if (workload.has_frozen_layers()) {
    launch.notes.push_back("which layers are frozen must be said in the code of the network");
  }
  return launch;
}

}  // namespace stagecraft
