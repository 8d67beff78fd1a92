// partition: cuts an operator graph into stages.
#include <fmt/core.h>

#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <utility>

#include "costmodel/proto_file.h"
#include "search/partition/stop_sign.h"
#include "search/stopwatch.h"
#include "tools/flags/sample_flags.h"
#include "tools/partition/answer_errors.h"
#include "tools/partition/partition_flags.h"
#include "tools/partition/partition_report.h"
#include "tools/report/algorithm_comparison.h"
#include "tools/verb/command.h"
#include "tools/verb/flags.h"
#include "tools/verb/interrupt_catcher.h"
#include "tools/verb/print_json.h"
#include "tools/verb/progress_text.h"
#include "tools/verb/report_header.h"

namespace stagecraft {
namespace {

constexpr int kSchema = 1;

void ExplainCut(PartitionAnswer& answer) {
  const char* const cause = answer.is_interrupted ? "interrupted" : "the budget ended";
  if (!answer.stages.empty()) {
    answer.notes.push_back(fmt::format("{}: this is the best so far", cause));
  } else if (answer.obstacle.empty()) {
    answer.obstacle = fmt::format("{} before a partition was found", cause);
  }
}

PartitionAnswer Run(PartitionJob& job, std::ostream& err, bool quiet) {
  ProgressLine progress(err, quiet);
  PartitionRequest& request = job.request;
  const Stopwatch watch;
  request.policy.report = [&](int rounds_done) {
    progress.Show(
        ProgressText(rounds_done, request.policy.rounds, "training rounds", watch.Seconds()));
  };
  const InterruptCatcher catcher;
  request.budget.stop = InterruptCatcher::flag();
  PartitionAnswer answer;
  try {
    answer = job.run(request);
  } catch (const Stopped&) {
    answer.is_cut_short = true;
  }
  answer.is_interrupted = InterruptCatcher::was_interrupted();
  answer.notes.insert(answer.notes.begin(), job.notes.begin(), job.notes.end());
  if (answer.is_cut_short) ExplainCut(answer);
  return answer;
}

// Prints why results that were asked for are missing, a sentence each.
void PrintFailures(const PartitionAnswer& answer, std::ostream& err) {
  if (!answer.obstacle.empty()) {
    const char* const what = answer.is_cut_short ? "" : "no feasible partition: ";
    err << "stagecraft partition: " << what << answer.obstacle << '\n';
  }
  if (!answer.unsaved_policy.empty()) {
    err << "stagecraft partition: " << answer.unsaved_policy << '\n';
  }
}

}  // namespace

int RunPartition(const Args& args, std::istream&, std::ostream& out, std::ostream& err) {
  Flags flags(
      "partition",
      "Cuts an operator graph into pipeline stages, as published planners do or by search.");
  PartitionFlags partition;
  bool json = false, quiet = false;
  partition.Register(flags);
  flags.AddReporting(json, quiet);
  if (flags.Parse(args, out)) return kExitOk;

  PartitionJob job = partition.Build();
  const Stopwatch watch;
  const PartitionAnswer answer = Run(job, err, quiet);
  const double wall_ms = 1e3 * watch.Seconds();
  RequireSound(answer);
  if (!job.page.empty() && answer.comparison) {
    WriteFileAtomically(job.page,
                        ComparisonToHtml(*answer.comparison, "stagecraft partition: algorithms"));
    if (!quiet) err << "wrote " << job.page << '\n';
  }
  if (json) {
    nlohmann::ordered_json report = ReportHeader("partition", kSchema, job.files);
    report.update(PartitionToJson(job.request, answer));
    report["wall_ms"] = wall_ms;
    PrintJson(std::move(report), out);
  }
  const bool has_failed = !answer.obstacle.empty();
  PrintFailures(answer, err);
  if (!json && (answer.is_interrupted || answer.is_cut_short || !has_failed)) {
    PrintPartition(answer, out);
  }
  const int code = ExitCodeOf(answer);
  if (!quiet && code == kExitOk) err << fmt::format("partitioned in {:.1f} ms\n", wall_ms);
  return code;
}

}  // namespace stagecraft
