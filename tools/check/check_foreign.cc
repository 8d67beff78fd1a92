#include "tools/check/check_foreign.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <set>
#include <string_view>

#include "costmodel/check.h"
#include "costmodel/network/collective_table.h"
#include "costmodel/network/nccl_tests_log.h"
#include "costmodel/op.h"
#include "costmodel/text.h"
#include "sim/cluster/cluster_proto.h"
#include "sim/cluster/cluster_spec.h"
#include "sim/pipeline/pytorch_csv.h"
#include "tools/frameworks/launch_options.h"
#include "tools/frameworks/option_reader.h"
#include "tools/frameworks/shell_script.h"
#include "tools/frameworks/toml_text.h"
#include "tools/import/import_text.h"
#include "tools/import/imported_cluster.h"
#include "tools/import/kubernetes_nodes.h"
#include "tools/import/nccl_topology.h"
#include "tools/import/slurm_gres.h"
#include "tools/import/slurm_topology.h"
#include "tools/import/slurm_tree.h"
#include "tools/import/smi_matrix.h"
#include "tools/import/smi_topology.h"

namespace stagecraft {
namespace {

// The header of a matrix is within this many bytes.
constexpr size_t kHeadBytes = 4096;
constexpr std::string_view kTextExtensions[] = {".txt", ".log", ".out", ""};

std::string Describe(const ImportedCluster& imported, const std::string& path) {
  return DescribeCluster(ClusterFromProto(imported.cluster, path));
}

FileSummary CheckNcclTests(const std::string& text, const std::string& path) {
  const NcclTestsLog log = ParseNcclTestsLog(text, path);
  return {"nccl-tests log",
          fmt::format("{} over {} ranks on {} hosts, {} sizes from {} to {} bytes", Name(log.kind),
                      log.ranks.size(), log.RanksByHost().size(), log.rows.size(),
                      log.rows.front().bytes.count(), log.rows.back().bytes.count())};
}

FileSummary CheckCollectives(const std::string& text, const std::string& path) {
  const CollectiveTable table = ParseCollectiveTable(text, path);
  std::set<std::string> sites;
  for (const NetworkSample& sample : table.samples) sites.insert(sample.site);
  return {"measured collectives",
          fmt::format("{} rows of {} sites, {} more that are not measurements",
                      table.samples.size(), sites.size(), table.invalid)};
}

FileSummary CheckNcclTopology(const std::string& text, const std::string& path) {
  CheckSourceSize(path, text.size(), kMostNcclTopologyBytes);
  return {"NCCL topology XML", Describe(ImportNcclTopology(text, path, {}), path)};
}

FileSummary CheckSmiMatrix(const std::string& text, const std::string& path) {
  CheckSourceSize(path, text.size(), kMostSmiTopologyBytes);
  const SmiMatrix matrix = ParseSmiMatrix(text, path);
  return {"nvidia-smi topology",
          fmt::format("{} GPUs of unnamed type, {} interfaces", matrix.gpus, matrix.nics)};
}

FileSummary CheckGres(const std::string& text, const std::string& path) {
  CheckSourceSize(path, text.size(), kMostSlurmBytes);
  const GresTable table = ParseGres(text, path);
  if (const GresTable::Gres& gres = table.everywhere; !gres.place.empty()) {
    const std::string count = gres.count == 0 ? "" : std::to_string(gres.count) + " ";
    const std::string gpu = gres.gpu.empty() ? "GPUs of unnamed type" : gres.gpu;
    return {"Slurm GPUs", count + gpu + " on all nodes"};
  }
  if (table.by_node.empty()) {
    throw InputError(path + ": got neither switches nor GPUs, want SwitchName= or Name=gpu");
  }
  return {"Slurm GPUs", fmt::format("{} nodes with GPUs", table.by_node.size())};
}

// Whether the first words of lines are Slurm's keys; comments and blanks do not count.
bool NamesSwitches(const std::string& text) {
  for (const std::string_view line : SplitLines(text)) {
    std::string word(Trimmed(line).substr(0, 11));
    std::transform(word.begin(), word.end(), word.begin(),
                   [](unsigned char c) { return std::tolower(c); });
    if (word.starts_with("switchname=") || word.starts_with("blockname=")) return true;
  }
  return false;
}

FileSummary CheckPytorchCsv(const std::string& text, const std::string& path) {
  const PytorchSchedule schedule = ReadPytorchCsv(text, path);
  return {"PyTorch pipeline schedule",
          fmt::format("{} micro-batches through {} stages on {} ranks", schedule.micro_batches,
                      schedule.map.length(), schedule.map.stages())};
}

FileSummary CheckLaunchScript(const std::string& text, const std::string& path) {
  CheckSourceSize(path, text.size(), kMostScriptBytes);
  const auto values = [](std::string_view) { return OptionValues::kUnknown; };
  const LaunchOptions launch = ReadLaunchOptions(ReadLaunchScript(text, path, {}), path, values);
  return {"launch script",
          fmt::format("{} with {} options", launch.program, launch.options.size())};
}

FileSummary CheckToml(const std::string& text, const std::string& path) {
  CheckSourceSize(path, text.size(), kMostScriptBytes);
  return {"torchtitan job",
          fmt::format("{} options", FlatOptions(ParseToml(text, path), path).size())};
}

}  // namespace

FileSummary CheckKubernetesNodes(const std::string& text, const std::string& path) {
  CheckSourceSize(path, text.size(), kMostKubernetesBytes);
  return {"Kubernetes nodes", Describe(ImportKubernetesNodes(text, path, {}), path)};
}

FileSummary CheckSlurmTopology(const std::string& text, const std::string& path) {
  CheckSourceSize(path, text.size(), kMostSlurmBytes);
  const bool is_conf = !path.ends_with(".yaml") && !path.ends_with(".yml");
  const std::vector<SlurmSwitch> switches =
      is_conf ? ParseSlurmConf(text, path) : ParseSlurmYaml(text, path, "");
  return {"Slurm topology", fmt::format("{} nodes below {} switches",
                                        WalkSlurmTree(switches, path).size(), switches.size())};
}

std::optional<FileSummary> CheckForeignText(const std::string& text, const std::string& path,
                                            const std::string& extension) {
  if (IsNcclTestsLog(text)) return CheckNcclTests(text, path);
  if (extension == ".csv" || extension == ".gz") {
    if (IsCollectiveTable(text)) return CheckCollectives(text, path);
    if (IsPytorchCsv(text)) return CheckPytorchCsv(text, path);
    return std::nullopt;
  }
  if (extension == ".sh") return CheckLaunchScript(text, path);
  if (extension == ".toml") return CheckToml(text, path);
  if (extension == ".xml") return CheckNcclTopology(text, path);
  if (extension == ".conf") {
    return NamesSwitches(text) ? CheckSlurmTopology(text, path) : CheckGres(text, path);
  }
  const bool is_text = std::find(std::begin(kTextExtensions), std::end(kTextExtensions),
                                 extension) != std::end(kTextExtensions);
  const bool has_gpus = std::string_view(text).substr(0, kHeadBytes).find("GPU0") != text.npos;
  if (is_text && has_gpus) return CheckSmiMatrix(text, path);
  return std::nullopt;
}

}  // namespace stagecraft
