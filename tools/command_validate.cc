#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <filesystem>
#include <iostream>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>
#include <utility>

#include "costmodel/check.h"
#include "costmodel/memo_model.h"
#include "costmodel/nearest.h"
#include "costmodel/proto_file.h"
#include "costmodel/text.h"
#include "search/stopwatch.h"
#include "tools/flags/cost_model_flag.h"
#include "tools/flags/sample_flags.h"
#include "tools/stacks/stack_table.h"
#include "tools/validation/baselines.h"
#include "tools/validation/csv_table.h"
#include "tools/validation/error_table.h"
#include "tools/validation/measured_row.h"
#include "tools/validation/prediction.h"
#include "tools/validation/profiled_passes.h"
#include "tools/validation/row_facts.h"
#include "tools/validation/validation_html.h"
#include "tools/validation/validation_report.h"
#include "tools/verb/command.h"
#include "tools/verb/flags.h"
#include "tools/verb/print_json.h"
#include "tools/verb/progress_text.h"
#include "tools/verb/report_header.h"

namespace stagecraft {
namespace {

namespace fs = std::filesystem;

constexpr int kSchema = 1;
constexpr size_t kMostNamedFiles = 4;  // in one sentence

struct ValidateFlags {
  std::vector<std::string> against;
  std::string all;
  std::string source;
  std::string max_error;
  std::string report;
  bool json = false, quiet = false;
};

void AddCsvFiles(const fs::path& folder, std::vector<std::string>& files) {
  std::error_code error;
  std::vector<std::string> found;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (it->path().extension() == ".csv") found.push_back(it->path().string());
  }
  std::sort(found.begin(), found.end());
  files.insert(files.end(), found.begin(), found.end());
}

std::vector<std::string> InputFiles(const ValidateFlags& flags) {
  std::vector<std::string> files = flags.against;
  if (!flags.all.empty()) {
    const size_t before = files.size();
    for (const char* part : {"published", "steps"}) AddCsvFiles(fs::path(flags.all) / part, files);
    if (files.size() == before) AddCsvFiles(flags.all, files);
    if (files.size() == before) {
      throw InputError("--all: got \"" + flags.all +
                       "\", want a folder with .csv files, or with published/ and steps/");
    }
  }
  if (files.empty()) throw InputError("--against: got no file, want one (or --all DIR)");
  for (const std::string& file : files) {
    if (std::count(files.begin(), files.end(), file) > 1) {
      throw InputError(file + ": given twice, want it once");
    }
  }
  return files;
}

Validation ReadRows(const std::vector<std::string>& files, const std::string& source) {
  Validation validation;
  std::vector<std::string> sources;
  for (const std::string& file : files) {
    const CsvTable table = CsvTable::Parse(ReadFile(file), file);
    for (MeasuredRow& row : ReadMeasuredRows(table, fs::path(file).stem().string())) {
      if (std::find(sources.begin(), sources.end(), row.source) == sources.end()) {
        sources.push_back(row.source);
      }
      if (!source.empty() && row.source != source) continue;
      if (row.is_scored) {
        ValidatedRow validated;
        validated.measured = std::move(row);
        validation.rows.push_back(std::move(validated));
      } else {
        const bool has_value = row.value > 0 && *Unit(row.metric_kind) != '\0';
        if (IsMixture(row.model_kind) && has_value) {
          validation.mixtures.emplace_back().measured = row;
        }
        validation.not_scored.push_back(std::move(row));
      }
    }
  }
  if (!source.empty() && std::find(sources.begin(), sources.end(), source) == sources.end()) {
    throw InputError("--source: no row of the files is from \"" + source + "\"; " +
                     NearestNames(source, sources));
  }
  return validation;
}

// Predicts all rows. They are independent: threads take one after another, and results keep the
// places of their rows.
void PredictAll(std::vector<ValidatedRow>& rows, const PredictionBasis& basis,
                std::ostream* progress) {
  const Stopwatch watch;
  std::atomic<size_t> next = 0;
  std::mutex mutex;
  std::exception_ptr failure;  // such as lack of memory; exceptions must not leave a thread
  const auto work = [&](bool reports) {
    try {
      for (size_t i = next++; i < rows.size(); i = next++) {
        rows[i].prediction = PredictRow(rows[i].measured, basis);
        if (!reports) continue;
        const auto done = static_cast<int64_t>(i) + 1, all = static_cast<int64_t>(rows.size());
        *progress << "\r\033[K" << ProgressText(done, all, "rows", watch.Seconds()) << std::flush;
      }
    } catch (...) {
      const std::lock_guard lock(mutex);
      failure = std::current_exception();
    }
  };
  const unsigned count = std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::jthread> threads;
  for (unsigned thread = 1; thread < count && thread < rows.size(); ++thread) {
    threads.emplace_back(work, false);
  }
  work(progress != nullptr);
  threads.clear();
  if (failure) std::rethrow_exception(failure);
  if (progress != nullptr) *progress << "\r\033[K" << std::flush;
}

// Whether the mean error exceeds `max_error`, or is unknown because no row could be simulated.
bool ExceedsThreshold(const std::vector<ValidatedRow>& rows, double max_error) {
  const std::vector<ErrorStats> overall = SummarizeBy(rows, false, false);
  return overall.empty() || !overall[0].mape.has_value() || *overall[0].mape > max_error;
}

// What the page says about its figures. Files are named without their folders, so that the page
// does not depend on where they are.
std::string OriginOf(const Validation& validation, const std::vector<std::string>& files,
                     const std::string& cost_model) {
  const auto name_of = [](const std::string& file) { return fs::path(file).filename().string(); };
  const std::string tables = files.size() <= kMostNamedFiles
                                 ? Join(files, ", ", name_of)
                                 : fmt::format("{} tables", files.size());
  return fmt::format("{} scored rows of {}; cost model {}; stagecraft {}.", validation.rows.size(),
                     tables, name_of(cost_model), kToolVersion);
}

void Register(Flags& flags, ValidateFlags& values) {
  flags.AddExample("validate --against published/megatron_sc21_table1.csv --max-error 20%");
  flags.AddExample("validate --all tables/ --report accuracy.html");
  FlagGroup input = flags.In(FlagTopic::kInput);
  input.Add("--against", values.against, {"<file>...", "CSV files of measured training steps."});
  input.Add("--all", values.all,
            {"<folder>",
             "A folder with such files, or with folders published and steps that hold them."});
  input.Add("--source", values.source, {"<name>", "Only the rows of this source.", "", "all"});
  FlagGroup output = flags.In(FlagTopic::kOutput);
  output.Add(
      "--max-error", values.max_error,
      {"<percent>", "End with exit code 4 if the mean error of all rows exceeds this, such as 20%.",
       "0 or more", "no limit"});
  output.Add("--report", values.report,
             {"<file.html>", "Write a page with charts and tables of the errors."});
  flags.AddReporting(values.json, values.quiet);
}

}  // namespace

int RunValidate(const Args& args, std::istream&, std::ostream& out, std::ostream& err) {
  Flags described("validate",
                  "Compares predictions with training steps that were measured, published or your "
                  "own.");
  ValidateFlags flags;
  CostModelFlag cost_model;
  Register(described, flags);
  cost_model.Register(described);
  if (described.Parse(args, out)) return kExitOk;

  std::optional<double> max_error;
  if (!flags.max_error.empty()) max_error = ParsePercent("--max-error", flags.max_error);
  if (!flags.report.empty()) CheckOutputPath("--report", flags.report, {".html"});
  std::vector<std::string> files = InputFiles(flags);
  const std::unique_ptr<CostModel> model = cost_model.Load();
  Validation validation = ReadRows(files, flags.source);
  const bool shows_progress = !flags.quiet && &err == &std::cerr && isatty(STDERR_FILENO) != 0;
  const RowFactTable& facts = RowFactTable::Embedded();
  const std::unique_ptr<CostModel> without = cost_model.LoadWithout(facts.NetworkSites());
  const MemoModel memo(*model);
  const PredictionBasis basis = {StackTable::Embedded(), facts, memo, without.get()};
  PredictAll(validation.rows, basis, shows_progress ? &err : nullptr);
  PredictAll(validation.mixtures, basis, nullptr);
  validation.passes = PredictPasses(validation.not_scored, basis);
  AddBaselines(validation.rows);
  if (!flags.report.empty()) {
    const std::string origin = OriginOf(validation, files, cost_model.name());
    WriteFileAtomically(flags.report, ValidText(ValidationToHtml(validation, origin)));
    if (!flags.quiet) err << "wrote " << flags.report << '\n';
  }
  if (flags.json) {
    for (const std::string& file : cost_model.files()) files.push_back(file);
    nlohmann::ordered_json report = ReportHeader("validate", kSchema, files);
    report["cost_model"] = cost_model.name();
    report["seed"] = 0;  // nothing is drawn at random
    report.update(ValidationToJson(validation));
    PrintJson(std::move(report), out);
  } else {
    PrintValidation(validation, out);
  }
  RequireSound(validation);
  const bool exceeds = max_error && ExceedsThreshold(validation.rows, *max_error);
  return exceeds ? kExitThreshold : kExitOk;
}

}  // namespace stagecraft
