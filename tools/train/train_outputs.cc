#include "tools/train/train_outputs.h"

#include <fmt/core.h>

#include <ostream>
#include <utility>

#include "costmodel/check.h"
#include "costmodel/proto_file.h"
#include "sim/job/history_output.h"
#include "tools/train/train_page.h"

namespace stagecraft {

void TrainOutputs::Register(Flags& flags) {
  FlagGroup group = flags.In(FlagTopic::kOutput);
  group.Add("--history", history_, {"<file>", "Write every phase of the run, as .csv or .json."});
  group.Add("--report", report_, {"<file.html>", "Write a page with charts of the run."});
  flags.AddReporting(json_, quiet_);
}

void TrainOutputs::Check(int runs) const {
  if (!history_.empty() && !history_.ends_with(".csv") && !history_.ends_with(".json")) {
    throw InputError(fmt::format("--history: got \"{}\", want a .csv or .json file", history_));
  }
  if (!report_.empty() && !report_.ends_with(".html")) {
    throw InputError(fmt::format("--report: got \"{}\", want a .html file", report_));
  }
  if (runs == 1) return;
  for (const auto& [file, flag] : {std::pair(history_, "--history"), {report_, "--report"}}) {
    if (file.empty()) continue;
    throw InputError(fmt::format("{}: got it with several --runs, want one history", flag));
  }
}

void TrainOutputs::Write(const PlannedJob& job, const TrainRequest& request,
                         const TrainAnswer& answer, std::ostream& err) const {
  const auto write = [&](const std::string& file, const auto& text) {
    if (file.empty()) return;
    WriteFileAtomically(file, text());
    if (!quiet_) err << "wrote " << file << '\n';
  };
  write(history_, [&] {
    return history_.ends_with(".csv") ? HistoryCsv(*answer.history) : HistoryJson(*answer.history);
  });
  write(report_, [&] { return TrainPage(job, request, answer); });
}

}  // namespace stagecraft
