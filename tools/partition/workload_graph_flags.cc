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
constexpr DType kPrecisions[] = {DType::kBf16, DType::kFp16, DType::kFp32, DType::kTf32,
                                 DType::kFp8};

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

void WorkloadGraphFlags::Register(CLI::App& app) {
  app.add_option("--model", model_,
                 "instead of --graph: the operators of a workload, by name or config.json");
  batch_options_ = {
      app.add_option("--seq", sequence_, "tokens per sample of --model [the model's limit]")
          ->check(CLI::Range(int64_t{1}, kMostTokens)),
      app.add_option("--micro-batch", micro_batch_, "samples of --model that go at once [1]")
          ->check(CLI::Range(int64_t{1}, kMostTokens)),
      app.add_option("--gpu", gpu_, "on which operators of --model are timed [a100-sxm4-80gb]"),
      app.add_option("--precision", precision_, "of --model [bf16]")
          ->check(OneOf(PrecisionNames()))};
  app.add_option("--train-models", training_models_, "workloads to learn on, as --model")
      ->delimiter(',');
  cost_model_.Register(app);
}

void WorkloadGraphFlags::Check() const {
  if (is_given()) return;
  for (const CLI::Option* option : batch_options_) {
    if (option->count() == 0) continue;
    throw InputError(option->get_name() + ": got it without --model, whose operators it is for");
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
