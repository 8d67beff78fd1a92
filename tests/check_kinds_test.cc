// Tests that `check` knows every kind of file that a verb reads or writes, and lists them.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "costmodel/check.h"
#include "costmodel/learned/samples/gzip.h"
#include "costmodel/proto_file.h"
#include "data/embedded.h"
#include "proto/onnx_subset.pb.h"
#include "tests/bad_input.h"
#include "tools/check/check_file.h"
#include "tools/verb/command.h"

namespace stagecraft::bad_input {
namespace {

namespace fs = std::filesystem;
using Kinds = std::set<std::string>;

// The kind of the seeds of each fuzz target; there is a target for every reader of files.
const std::map<std::string, std::string>& KindOfSeeds() {
  static const std::map<std::string, std::string> kinds = {
      {"chakra", "Chakra execution trace"},
      {"cluster", "cluster"},
      {"collective_table", "measured collectives"},
      {"cost_model", "cost model"},
      {"device_catalogue", "device catalogue"},
      {"dynamics", "dynamics"},
      {"framework_table", "training frameworks"},
      {"graph_txt", "PipeDream profile"},
      {"grid", "grid"},
      {"hf_config", "Hugging Face config.json"},
      {"job", "job"},
      {"job_events", "cluster events"},
      {"kineto", "Chrome trace"},
      {"kubernetes_nodes", "Kubernetes nodes"},
      {"launch_script", "launch script"},
      {"layer_state", "layer states"},
      {"measured_rows", "measured rows"},
      {"nccl_tests_log", "nccl-tests log"},
      {"nccl_topology", "NCCL topology XML"},
      {"nccl_tuning", "NCCL tuning"},
      {"network_model", "network model"},
      {"node_catalogue", "node catalogue"},
      {"nsys", "Nsight Systems export"},
      {"onnx_model", "ONNX model"},
      {"own_steps", "own steps"},
      {"piper_problem", "Piper graph"},
      {"placement_problem", "dnn-partitioning graph"},
      {"plan", "plan"},
      {"samples", "samples"},
      {"schedule", "schedule"},
      {"schedule_csv", "PyTorch pipeline schedule"},
      {"slurm_topology", "Slurm topology"},
      {"smi_topology", "nvidia-smi topology"},
      {"stack_table", "stack defaults"},
      {"stage_policy", "policy"},
      {"structured_text", ""},  // any JSON or YAML, which is of no kind
      {"timeline", "timeline"},
      {"torchtitan_job", "torchtitan job"},
      {"trace", "trace"},       // of either format
      {"training_config", "training configuration"},
      {"workload", "workload"},
  };
  return kinds;
}

// Seeds that are of no kind by themselves: a model without a curve, and two files in one for a
// target that splits them.
const Kinds kOddSeeds = {"none.json", "with_gres.conf"};

// The kinds of files that flags and positional words with text may name.
const std::map<std::string, Kinds>& KindsOfFlags() {
  const Kinds networks = {"workload", "Hugging Face config.json", "ONNX model",
                          "PipeDream profile"};
  const Kinds graphs = {"PipeDream profile", "dnn-partitioning graph", "Piper graph"};
  const Kinds models = {"cost model", "network model"};
  const Kinds traces = {"Perfetto trace", "Chrome trace"};
  static const std::map<std::string, Kinds> kinds = {
      {"--model", networks},
      {"--train-models", networks},
      {"--cluster", {"cluster"}},
      {"--template", {"cluster"}},
      {"--plan", {"plan"}},
      {"--layer-state", {"layer states"}},
      {"--dynamics", {"dynamics"}},
      {"--events", {"cluster events"}},
      {"--history", {"history"}},
      {"--job", {"job"}},
      {"--order-file", {"PyTorch pipeline schedule"}},
      {"--cost-model", models},
      {"--trace", traces},
      {"--timeline", {"timeline"}},
      {"--graph", graphs},
      {"--train-graphs", graphs},
      {"--report", {"HTML report"}},
      {"--launch", {"launch script", "torchtitan job"}},
      {"GRID", {"grid"}},
      {"DB", {"sweep database"}},
      {"--list", {"sweep database"}},
      {"--reuse", {"sweep database"}},
      {"--csv", {"sweep table"}},
      {"--policy", {"policy"}},
      {"--save-policy", {"policy"}},
      {"--samples", {"samples"}},
      {"--calibrate", {"samples"}},
      {"--measured-ops", {"samples"}},
      {"--op-samples", {"samples"}},
      {"--network", {"measured collectives", "nccl-tests log"}},  // but in simulate: model or flow
      {"--against", {"measured rows", "own steps"}},
      {"--steps", {"own steps"}},  // but in train: a number
      {"--collectives", {"measured collectives"}},
      {"--all", {"measured rows"}},
      {"--gres", {"Slurm GPUs"}},
      {"PREDICTED", {"timeline"}},
      {"MEASURED", {"timeline", "Chrome trace", "Nsight Systems export", "Chakra execution trace"}},
      {"IN",
       {"NCCL topology XML", "nvidia-smi topology", "Slurm topology", "Slurm GPUs",
        "Kubernetes nodes", "nccl-tests log", "launch script", "torchtitan job", "Chrome trace",
        "Nsight Systems export", "Chakra execution trace", "training configuration"}},
      {"-o",
       {"plan", "samples", "cost model", "network model", "timeline", "cluster",
        "measured collectives", "PyTorch pipeline schedule", "sweep database", "HTML report"}},
  };
  return kinds;
}

const Kinds kFlagsWithoutFiles = {"--algorithm",
                                  "--attention",
                                  "--attention-causal",
                                  "--backward-prefetch",
                                  "--for",
                                  "--param-exchange",
                                  "--set",
                                  "--transport",
                                  "--without",
                                  "--software-date",
                                  "--balance",
                                  "--bandwidth",
                                  "--budget",
                                  "--by",
                                  "--change",
                                  "--checkpoint",
                                  "--checkpoint-folder",
                                  "--checkpoint-slowdown",
                                  "--collective",
                                  "--cp-exchange",
                                  "--device",
                                  "--network-kind",
                                  "--device-memory",
                                  "--device-speeds",
                                  "--embedding-placement",
                                  "--executor",
                                  "--expert-sends",
                                  "--format",
                                  "--fp8-recipe",
                                  "--frozen",
                                  "--gpu",
                                  "--gradient-sync",
                                  "--kill",
                                  "--link-rate",
                                  "--machines",
                                  "--max-error",
                                  "--measured",
                                  "--memory-margin",
                                  "--models",
                                  "--node",
                                  "--objective",
                                  "--optimizer",
                                  "--recompute-parts",
                                  "--parts",
                                  "--precision",
                                  "--price",
                                  "--profiling-share",
                                  "--rank-order",
                                  "--recompute",
                                  "--recompute-layers",
                                  "--recompute-method",
                                  "--recover",
                                  "--repack-loss",
                                  "--scale",
                                  "--sample-precision",
                                  "--schedule",
                                  "--server-memory",
                                  "--server-speed",
                                  "--shard",
                                  "--slow",
                                  "--source",
                                  "--split",
                                  "--param-gather",
                                  "--stack",
                                  "--suite",
                                  "--topology",
                                  "--train-devices",
                                  "--warmup",
                                  "FILE",  // what `check` and `report` themselves take
                                  "FORMAT",
                                  "ID",
                                  "LIST",
                                  "SHELL"};

Kinds AllKinds() { return {KindNames().begin(), KindNames().end()}; }

class CheckKindsTest : public FolderTest {
 protected:
  // The kind that `check` prints, or its error.
  std::string KindOf(const std::string& name) const {
    const Result result = RunLine(Expand("check $T/" + name));
    const size_t begin = result.out.find(": "), end = result.out.find(", ");
    if (result.code != kExitOk || end == std::string::npos) return result.err;
    return result.out.substr(begin + 2, end - begin - 2);
  }

  // Copies a seed under its own name; text of an ONNX model becomes a binary ONNX file.
  std::string Copy(const fs::path& seed) const {
    const std::string name = seed.filename().string();
    if (seed.parent_path().filename() != "onnx_model") {
      Write(name, ReadFile(seed));
      return name;
    }
    onnx::ModelProto model;
    ParseProtoText(ReadFile(seed), name, ".textproto", &model);
    Write(name + ".onnx", model.SerializeAsString());
    return name + ".onnx";
  }
};

TEST_F(CheckKindsTest, EveryFileThatSomeReaderTakesIsOfAKindThatHelpLists) {
  Kinds seen;
  for (const auto& folder : fs::directory_iterator("tests/fuzz/corpus")) {
    const std::string target = folder.path().filename().string();
    ASSERT_TRUE(KindOfSeeds().contains(target)) << target << ": of which kind are its files?";
    const std::string& want = KindOfSeeds().at(target);
    for (const auto& seed : fs::directory_iterator(folder)) {
      if (want.empty() || kOddSeeds.contains(seed.path().filename().string())) continue;
      const std::string kind = KindOf(Copy(seed.path()));
      EXPECT_TRUE(kind == want || (want == "trace" && kind.ends_with(" trace")))
          << seed.path() << ": " << kind;
      seen.insert(kind);
    }
  }
  for (const std::string_view name : EmbeddedFileNames()) {
    if (!name.ends_with(".textproto")) continue;
    const std::string copy = fs::path(name).filename().string();
    Write(copy, std::string(EmbeddedFile(std::string(name))));
    seen.insert(KindOf(copy));
  }
  Write("gres.conf", "NodeName=n[1-2] Name=gpu Type=h100 File=/dev/nvidia[0-7]\n");
  seen.insert(KindOf("gres.conf"));
  const Result report =
      RunLine(Expand("partition --graph tests/fuzz/corpus/graph_txt/diamond.txt "
                     "--devices 2 --bandwidth 1e9 --machines 2 --budget 50evals "
                     "--compare-algorithms --report $T/page.html"));
  EXPECT_EQ(report.code, kExitOk) << report.err;
  seen.insert(KindOf("page.html"));
  const Result run =
      RunLine(Expand("train --model megatron:4x64x4 --cluster h100-sxm:1x1 "
                     "--global-batch 4 --seq 64 --steps 2 --history $T/history.json"));
  EXPECT_EQ(run.code, kExitOk) << run.err;
  seen.insert(KindOf("history.json"));
  Write("grid.yaml", "flags: {model: gpt2-tiny, cluster: h100-sxm:1x1, seq: 64, zero: [0, 1]}\n");
  const Result sweep = RunLine(Expand("sweep $T/grid.yaml -o $T/runs.db --csv $T/runs.csv"));
  EXPECT_EQ(sweep.code, kExitOk) << sweep.err;
  for (const char* file : {"grid.yaml", "runs.db", "runs.csv"}) seen.insert(KindOf(file));
  Write("answer.json", RunLine("catalogue gpus --json").out);
  seen.insert(KindOf("answer.json"));
  EXPECT_EQ(seen, AllKinds());
  std::string help = RunLine("check --help").out;
  std::replace(help.begin(), help.end(), '\n', ' ');
  for (const std::string& kind : AllKinds()) EXPECT_NE(help.find(kind), std::string::npos) << kind;
}

TEST_F(CheckKindsTest, EveryFlagThatHoldsTextIsKnownToNameFilesOrNot) {
  const Kinds known = AllKinds();
  for (const Command& verb : Commands()) {
    const auto help = nlohmann::json::parse(RunLine(std::string(verb.name) + " --help-json").out);
    for (const auto& described : help["flags"]) {
      if (described["type"] != "text") continue;
      const auto flag = described["names"][0].get<std::string>();
      const auto found = KindsOfFlags().find(flag);
      EXPECT_NE(found != KindsOfFlags().end(), kFlagsWithoutFiles.contains(flag))
          << verb.name << " " << flag << ": which kinds of file does it name?";
      if (found == KindsOfFlags().end()) continue;
      EXPECT_TRUE(
          std::includes(known.begin(), known.end(), found->second.begin(), found->second.end()))
          << flag;
    }
  }
}

TEST_F(CheckKindsTest, GraphsThatPartitionUnzipsAreReadZippedToo) {
  for (const char* seed :
       {"graph_txt/diamond.txt", "piper_problem/two.json", "placement_problem/two.json"}) {
    const fs::path path = fs::path("tests/fuzz/corpus") / seed;
    Write("graph.gz", Gzip(ReadFile(path)));
    EXPECT_EQ(KindOf("graph.gz"), KindOfSeeds().at(path.parent_path().filename().string()));
  }
}

TEST_F(CheckKindsTest, AFileOfNoKindIsRefusedInOneSentenceThatSaysWhereTheKindsAre) {
  Write("notes.md", "# notes\n");
  Write("page.html", "<!DOCTYPE html>\n<html><head><title>news</title></head></html>\n");
  Write("words", "once upon a time\n");
  Write("a.onnx", "no model");
  Write("a.policy", "stage-policy-1 width 1 directed\n");
  Write("graph.txt", "a -- b\n");
  for (const char* name : {"notes.md", "page.html", "words", "a.onnx", "a.policy", "graph.txt"}) {
    const Result result = RunLine(Expand(std::string("check $T/") + name));
    EXPECT_EQ(result.code, kExitBadInput) << name;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    EXPECT_NE(result.err.find(std::string(name) + ":"), std::string::npos) << result.err;
    EXPECT_NE(result.err.find("want"), std::string::npos) << result.err;
  }
}

}  // namespace
}  // namespace stagecraft::bad_input
