#include "tools/cost_model_flag.h"

#include "costmodel/analytical_model.h"
#include "costmodel/learned/learned_model.h"
#include "costmodel/nccl_proto.h"
#include "costmodel/network/network_model.h"

namespace stagecraft {

void CostModelFlag::Register(CLI::App& app) {
  app.add_option("--cost-model", name_, "learned, analytical or a file that fit wrote [learned]");
}

std::unique_ptr<CostModel> CostModelFlag::Load() const {
  if (name_ == "analytical") return std::make_unique<AnalyticalModel>(EmbeddedNcclTuning());
  if (name_ == "learned") return std::make_unique<LearnedModel>(LearnedModel::Shipped());
  if (NetworkModel::IsModelFile(name_)) {
    return std::make_unique<LearnedModel>(
        LearnedModel::Shipped().WithNetwork(NetworkModel::Read(name_)));
  }
  return std::make_unique<LearnedModel>(LearnedModel::Read(name_));
}

std::unique_ptr<CostModel> CostModelFlag::LoadWithout(std::span<const std::string> sites) const {
  if (name_ == "analytical") return nullptr;
  const bool is_file = name_ != "learned";
  const bool is_network = is_file && NetworkModel::IsModelFile(name_);
  const NetworkModel network = is_network ? NetworkModel::Read(name_) : NetworkModel::Shipped();
  NetworkModel without = network.Without(sites);
  if (without.curves() == network.curves()) return nullptr;
  const bool has_kernels = is_file && !is_network;
  const LearnedModel kernels = has_kernels ? LearnedModel::Read(name_) : LearnedModel::Shipped();
  return std::make_unique<LearnedModel>(kernels.WithNetwork(without));
}

std::string CostModelFlag::file() const {
  return name_ == "analytical" || name_ == "learned" ? "" : name_;
}

}  // namespace stagecraft
