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

std::string CostModelFlag::file() const {
  return name_ == "analytical" || name_ == "learned" ? "" : name_;
}

}  // namespace stagecraft
