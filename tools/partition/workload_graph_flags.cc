#include "tools/partition/workload_graph_flags.h"

#include <fmt/core.h>

#include <filesystem>
#include <utility>

#include "costmodel/check.h"
#include "costmodel/device_catalogue.h"
#include "search/partition/workload_graph.h"
#include "sim/workload/workload_catalogue.h"
#include "tools/verb/flags.h"

namespace stagecraft {
namespace {

constexpr int64_t kMostTokens = 1 << 30;
constexpr DType kPrecisions[] = {DType::kBf16, DType::kFp16, DType::kFp32,
                                 DType::kTf32, DType::kFp8,  DType::kNvfp4};

Args PrecisionNames() {
  Args names;
  for (const DType precision : kPrecisions) names.push_back(Name(precision));
  return names;
}

DType FindPrecision(const std::string& name) {
  for (const DType precision : kPrecisions) {
    if (name == Name(precision)) return precision;
  }
  CHECK(false);
  return {};
}

}  // namespace

void WorkloadGraphFlags::Register(Flags& flags) {
  FlagGroup group = flags.In(FlagTopic::kNetwork);
  group
      .Add("--model", model_,
           {"<network>",
            "Cut the operators of a network, in place of --graph: a preset or a config.json, as "
            "simulate takes them."})
      .Suggest(WorkloadNames)
      .Common();
  batch_options_ = {
      group
          .Add("--seq", sequence_,
               {"<n>", "With --model: tokens per sample.", "1 or more", "the network's limit"})
          .Between(int64_t{1}, kMostTokens),
      group
          .Add("--micro-batch", micro_batch_,
               {"<n>", "With --model: samples per micro-batch.", "1 or more", "1"})
          .Between(int64_t{1}, kMostTokens),
      group.Add("--gpu", gpu_,
                {"<gpu>", "With --model: the GPU type on which operators are timed.", "",
                 "a100-sxm4-80gb"}),
      group
          .Add("--precision", precision_,
               {"<name>", "With --model: number format of GEMMs.", "", "bf16"})
          .OneOf(PrecisionNames())};
  flags.In(FlagTopic::kPolicy)
      .Add("--train-models", training_models_,
           {"<network,...>", "Networks to learn on before the search, as for --model."})
      .SplitAtCommas();
  cost_model_.Register(flags);
}

void WorkloadGraphFlags::Check() const {
  if (is_given()) return;
  for (const Flag& flag : batch_options_) {
    if (!flag.is_given()) continue;
    throw InputError(flag.name() + ": got it without --model, whose operators it is for");
  }
}

std::vector<PartitionGraph> WorkloadGraphFlags::Load(const std::vector<std::string>& names) const {
  const std::unique_ptr<CostModel> model = cost_model_.Load();
  std::vector<PartitionGraph> graphs;
  for (const std::string& name : names) graphs.push_back(LoadOne(name, *model));
  return graphs;
}

PartitionGraph WorkloadGraphFlags::LoadOne(const std::string& name, const CostModel& model) const {
  const Workload workload = LoadWorkload(name, AttentionBackend::kFlash);
  if (workload.is_profile()) {
    throw InputError(name + ": is a profile, want it as --graph");
  }
  const Device& device = DeviceCatalogue::Embedded().Get(gpu_, "--gpu").device;
  const int64_t sequence = sequence_ > 0 ? sequence_ : workload.max_sequence;
  if (sequence <= 0) throw InputError("--seq: got nothing, want tokens per sample");
  if (sequence * micro_batch_ > kMostTokens) {
    throw InputError(
        fmt::format("--micro-batch: got {} samples of {} tokens, want at most {} tokens",
                    micro_batch_, sequence, kMostTokens));
  }
  const WorkloadBatch batch{micro_batch_, sequence, FindPrecision(precision_)};
  PartitionGraph graph{workload.name, "", GraphFormat::kWorkload};
  graph.timed = ToTimedGraph(workload, batch, device, model);
  return graph;
}

std::string WorkloadGraphFlags::Note() const {
  return fmt::format("times of {}, {}, micro-batch {}{}, by the {} cost model", gpu_, precision_,
                     micro_batch_, sequence_ > 0 ? fmt::format(" of {} tokens", sequence_) : "",
                     cost_model_.name());
}

std::vector<std::string> WorkloadGraphFlags::InputFiles() const {
  std::vector<std::string> files;
  std::vector<std::string> names = training_models_;
  names.push_back(model_);
  for (const std::string& file : cost_model_.files()) names.push_back(file);
  for (const std::string& name : names) {
    std::error_code error;
    std::filesystem::path path(name);
    if (std::filesystem::is_directory(path, error)) path /= "config.json";
    if (std::filesystem::is_regular_file(path, error)) files.push_back(path.string());
  }
  return files;
}

}  // namespace stagecraft
