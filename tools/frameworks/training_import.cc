#include "tools/frameworks/training_import.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <utility>

#include "costmodel/check.h"
#include "costmodel/proto_file.h"
#include "sim/cluster/cluster_spec.h"
#include "sim/plan/plan_proto.h"
#include "sim/workload/limits.h"
#include "sim/workload/readers/hf_config.h"
#include "sim/workload/workload_catalogue.h"
#include "tools/frameworks/deepspeed_reader.h"
#include "tools/frameworks/huggingface_reader.h"
#include "tools/frameworks/megatron_reader.h"
#include "tools/frameworks/nemo_reader.h"
#include "tools/frameworks/network_file.h"
#include "tools/frameworks/parted_plan.h"
#include "tools/frameworks/torchtitan_reader.h"
#include "tools/import/import_text.h"
#include "tools/stacks/stack_table.h"
#include "tools/verb/print_json.h"
#include "tools/verb/proto_text.h"
#include "tools/verb/report_header.h"
#include "tools/verb/shell_quoting.h"

namespace stagecraft {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr int kSchema = 1;

struct Written {
  std::string plan_path, plan_text;
  std::string network_path, network_text;  // empty: --model names the network
  std::vector<std::string> command;        // of simulate, behind "stagecraft"
};

// The network that the plan is for, as it is simulated.
Workload WorkloadOf(const ImportedTraining& training, const std::string& path) {
  const bool is_unfused =
      std::find(training.flags.begin(), training.flags.end(), "unfused") != training.flags.end();
  const AttentionBackend attention =
      is_unfused ? AttentionBackend::kUnfused : AttentionBackend::kFlash;
  if (training.network) return BuildDecoder(*training.network, attention, path);
  return LoadWorkload(training.model, attention);
}

// The file of a network is beside that of its plan: plan.yaml, plan.model.json.
std::string NetworkPath(const std::string& plan_path) {
  fs::path path(plan_path);
  return path.replace_extension(".model.json").string();
}

Written Finish(const std::string& file, const std::string& plan_path, const Cluster* cluster,
               const std::string& cluster_text, const std::string& software_date,
               ImportedTraining& training) {
  Written written;
  written.plan_path = plan_path;
  std::string model = training.model;
  if (training.network) {
    written.network_path = model = NetworkPath(plan_path);
    written.network_text = NetworkFileText(*training.network, fs::path(file).stem().string());
  }
  const Workload workload = WorkloadOf(training, model);
  PlaceParts(file, workload, cluster, training);
  CheckPlanStructure(training.plan, file);
  if (cluster != nullptr) PlanFromProto(training.plan, workload, *cluster, file);
  written.plan_text = ProtoText(training.plan, fs::path(plan_path).extension().string());
  written.command = {"simulate",
                     "--model",
                     model,
                     "--cluster",
                     cluster_text.empty() ? "CLUSTER" : cluster_text,
                     "--plan",
                     plan_path,
                     "--stack",
                     training.stack};
  if (!software_date.empty()) {
    written.command.insert(written.command.end(), {"--software-date", software_date});
  }
  written.command.insert(written.command.end(), training.flags.begin(), training.flags.end());
  return written;
}

std::string CommandText(const std::vector<std::string>& words) {
  std::string text = "./stagecraft";
  for (const std::string& word : words) text += " " + ShellQuotedIfNeeded(word);
  return text;
}

void PrintFates(const char* title, const std::vector<OptionFate>& fates, std::ostream& out) {
  if (fates.empty()) return;
  size_t width = 0;
  constexpr size_t kWidest = 56;
  for (const OptionFate& fate : fates)
    width = std::max(width, std::min(kWidest, fate.option.size()));
  out << '\n' << title << '\n';
  for (const OptionFate& fate : fates) {
    out << "  " << fate.option;
    if (!fate.text.empty()) {
      out << std::string(width - std::min(width, fate.option.size()), ' ') << "  " << fate.text;
    }
    out << '\n';
  }
}

void Print(const ImportedTraining& training, const Written& written, std::ostream& out) {
  const OptionReport& options = training.options;
  out << fmt::format("{}: plan\n", written.plan_path);
  if (!written.network_path.empty()) out << written.network_path << ": network\n";
  for (const std::string& note : training.notes) out << "  note: " << note << '\n';
  PrintFates("understood:", options.understood, out);
  PrintFates("not simulated, though it changes time or memory:", options.not_simulated, out);
  PrintFates("irrelevant for time and memory:", options.irrelevant, out);
  PrintFates("not understood:", options.unknown, out);
  out << "\nsimulate it by:\n  " << CommandText(written.command) << '\n';
}

Json FatesToJson(const std::vector<OptionFate>& fates, const char* what) {
  Json list = Json::array();
  for (const OptionFate& fate : fates) {
    list.push_back({{"option", fate.option}});
    if (!fate.text.empty()) list.back()[what] = fate.text;
  }
  return list;
}

void PrintAsJson(const std::string& format, const TrainingImport::Files& files,
                 const ImportedTraining& training, const Written& written, std::ostream& out) {
  Json report = ReportHeader("import", kSchema, files.in);
  report["format"] = format;
  report["output"] = written.plan_path;
  if (!written.network_path.empty()) report["network"] = written.network_path;
  report["stack"] = training.stack;
  report["understood"] = FatesToJson(training.options.understood, "became");
  report["not_simulated"] = FatesToJson(training.options.not_simulated, "reason");
  report["irrelevant"] = FatesToJson(training.options.irrelevant, "reason");
  report["not_understood"] = FatesToJson(training.options.unknown, "reason");
  report["notes"] = training.notes;
  report["arguments"] = written.command;
  PrintJson(std::move(report), out);
}

ImportedTraining Read(const std::string& format, const std::vector<std::string>& files,
                      const ShellVariables& variables, const TrainingWishes& wishes) {
  std::vector<std::pair<std::string, std::string>> texts;  // names and contents
  for (const std::string& file : files) {
    texts.emplace_back(file, ReadSourceText(file, kMostScriptBytes));
  }
  const auto& [name, text] = texts[0];
  if (format == "megatron") return ImportMegatron(text, name, variables, wishes);
  if (format == "nemo") return ImportNemo(text, name, wishes);
  if (format == "torchtitan") return ImportTorchtitan(text, name, variables, wishes);
  if (format == "deepspeed") return ImportDeepspeed(text, name, wishes);
  CHECK(format == "huggingface");
  return ImportHuggingFace(texts, wishes);
}

}  // namespace

const std::vector<TrainingImport::Format>& TrainingImport::Formats() {
  static const std::vector<Format> formats = {
      {"megatron", "a launch script of Megatron-LM, or a YAML file of its arguments"},
      {"nemo", "a YAML configuration of NeMo or Megatron-Bridge"},
      {"torchtitan",
       "a TOML job file of torchtitan, or a launch script with --parallelism.… and the like"},
      {"deepspeed", "DeepSpeed's JSON configuration, with --model and --seq"},
      {"huggingface",
       "TrainingArguments as JSON or YAML, accelerate's YAML, or both files; with --model"},
  };
  return formats;
}

bool TrainingImport::Knows(const std::string& format) {
  return std::any_of(Formats().begin(), Formats().end(),
                     [&](const Format& known) { return format == known.name; });
}

const std::vector<std::string>& TrainingImport::FlagNames() {
  static const std::vector<std::string> names = {
      "--cluster",   "--model",           "--seq",           "--global-batch", "--vocab",
      "--recompute", "--host-memory-gib", "--software-date", "--set"};
  return names;
}

void TrainingImport::Register(Flags& flags) {
  FlagGroup network = flags.In(FlagTopic::kNetwork);
  network
      .Add("--model", wishes_.model,
           {"<network>", "With a training framework: the network, as for simulate.", "",
            "as the input says"})
      .Suggest(WorkloadNames);
  network.Add(
      "--seq", wishes_.sequence,
      {"<n>", "With a training framework: tokens per sample.", "1 or more", "as the input says"});
  network.Add("--global-batch", wishes_.global_batch,
              {"<n>", "With a training framework: samples per training step.", "1 or more",
               "as the input says"});
  network.Add("--vocab", wishes_.vocabulary,
              {"<n>", "With megatron and nemo: the size of the tokenizer's vocabulary.",
               "1 or more", "as the input says"});
  FlagGroup memory = flags.In(FlagTopic::kMemory);
  memory
      .Add("--recompute", wishes_.recompute,
           {"<name>",
            "With deepspeed and huggingface: activations that the backward computes again, which "
            "only the model's code says.",
            "", "as the input says, or none"})
      .OneOf({"none", "selective", "full"});
  memory.Add("--host-memory-gib", wishes_.host_memory_gib,
             {"<gib>",
              "With a training framework: GiB of host memory of a node, if states are "
              "offloaded.",
              "above 0", "none"});
  FlagGroup input = flags.In(FlagTopic::kInput);
  input.Add("--set", variables_,
            {"<name=value>", "With a launch script: a variable that the script does not set."});
  input.Add("--software-date", wishes_.software_date,
            {"<month>", "With a training framework: what it did in this month, such as 2023-05.",
             "", "now"});
}

ShellVariables TrainingImport::Variables() const {
  ShellVariables variables;
  for (const std::string& one : variables_) {
    const size_t equals = one.find('=');
    if (equals == std::string::npos || equals == 0) {
      throw InputError("--set: got \"" + one + "\", want NAME=VALUE");
    }
    variables[one.substr(0, equals)] = one.substr(equals + 1);
  }
  return variables;
}

void TrainingImport::Run(const std::string& format, const Files& files, std::ostream& out) const {
  CheckProtoTextPath("-o", files.out);
  if (files.in.size() > 1 && format != "huggingface") {
    throw InputError(fmt::format("IN: got {} files, want one", files.in.size()));
  }
  if (!wishes_.software_date.empty() && !IsMonth(wishes_.software_date)) {
    throw InputError("--software-date: got \"" + wishes_.software_date +
                     "\", want a month, such as 2023-05");
  }
  const auto check = [](const char* flag, int64_t value, int64_t most) {
    if (value >= 0 && value <= most) return;
    throw InputError(fmt::format("{}: got {}, want 1 to {}", flag, value, most));
  };
  check("--seq", wishes_.sequence, kMostOfABatch);
  check("--global-batch", wishes_.global_batch, kMostOfABatch);
  check("--vocab", wishes_.vocabulary, int64_t{1} << 32);
  constexpr double kMostGib = static_cast<double>(kMostHostMemory >> 30);
  if (!(wishes_.host_memory_gib >= 0 && wishes_.host_memory_gib <= kMostGib)) {
    throw InputError(fmt::format("--host-memory-gib: got {}, want 0 to {:.0f}",
                                 wishes_.host_memory_gib, kMostGib));
  }
  std::optional<Cluster> cluster;
  if (!files.cluster.empty()) cluster = ParseCluster(files.cluster);
  TrainingWishes wishes = wishes_;
  wishes.cluster = cluster ? &*cluster : nullptr;
  ImportedTraining training = Read(format, files.in, Variables(), wishes);
  if (!wishes.model.empty()) {
    training.network.reset();
    training.model = wishes.model;
  }
  if (!training.network && training.model.empty()) {
    throw InputError(files.in[0] + ": does not say what the network is, want --model");
  }
  if (!cluster) {
    training.notes.push_back(
        training.processes.Total() > 0
            ? fmt::format("CLUSTER stands for {} nodes of {} GPUs, such as h100-sxm:{}x{}",
                          training.processes.nodes, training.processes.per_node,
                          training.processes.nodes, training.processes.per_node)
            : "CLUSTER stands for what the training runs on, such as h100-sxm:8x8");
  }
  const Written written =
      Finish(files.in[0], files.out, wishes.cluster, files.cluster, wishes.software_date, training);
  if (!written.network_path.empty()) {
    WriteFileAtomically(written.network_path, written.network_text);
  }
  WriteFileAtomically(written.plan_path, written.plan_text);
  if (files.as_json) {
    PrintAsJson(format, files, training, written, out);
  } else {
    Print(training, written, out);
  }
}

}  // namespace stagecraft
