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
constexpr const char* kExample =
    "Example: stagecraft check plan.yaml --model llama3-70b --cluster h100-sxm:8x8\n\n"
    "Ends with exit code 2 where any file is unsound.";
constexpr size_t kWidth = 98;

// The kinds of file that it tells, in lines of the width of the help.
std::string KindLines() {
  std::string lines = "It tells these kinds of file:";
  size_t begin = 0;
  for (const std::string& kind : KindNames()) {
    const bool is_last = &kind == &KindNames().back();
    const std::string words = " " + kind + (is_last ? "." : ",");
    if (lines.size() + words.size() - begin > kWidth) {
      lines += "\n";
      begin = lines.size();
      lines += words.substr(1);
    } else {
      lines += words;
    }
  }
  return lines;
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

}  // namespace

int RunCheck(const Args& args, std::istream&, std::ostream& out, std::ostream& err) {
  CLI::App app("Says what files are and whether they are sound.", "stagecraft check");
  app.footer(KindLines() + "\n\n" + kExample);
  Args files;
  std::string model;
  std::string cluster;
  bool as_json = false;
  app.add_option("FILE", files, "files that commands read or write")->required();
  app.add_option("--model", model, "the workload that plans are checked against");
  app.add_option("--cluster", cluster, "the cluster that plans are checked against");
  app.add_flag("--json", as_json, "one JSON object");
  if (ParseFlags(app, args, out)) return kExitOk;

  CheckContext context;
  if (!model.empty()) context.workload = LoadWorkload(model, AttentionBackend::kFlash);
  if (!cluster.empty()) context.cluster = ParseCluster(cluster);
  std::vector<Verdict> verdicts;
  for (const std::string& file : files) verdicts.push_back(Judge(file, context));

  bool all_sound = true;
  for (const Verdict& verdict : verdicts) {
    all_sound = all_sound && verdict.problem.empty();
    if (!verdict.problem.empty()) {
      err << "stagecraft check: " << verdict.problem << '\n';
    } else if (!as_json) {
      out << verdict.path << ": " << verdict.summary.kind << ", " << verdict.summary.detail << '\n';
    }
  }
  if (as_json) PrintJson(ToJson(verdicts), out);
  return all_sound ? kExitOk : kExitBadInput;
}

}  // namespace stagecraft
