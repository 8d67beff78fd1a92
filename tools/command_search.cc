#include <fmt/format.h>
#include <fmt/ostream.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <ostream>

#include "costmodel/check.h"
#include "costmodel/memo_model.h"
#include "costmodel/proto_file.h"
#include "proto/plan.pb.h"
#include "search/checker.h"
#include "search/plan_space.h"
#include "search/plans/plan_search.h"
#include "sim/plan_proto.h"
#include "tools/command.h"
#include "tools/cost_model_flag.h"
#include "tools/flags.h"
#include "tools/interrupt_catcher.h"
#include "tools/proto_text.h"
#include "tools/report_header.h"
#include "tools/sample_flags.h"
#include "tools/search_flags.h"
#include "tools/search_report.h"

namespace stagecraft {
namespace {

constexpr int kSchema = 1;

constexpr const char* kExample =
    "example: stagecraft search --model llama3-70b --cluster h100-sxm:8x8 --global-batch 512 "
    "--seq 8192 --top 5 -o plan.yaml";

void CheckPlanPath(const std::string& path) {
  CheckProtoTextPath("-o", path);
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::error_code error;
  if (!folder.empty() && !std::filesystem::is_directory(folder, error)) {
    throw InputError("-o: the folder \"" + folder.string() + "\" does not exist");
  }
}

std::string ProgressText(const SearchProgress& progress) {
  return fmt::format("{} evaluated, at most {} left, best {:.4g}, bound {:.4g}", progress.evaluated,
                     progress.left, progress.best, progress.bound);
}

// What a search returns is simulated once more from nothing.
void CheckPlans(const SearchProblem& problem, const PlanRun& run) {
  for (const RankedPlan& ranked : run.result.plans) {
    const std::vector<std::string> errors = FindErrors(problem, ranked);
    CHECK(errors.empty());
  }
}

}  // namespace

int RunSearch(const Args& args, std::istream&, std::ostream& out, std::ostream& err) {
  CLI::App app("Finds the best plans for a workload on a cluster.", "stagecraft search");
  app.footer(kExample);
  SearchFlags flags;
  flags.Register(app);
  CostModelFlag cost_model;
  cost_model.Register(app);
  std::string plan_file;
  bool json = false, quiet = false;
  app.add_option("-o", plan_file, "write the best plan to a .yaml, .json or .textproto file");
  app.add_flag("--json", json, "one JSON object on stdout");
  app.add_flag("--quiet", quiet, "nothing on stderr");
  if (ParseFlags(app, args, out)) return kExitOk;

  if (!plan_file.empty()) CheckPlanPath(plan_file);
  const SearchJob job = flags.Build();
  const std::unique_ptr<CostModel> model = cost_model.Load();
  const MemoModel memo(*model);
  const SearchProblem problem = job.Problem(memo);
  const std::vector<std::string> errors = FindErrors(problem);
  if (!errors.empty()) throw InputError(errors[0]);

  ProgressLine progress(err, quiet);
  PlanSearchOptions options = job.options;
  options.search.report = [&](const SearchProgress& now) { progress.Show(ProgressText(now)); };
  std::vector<PlanRun> runs;
  {
    const InterruptCatcher catcher;
    options.search.budget.stop = InterruptCatcher::flag();
    const std::unique_ptr<PlanSpace> space =
        job.cluster.homogeneous() ? MakeEqualStages(problem) : MakePooledStages(problem);
    if (job.compares) {
      runs = ComparePlanAlgorithms(problem, *space, options);
    } else {
      runs.push_back(SearchPlans(job.algorithm, problem, *space, options));
    }
  }
  progress.Clear();
  for (const PlanRun& run : runs) CheckPlans(job.Problem(*model), run);
  const SearchResult& result = BestRun(runs).result;

  if (!plan_file.empty() && !result.plans.empty()) {
    const std::string extension = std::filesystem::path(plan_file).extension().string();
    WriteFileAtomically(plan_file, ProtoText(ToProto(result.plans[0].plan), extension));
    if (!quiet) err << "wrote " << plan_file << '\n';
  }
  if (json) {
    Args files = job.files;
    if (!cost_model.file().empty()) files.push_back(cost_model.file());
    nlohmann::ordered_json report = ReportHeader("search", kSchema, files);
    report["cost_model"] = cost_model.name();
    report["seed"] = job.options.seed;
    report.update(job.compares ? ComparisonToJson(problem, runs) : SearchToJson(problem, runs[0]));
    out << report.dump(2) << '\n';
  } else if (job.compares) {
    PrintComparison(problem, runs, out);
  } else {
    PrintSearch(problem, runs[0], out);
  }
  if (InterruptCatcher::was_interrupted()) return kExitInterrupted;
  return result.plans.empty() ? kExitInfeasible : kExitOk;
}

}  // namespace stagecraft
