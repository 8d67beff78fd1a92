// partition: cuts an operator graph into stages.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>

#include "costmodel/proto_file.h"
#include "tools/algorithm_comparison.h"
#include "tools/command.h"
#include "tools/flags.h"
#include "tools/interrupt_catcher.h"
#include "tools/partition_flags.h"
#include "tools/partition_report.h"
#include "tools/report_header.h"
#include "tools/sample_flags.h"

namespace stagecraft {
namespace {

constexpr int kSchema = 1;

PartitionAnswer Run(PartitionJob& job, std::ostream& err, bool quiet) {
  ProgressLine progress(err, quiet);
  PartitionRequest& request = job.request;
  request.policy.report = [&](int rounds_done) {
    progress.Show(fmt::format("{} of {} rounds learned", rounds_done, request.policy.rounds));
  };
  const InterruptCatcher catcher;
  request.budget.stop = InterruptCatcher::flag();
  PartitionAnswer answer = job.run(request);
  answer.notes.insert(answer.notes.begin(), job.notes.begin(), job.notes.end());
  return answer;
}

}  // namespace

int RunPartition(const Args& args, std::istream&, std::ostream& out, std::ostream& err) {
  CLI::App app("Cuts an operator graph into stages.", "stagecraft partition");
  PartitionFlags flags;
  flags.Register(app);
  bool json = false, quiet = false;
  app.add_flag("--json", json, "one JSON object on stdout");
  app.add_flag("--quiet", quiet, "nothing on stderr");
  if (ParseFlags(app, args, out)) return kExitOk;

  PartitionJob job = flags.Build();
  const auto start = std::chrono::steady_clock::now();
  const PartitionAnswer answer = Run(job, err, quiet);
  const double wall_ms =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  if (!job.page.empty() && answer.comparison) {
    WriteFileAtomically(job.page, ComparisonToHtml(*answer.comparison, "stagecraft partition"));
    if (!quiet) err << "wrote " << job.page << '\n';
  }
  if (json) {
    nlohmann::ordered_json report = ReportHeader("partition", kSchema, job.files);
    report.update(PartitionToJson(job.request, answer));
    report["wall_ms"] = wall_ms;
    out << report.dump(2) << '\n';
  }
  if (InterruptCatcher::was_interrupted()) {
    if (!json) PrintPartition(job.request, answer, out);
    return kExitInterrupted;
  }
  if (!answer.obstacle.empty()) {
    err << "stagecraft partition: no feasible partition: " << answer.obstacle << '\n';
    return kExitInfeasible;
  }
  if (!json) PrintPartition(job.request, answer, out);
  if (!quiet) err << fmt::format("partitioned in {:.1f} ms\n", wall_ms);
  return kExitOk;
}

}  // namespace stagecraft
