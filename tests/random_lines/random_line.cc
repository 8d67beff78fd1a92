#include "tests/random_lines/random_line.h"

#include <algorithm>

#include "tests/random_lines/plan_words.h"
#include "tests/random_lines/study_words.h"

namespace stagecraft::random_lines {
namespace {

constexpr int kSpoiledPercent = 25;

void AddReportFlags(WordSource& words) {
  words.Maybe(60, "--json");
  words.Maybe(50, "--quiet");
}

void AddCostModel(WordSource& words) {
  words.Maybe(20, "--cost-model", {"analytical", "learned"});
  if (words.Chance(2)) words.Add("--cost-model", words.File("cost_model"));
}

void AddSlowParts(WordSource& words) {
  words.Maybe(8, "--slow",
              {"node0=0.5", "node0/gpu0=0.8,node0/gpu1=0.25", "node0/gpu1 -> node0/nvswitch=0.3",
               "node1=0.1,node0/nic0 -> fabric=0.5", "node0/gpu9=2"});
}

void AddSimulate(WordSource& words) {
  const int devices = AddProblem(words);
  AddPlan(devices, words);
  AddStep(words);
  AddCostModel(words);
  words.Maybe(10, "--network", {"model", "flow"});
  words.Maybe(3, "--link-rate", {"0@1=0.5", "3@0=0.1", "9999@1=1"});
  words.Maybe(8, "--unfold");
  words.Maybe(8, "--trace", {"out/t.pftrace", "out/t.json", "absent/t.json", "out/t.txt"});
  words.Maybe(8, "--timeline", {"out/t.pb", "out/t.textproto"});
  words.Maybe(8, "--measured", {"1s", "20ms", "0.5", "-1s"});
  AddSlowParts(words);
  AddReportFlags(words);
}

void AddExplain(WordSource& words) {
  if (words.Chance(10)) {
    words.Add(words.File("plan"));
    words.Maybe(50, words.File("plan"));
  }
  const int devices = AddProblem(words);
  AddPlan(devices, words);
  AddStep(words);
  AddCostModel(words);
  AddSlowParts(words);
  AddReportFlags(words);
}

void AddWhatIf(WordSource& words) {
  const int devices = AddProblem(words);
  AddPlan(devices, words);
  AddStep(words);
  for (int i = 1 + words.Below(3); i > 0; --i) {
    words.Add("--change", words.OneOf({"network=0.5x", "links=2x", "memory=0.5x", "node0=0.8x",
                                       "gpu=h200-sxm", "nodes=2x", "tp=2", "global-batch=2x",
                                       "schedule=zb-v", "zero=3", "no-overlap-p2p", "tp=2;pp=2",
                                       "price=2", "gpu=", "seq=x", "=", "nodes=0x"}));
  }
  words.Maybe(30, "--pairs");
  words.Maybe(20, "--tokens", {"1B", "1T", "0", "x"});
  AddReportFlags(words);
}

void AddExport(WordSource& words) {
  const bool is_launch = words.Chance(40);
  if (is_launch) {
    AddFrameworkFormat(words);
  } else {
    words.Add(words.OneOf({"plan", "schedule-csv"}));
    words.Add("-o", words.OneOf({"out/a.csv", "out/a.yaml", "out/a.json", "out/a.textproto"}));
  }
  const int devices = AddProblem(words);
  AddPlan(devices, words);
  // Frameworks refuse most of what a step may have.
  if (!is_launch || words.Chance(30)) AddStep(words);
  AddReportFlags(words);
}

void AddSearch(WordSource& words) {
  AddProblem(words);
  AddStep(words);
  words.Maybe(30, "--tp", {"1", "1,2", "2,4", "3"});
  words.Maybe(30, "--pp", {"1", "1,2", "2", "4"});
  words.Maybe(40, "--micro-batch", {"1", "1,2", "2"});
  words.Maybe(30, "--zero", {"0", "1", "0,1", "3"});
  words.Maybe(30, "--recompute", {"none", "full", "none,full"});
  words.Maybe(25, "--schedule",
              {"1f1b", "gpipe", "zb-h1", "zb-v", "list", "dualpipe-v", "1f1b,interleaved"});
  words.Maybe(10, "--vpp", {"1", "1,2", "2"});
  words.Maybe(10, "--ep", {"1", "2", "1,2"});
  words.Maybe(10, "--cp", {"1", "2", "1,2"});
  words.Maybe(10, "--objective", {"step-time", "memory", "pareto", "cost"});
  words.Maybe(10, "--memory-margin", {"0", "5", "10%", "0.05", "95"});
  words.Maybe(10, "--price", {"h100-sxm=2.5", "a100-sxm4-80gb=1.5", "h100-sxm=-1", "t4=0"});
  words.Maybe(5, "--fewer-devices");
  words.Maybe(15, "--algorithm", {"random", "exhaustive", "beam", "dp", "mcmc", "policy"});
  words.Add("--budget", words.OneOf({"20evals", "100evals", "3evals"}));
  words.Add("--top", words.Between(0, 4));
  words.Maybe(70, "--no-explain");
  words.Maybe(10, "-o", {"out/best.yaml", "out/best.json", "out/best.xml"});
  if (words.Chance(15)) AddLaunch(words);
  AddCostModel(words);
  AddReportFlags(words);
}

void AddStageSearch(WordSource& words) {
  words.Add("--algorithm", words.OneOf({"exhaustive", "mcmc", "differentiable", "policy"}));
  words.Add("--device-speeds", words.OneOf({"2x1", "2x1,2x2", "4x1,1x0.5"}));
  words.Add("--bandwidth", words.OneOf({"1e10", "1e9"}));
  words.Add("--budget", words.OneOf({"50evals", "5evals"}));
  words.Maybe(20, "--device-memory", {"1e9", "1e10,2e10", "1"});
}

void AddPartition(WordSource& words) {
  const std::string kind = words.OneOf({"graph_txt", "piper_problem", "placement_problem"});
  words.Add("--graph", words.File(kind));
  if (words.Chance(40)) {
    AddStageSearch(words);
  } else if (kind == "graph_txt") {
    words.Add("--algorithm",
              words.OneOf({"pipedream", "pipedream-paper", "dapple", "2bw", "hetpipe"}));
    words.Add("--machines", words.OneOf({"2", "2,2", "4", "4,1"}));
    words.Add("--bandwidth", words.OneOf({"1e10", "1e10,1e9"}));
    words.Maybe(30, "--memory", {"1e9", "1e6", "1"});
    words.Maybe(30, "--micro-batches", {"1", "4", "8"});
    words.Maybe(20, "--devices", {"2", "4"});
    words.Maybe(20, "--server-speed", {"1", "1,0.5"});
    words.Maybe(20, "--server-memory", {"1e9", "1e9,2e9"});
    for (const char* flag : {"--count-activations", "--straight", "--use-fewer-machines"}) {
      words.Maybe(15, flag);
    }
  } else {
    words.Add("--algorithm",
              kind == "piper_problem" ? "piper" : words.OneOf({"dnn-throughput", "dnn-latency"}));
    words.Maybe(20, "--devices", {"1", "2", "3"});
    words.Maybe(20, "--no-recompute");
    words.Maybe(20, "--no-data-parallel");
    words.Maybe(20, "--non-contiguous");
  }
  words.Maybe(20, "--seed", {"1", "2", "18446744073709551615"});
  AddReportFlags(words);
}

void AddImport(WordSource& words) {
  if (words.Chance(60)) {
    words.Chance(50) ? AddTrainingImport(words) : AddTraceImport(words);
    AddReportFlags(words);
    return;
  }
  const std::string format = words.OneOf({"k8s", "nccl-topo", "slurm", "smi-topo", "nccl-tests"});
  words.Add(format);
  if (format == "k8s") words.Add(words.File("kubernetes_nodes"));
  if (format == "nccl-topo") words.Add(words.File("nccl_topology"));
  if (format == "slurm") words.Add(words.File("slurm_topology"));
  if (format == "smi-topo") words.Add(words.File("smi_topology"));
  if (format == "nccl-tests") words.Add(words.File("nccl_tests_log"));
  if (format == "slurm" || format == "smi-topo") words.Add("--gpu", "h100-sxm");
  if (format == "nccl-tests") words.Add("--cluster", "a100-sxm4-80gb:1x8");
  words.Maybe(10, "--nic-gbit", {"100", "400", "0"});
  words.Maybe(10, "--oversubscription", {"1", "2", "-1"});
  words.Add("-o", format == "nccl-tests" ? "out/c.csv" : words.OneOf({"out/c.json", "out/c.yaml"}));
  AddReportFlags(words);
}

void AddCheck(WordSource& words) {
  const std::string kind =
      words.OneOf({"cluster", "plan", "workload", "schedule", "timeline", "hf_config", "samples",
                   "collective_table", "cost_model", "trace", "node_catalogue", "stack_table",
                   "onnx_model", "kubernetes_nodes", "schedule_csv"});
  for (int file = words.Between(1, 3); file > 0; --file) words.Add(words.File(kind));
  words.Maybe(20, "--model", {"gpt2", "megatron:8x64x4"});
  words.Maybe(20, "--cluster", {"h100-sxm:2x4", "h100-sxm:1x8"});
  AddReportFlags(words);
}

void AddCompare(WordSource& words) {
  if (words.Chance(30)) {
    words.Add("--network", words.File("nccl_tests_log"));
    words.Add("--cluster", words.OneOf({"a100-sxm4-80gb:1x8", "dgx-a100:2", "h100-sxm:1x8"}));
  } else {
    const std::string timeline = words.File("timeline");
    words.Add(timeline);
    words.Add(words.Chance(70) ? timeline : words.File("timeline"));
    words.Maybe(20, "--top", {"0", "3", "-1"});
    words.Maybe(20, "--trace", {"out/both.pftrace", "out/both.json"});
  }
  AddReportFlags(words);
}

void AddFit(WordSource& words) {
  words.Add("--samples", words.File("samples"));
  words.Add("-o", words.OneOf({"out/m.pb", "out/m.textproto", "out/m.txt"}));
  AddReportFlags(words);
}

void AddEvaluate(WordSource& words) {
  if (words.Chance(30)) {
    words.Add("--network", words.File("collective_table"));
  } else {
    words.Add("--samples", words.File("samples"));
    words.Maybe(40, "--split", {"none", "random:0.5", "unseen-shape", "leave-out:gpu", "x:y"});
    words.Maybe(30, "--models", {"shipped", "roofline", "roofline,shipped"});
    words.Maybe(10, "--by-size");
  }
  words.Maybe(15, "--max-error", {"1%", "1000%", "20"});
  AddReportFlags(words);
}

void AddValidate(WordSource& words) {
  words.Add("--against", words.File("measured_rows"));
  words.Maybe(20, "--max-error", {"1%", "100000%"});
  words.Maybe(20, "--source", {"A, B", "nobody"});
  words.Maybe(15, "--report", {"out/errors.html", "out/errors.txt", "absent/errors.html"});
  AddReportFlags(words);
}

void AddCatalogue(WordSource& words) {
  words.Add(words.OneOf({"gpus", "nodes", "models", "stacks"}));
  words.Maybe(50, words.OneOf({"h100-sxm", "dgx-h100", "gpt2", "fsdp", "aws-p3.16xlarge"}));
  words.Maybe(20, "--topology");
  AddReportFlags(words);
}

void AddCompletion(WordSource& words) {
  words.Add(words.OneOf({"bash", "zsh", "fish"}));
  words.Maybe(20, "--quiet");
}

// Adds the flags that every verb has to those of its own.
template <void (*kAdd)(WordSource&)>
void AddWithReport(WordSource& words) {
  kAdd(words);
  AddReportFlags(words);
}

// Verbs that measure this machine are only drawn in lines that are refused. No word of these is
// changed afterwards, since that might make them valid.
void AddRun(WordSource& words) {
  AddPlan(AddProblem(words), words);
  words.Add("--steps", words.OneOf({"0", "-1", "x"}));
}

void AddProfile(WordSource& words) {
  words.Add("--device", words.OneOf({"hosts", "cuda:-1", "cuda:x", ""}));
  words.Add("-o", "out/s.csv");
}

struct Verb {
  const char* name;
  int share;
  void (*add)(WordSource& words);
  bool may_be_spoiled = true;
};

constexpr Verb kVerbs[] = {{"simulate", 34, AddSimulate},
                           {"explain", 10, AddExplain},
                           {"whatif", 5, AddWhatIf},
                           {"search", 12, AddSearch},
                           {"partition", 10, AddPartition},
                           {"export", 7, AddExport},
                           {"import", 12, AddImport},
                           {"check", 6, AddCheck},
                           {"compare", 4, AddCompare},
                           {"fit", 2, AddFit},
                           {"evaluate", 2, AddEvaluate},
                           {"validate", 2, AddValidate},
                           {"catalogue", 2, AddCatalogue},
                           {"completion", 1, AddCompletion},
                           {"sweep", 3, AddWithReport<AddSweep>},
                           {"merge", 2, AddWithReport<AddMerge>},
                           {"train", 3, AddWithReport<AddTrain>},
                           {"report", 2, AddWithReport<AddReport>},
                           {"run", 2, AddRun, false},
                           {"profile", 1, AddProfile, false}};

const Verb& DrawVerb(WordSource& words) {
  int all = 0;
  for (const Verb& verb : kVerbs) all += verb.share;
  int at = words.Below(static_cast<size_t>(all));
  const Verb* chosen = std::begin(kVerbs);
  while (at >= chosen->share) at -= (chosen++)->share;
  return *chosen;
}

}  // namespace

Args DrawLine(const Files& files, const Random& random) {
  WordSource words(files, random);
  const Verb& verb = DrawVerb(words);
  words.Add(verb.name);
  verb.add(words);
  while (verb.may_be_spoiled && words.Chance(kSpoiledPercent)) words.Spoil();
  return words.Take();
}

std::string Quoted(const Args& words) {
  std::string line = "stagecraft";
  for (const std::string& word : words) {
    const bool is_plain = !word.empty() && std::all_of(word.begin(), word.end(), [](char c) {
      return c > ' ' && c < 127 && c != '\'' && c != '"' && c != '\\';
    });
    line += is_plain ? ' ' + word : " '" + word + "'";
  }
  return line;
}

}  // namespace stagecraft::random_lines
