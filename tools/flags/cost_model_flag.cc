#include "tools/flags/cost_model_flag.h"

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
    if (NetworkModel::IsModelFile(name_)) {
      return std::make_unique<LearnedModel>(
          LearnedModel::Shipped().WithNetwork(NetworkModel::Read(name_)));
    }
    return std::make_unique<LearnedModel>(LearnedModel::Read(name_));
  };
  return WithMeasuredOps(load());
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
  return WithMeasuredOps(std::make_unique<LearnedModel>(kernels.WithNetwork(without)));
}

std::vector<std::string> CostModelFlag::files() const {
  std::vector<std::string> files = measured_ops_;
  if (name_ != "analytical" && name_ != "learned") files.insert(files.begin(), name_);
  return files;
}

}  // namespace stagecraft
