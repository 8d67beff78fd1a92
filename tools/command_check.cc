// check: what files are, and whether they are sound.
#include <istream>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "costmodel/check.h"
#include "sim/cluster/cluster_spec.h"
#include "sim/workload/workload_catalogue.h"
#include "tools/check/check_file.h"
#include "tools/verb/command.h"
#include "tools/verb/flags.h"
#include "tools/verb/print_json.h"
#include "tools/verb/report_header.h"

namespace stagecraft {
namespace {

constexpr int kSchema = 1;

// Returns a sentence that lists the kinds of file that check tells apart.
std::string KindSentence() {
  std::string sentence = "It recognises these kinds of file:";
  for (const std::string& kind : KindNames()) {
    sentence += " " + kind + (&kind == &KindNames().back() ? "." : ",");
  }
  return sentence;
}

struct Verdict {
  std::string path;
  FileSummary summary;
  std::string problem;  // empty: sound
};

Verdict Judge(const std::string& path, const CheckContext& context) {
  Verdict verdict;
  verdict.path = path;
  try {
    verdict.summary = CheckFile(path, context);
  } catch (const InputError& error) {
    verdict.problem = error.what();
  }
  return verdict;
}

nlohmann::ordered_json ToJson(const std::vector<Verdict>& verdicts) {
  nlohmann::ordered_json files = nlohmann::ordered_json::array();
  Args readable;
  for (const Verdict& verdict : verdicts) {
    files.push_back({{"path", verdict.path},
                     {"sound", verdict.problem.empty()},
                     {"kind", verdict.summary.kind},
                     {"detail", verdict.summary.detail},
                     {"problem", verdict.problem}});
    if (verdict.problem.empty()) readable.push_back(verdict.path);
  }
  nlohmann::ordered_json report = ReportHeader("check", kSchema, readable);
  report["files"] = std::move(files);
  return report;
}

struct CheckFlags {
  Args files;
  std::string model, cluster;
  bool json = false, quiet = false;  // quiet suppresses nothing: what goes to stderr are errors
};

void Register(Flags& flags, CheckFlags& values) {
  flags.AddExample("check cluster.yaml samples.csv");
  flags.AddExample("check plan.yaml --model llama3-70b --cluster h100-sxm:8x8");
  flags.In(FlagTopic::kInput)
      .Add("FILE", values.files, {"", "Files that commands read or write."})
      .Required();
  flags.In(FlagTopic::kNetwork)
      .Add("--model", values.model,
           {"<network>", "The network that plans and layer states are checked against, as for simulate."})
      .Suggest(WorkloadNames);
  flags.In(FlagTopic::kCluster)
      .Add("--cluster", values.cluster,
           {"<cluster>", "The cluster that plans are checked against, as for simulate."});
  flags.AddReporting(values.json, values.quiet);
  flags.AddNote(KindSentence());
  flags.AddNote("Ends with exit code 2 where any file is unsound.");
}

}  // namespace

int RunCheck(const Args& args, std::istream&, std::ostream& out, std::ostream& err) {
  Flags described("check", "Says what kind of file each one is and whether it is sound.");
  CheckFlags flags;
  Register(described, flags);
  if (described.Parse(args, out)) return kExitOk;

  CheckContext context;
  if (!flags.model.empty()) context.workload = LoadWorkload(flags.model, AttentionBackend::kFlash);
  if (!flags.cluster.empty()) context.cluster = ParseCluster(flags.cluster);
  std::vector<Verdict> verdicts;
  for (const std::string& file : flags.files) verdicts.push_back(Judge(file, context));

  bool all_sound = true;
  for (const Verdict& verdict : verdicts) {
    all_sound = all_sound && verdict.problem.empty();
    if (!verdict.problem.empty()) {
      err << "stagecraft check: " << verdict.problem << '\n';
    } else if (!flags.json) {
      out << verdict.path << ": " << verdict.summary.kind << ", " << verdict.summary.detail << '\n';
    }
  }
  if (flags.json) PrintJson(ToJson(verdicts), out);
  return all_sound ? kExitOk : kExitBadInput;
}

}  // namespace stagecraft
