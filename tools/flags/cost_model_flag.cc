#include "tools/flags/cost_model_flag.h"

#include <fmt/core.h>

#include <set>
#include <utility>

#include "costmodel/analytical_model.h"
#include "costmodel/embedded_nccl_tuning.h"
#include "costmodel/learned/learned_model.h"
#include "costmodel/learned/measured_ops.h"
#include "costmodel/learned/samples/sample_file.h"
#include "costmodel/network/network_model.h"

namespace stagecraft {

void CostModelFlag::Register(Flags& flags) {
  FlagGroup group = flags.In(FlagTopic::kCostModel);
  group
      .Add("--cost-model", name_,
           {"<name|file>",
            "What predicts how long an op takes: the model that comes with this program (learned), "
            "closed formulas (analytical), or a file that fit wrote.",
            "", "learned"})
      .Suggest([] {
        return Args{"learned", "analytical"};
      });
  group.Add("--measured-ops", measured_ops_,
            {"<file>...",
             "Samples of ops, as run --op-samples writes them: these ops take their measured time, "
             "all others the time that the cost model predicts."});
}

std::unique_ptr<CostModel> CostModelFlag::WithMeasuredOps(std::unique_ptr<CostModel> model) const {
  if (measured_ops_.empty()) return model;
  std::vector<Sample> samples;
  for (const std::string& file : measured_ops_) {
    const std::vector<Sample> own = ReadSamples(file);
    samples.insert(samples.end(), own.begin(), own.end());
  }
  return std::make_unique<MeasuredOps>(std::move(model), samples, "--measured-ops");
}

std::unique_ptr<CostModel> CostModelFlag::Load() const {
  const auto load = [this]() -> std::unique_ptr<CostModel> {
    if (name_ == "analytical") return std::make_unique<AnalyticalModel>(EmbeddedNcclTuning());
    if (name_ == "learned") return std::make_unique<LearnedModel>(LearnedModel::Shipped());
    if (IsNetworkFile()) {
      return std::make_unique<LearnedModel>(
          LearnedModel::Shipped().WithNetwork(NetworkModel::Read(name_)));
    }
    return std::make_unique<LearnedModel>(LearnedModel::Read(name_));
  };
  return WithMeasuredOps(load());
}

std::unique_ptr<CostModel> CostModelFlag::LoadWithout(std::span<const std::string> sites) const {
  if (name_ == "analytical") return nullptr;
  const NetworkModel network = Network();
  NetworkModel without = network.Without(sites);
  if (without.curves() == network.curves()) return nullptr;
  const bool has_kernels = name_ != "learned" && !IsNetworkFile();
  const LearnedModel kernels = has_kernels ? LearnedModel::Read(name_) : LearnedModel::Shipped();
  return WithMeasuredOps(std::make_unique<LearnedModel>(kernels.WithNetwork(without)));
}

bool CostModelFlag::IsNetworkFile() const {
  return name_ != "learned" && name_ != "analytical" && NetworkModel::IsModelFile(name_);
}

NetworkModel CostModelFlag::Network() const {
  return IsNetworkFile() ? NetworkModel::Read(name_) : NetworkModel::Shipped();
}

std::vector<std::string> CostModelFlag::NotesOnNetworks(const Cluster& cluster) const {
  std::vector<std::string> notes;
  if (name_ == "analytical" || cluster.node_count() == 1) return notes;
  const NetworkModel model = Network();
  std::set<NetworkKind> seen;
  for (const Cluster::NodeGroup& group : cluster.groups()) {
    const Link& nic = group.type.nic;
    const bool is_new = group.type.nics > 0 && seen.insert(nic.network).second;
    if (!is_new || model.KnowsNetwork(nic)) continue;
    if (nic.network == NetworkKind::kUnstated) {
      notes.push_back(fmt::format(
          "the kind of network between nodes of {} is not stated: its latency suggests {}; "
          "collectives that cross it have intervals of at least a factor of 1.5 each way",
          group.type.id, Title(LikelyKind(nic.latency))));
    } else {
      notes.push_back(fmt::format(
          "nobody measured collectives over {}: they are priced like those of related networks, in "
          "intervals of at least a factor of 1.5 each way",
          Title(nic.network)));
    }
  }
  return notes;
}

std::vector<std::string> CostModelFlag::files() const {
  std::vector<std::string> files = measured_ops_;
  if (name_ != "analytical" && name_ != "learned") files.insert(files.begin(), name_);
  return files;
}

}  // namespace stagecraft
