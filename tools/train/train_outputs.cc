#include "tools/train/train_outputs.h"

#include <fmt/core.h>

#include <ostream>
#include <utility>

#include "costmodel/check.h"
#include "costmodel/proto_file.h"
#include "sim/job/history_output.h"
#include "tools/trace/trace_file.h"
#include "tools/train/runs_page.h"
#include "tools/train/shown_run.h"
#include "tools/train/train_page.h"
#include "tools/train/train_trace.h"

namespace stagecraft {

void TrainOutputs::Register(Flags& flags) {
  FlagGroup group = flags.In(FlagTopic::kOutput);
  group.Add("--history", history_, {"<file>", "Write every phase of the run, as .csv or .json."});
  group.Add("--trace", trace_,
            {"<file>",
             "Write the phases of the run, its step time, idle share and devices at work as a "
             "trace, .pftrace for Perfetto or .json for Chrome."});
  group.Add("--report", report_,
            {"<file.html>", "Write a page with charts of the run, or of how --runs spread."});
  flags.AddReporting(json_, quiet_);
}

void TrainOutputs::Check(int runs) const {
  if (!history_.empty() && !history_.ends_with(".csv") && !history_.ends_with(".json")) {
    throw InputError(fmt::format("--history: got \"{}\", want a .csv or .json file", history_));
  }
  if (!trace_.empty()) CheckTraceFile("--trace", trace_);
  if (!report_.empty() && !report_.ends_with(".html")) {
    throw InputError(fmt::format("--report: got \"{}\", want a .html file", report_));
  }
  if (runs == 1) return;
  for (const auto& [file, flag] : {std::pair(history_, "--history"), {trace_, "--trace"}}) {
    if (file.empty()) continue;
    throw InputError(fmt::format("{}: got it with several --runs, want one history", flag));
  }
}

void TrainOutputs::Write(const PlannedJob& job, const TrainRequest& request,
                         const TrainAnswer& answer, std::ostream& err) const {
  const auto write = [&](const std::string& file, const auto& write_file) {
    if (file.empty()) return;
    write_file(file);
    if (!quiet_) err << "wrote " << file << '\n';
  };
  write(history_, [&](const std::string& file) {
    const bool is_csv = file.ends_with(".csv");
    WriteFileAtomically(file, is_csv ? HistoryCsv(*answer.history) : HistoryJson(*answer.history));
  });
  write(trace_,
        [&](const std::string& file) { WriteTraceFile(file, TrainTrace(job, request, answer)); });
  // If there is neither, one of several runs has stopped, as the exit code says.
  if (!answer.summary && !answer.history) return;
  write(report_, [&](const std::string& file) {
    WriteFileAtomically(file, answer.summary ? RunsPage(job, request, answer)
                                             : TrainPage(ShownRunOf(job, request, answer)));
  });
}

}  // namespace stagecraft
