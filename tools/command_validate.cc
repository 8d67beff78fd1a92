#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <utility>

#include "costmodel/check.h"
#include "costmodel/memo_model.h"
#include "costmodel/nearest.h"
#include "costmodel/proto_file.h"
#include "search/stopwatch.h"
#include "tools/flags/cost_model_flag.h"
#include "tools/flags/sample_flags.h"
#include "tools/own/own_validation.h"
#include "tools/stacks/stack_table.h"
#include "tools/validation/baselines.h"
#include "tools/validation/csv_table.h"
#include "tools/validation/error_table.h"
#include "tools/validation/measured_row.h"
#include "tools/validation/predict_rows.h"
#include "tools/validation/prediction.h"
#include "tools/validation/profiled_passes.h"
#include "tools/validation/row_facts.h"
#include "tools/validation/step_fit.h"
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
constexpr const char* kClearLine = "\r\033[K";

struct ValidateFlags {
  std::vector<std::string> against;
  std::string all;
  std::string source;
  std::string max_error;
  std::string report;
  bool fit_constants = false;
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

// Puts tables of a user's own steps, which say by flags what was run, into `own`.
Validation ReadRows(const std::vector<std::string>& files, const std::string& source,
                    std::vector<CsvTable>* own) {
  Validation validation;
  std::vector<std::string> sources;
  for (const std::string& file : files) {
    CsvTable table = CsvTable::Parse(ReadFile(file), file);
    if (IsOwnTable(table)) {
      sources.push_back(fs::path(file).stem().string());
      if (source.empty() || source == sources.back()) own->push_back(std::move(table));
      continue;
    }
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

// Whether the mean error exceeds `max_error`, or is unknown because no row could be simulated.
bool ExceedsThreshold(const std::vector<ValidatedRow>& rows, double max_error) {
  const std::vector<ErrorStats> overall = SummarizeBy(rows, false, false);
  return overall.empty() || !overall[0].mape.has_value() || *overall[0].mape > max_error;
}

// Throws InputError for flags that a fit does not heed.
void CheckFitFlags(const ValidateFlags& flags) {
  if (!flags.fit_constants) return;
  const auto refuse = [](const std::string& flag, const std::string& value, const char* why) {
    if (!value.empty()) throw InputError(flag + ": got one with --fit-constants, " + why);
  };
  refuse("--source", flags.source, "want the rows of two tables or more");
  refuse("--max-error", flags.max_error, "which judges no errors");
  refuse("--report", flags.report, "which writes no page");
}

// Returns what shows progress on a line of its own; `progress` may be nullptr.
RowProgress ProgressTo(std::ostream* progress) {
  if (progress == nullptr) return nullptr;
  return [progress, watch = Stopwatch()](int64_t done, int64_t all) {
    *progress << kClearLine << ProgressText(done, all, "rows", watch.Seconds()) << std::flush;
  };
}

// Predicts the rows once for each choice of constants; `progress`, if given, tells how often.
StepFit FitConstants(std::span<const ValidatedRow> rows, const PredictionBasis& basis,
                     std::ostream* progress) {
  int done = 0;
  const StepFit fit = FitStepConstants([&](const StepConstants& constants) {
    if (progress != nullptr) {
      *progress << kClearLine << fmt::format("{} choices of constants", ++done) << std::flush;
    }
    return TimeErrorsOf(rows, basis, constants);
  });
  if (progress != nullptr) *progress << kClearLine << std::flush;
  return fit;
}

nlohmann::ordered_json HeaderOf(std::vector<std::string> files, const CostModelFlag& cost_model) {
  for (const std::string& file : cost_model.files()) files.push_back(file);
  nlohmann::ordered_json report = ReportHeader("validate", kSchema, files);
  report["cost_model"] = cost_model.name();
  report["seed"] = 0;  // nothing is drawn at random
  return report;
}

void Register(Flags& flags, ValidateFlags& values) {
  flags.AddExample("validate --against published/megatron_sc21_table1.csv --max-error 20%");
  flags.AddExample("validate --against examples/h200_steps.csv");
  flags.AddExample("validate --all tables/ --report accuracy.html");
  flags.AddExample("validate --all tables/ --fit-constants");
  FlagGroup input = flags.In(FlagTopic::kInput);
  input.Add("--against", values.against,
            {"<file>...",
             "CSV files of measured training steps: of the published form, or your own with the "
             "columns seconds or tokens_per_s, and flags of simulate (model, cluster, tp, ...)."});
  input.Add("--all", values.all,
            {"<folder>",
             "A folder with such files, or with folders published and steps that hold them."});
  input.Add("--source", values.source, {"<name>", "Only the rows of this source.", "", "all"});
  input.Add("--fit-constants", values.fit_constants,
            {"",
             "Instead, fit the constants that no profile of kernels gives on the times of these "
             "steps, and print the errors with and without each table in the fit."});
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
  CheckFitFlags(flags);
  const std::vector<std::string> files = InputFiles(flags);
  const std::unique_ptr<CostModel> model = cost_model.Load();
  std::vector<CsvTable> own;
  Validation validation = ReadRows(files, flags.source, &own);
  if (flags.fit_constants && !own.empty()) {
    throw InputError(own[0].name() +
                     ": got steps that flags describe with --fit-constants, want them with fit "
                     "--steps");
  }
  const bool shows_progress = !flags.quiet && &err == &std::cerr && isatty(STDERR_FILENO) != 0;
  const RowFactTable& facts = RowFactTable::Embedded();
  const std::unique_ptr<CostModel> without = cost_model.LoadWithout(facts.NetworkSites());
  const MemoModel memo(*model);
  const PredictionBasis basis = {StackTable::Embedded(), facts, memo, without.get()};
  std::ostream* const progress = shows_progress ? &err : nullptr;
  if (flags.fit_constants) {
    const StepFit fit = FitConstants(validation.rows, basis, progress);
    if (!flags.json) {
      PrintStepFit(fit, out);
      return kExitOk;
    }
    nlohmann::ordered_json report = HeaderOf(files, cost_model);
    report["fit"] = StepFitToJson(fit);
    PrintJson(std::move(report), out);
    return kExitOk;
  }
  PredictRows(validation.rows, basis, ProgressTo(progress));
  PredictRows(validation.mixtures, basis);
  for (const CsvTable& table : own) {
    for (ValidatedRow& row : ValidateOwnSteps(table, memo)) {
      validation.rows.push_back(std::move(row));
    }
  }
  if (progress != nullptr) *progress << kClearLine << std::flush;
  validation.passes = PredictPasses(validation.not_scored, basis);
  AddBaselines(validation.rows);
  if (!flags.report.empty()) {
    const std::string origin =
        ValidationOrigin(validation.rows.size(), files, cost_model.name(), kToolVersion);
    WriteFileAtomically(flags.report, ValidText(ValidationToHtml(validation, origin)));
    if (!flags.quiet) err << "wrote " << flags.report << '\n';
  }
  if (flags.json) {
    nlohmann::ordered_json report = HeaderOf(files, cost_model);
    report["tables"] = files;
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
