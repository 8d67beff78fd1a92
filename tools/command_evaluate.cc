// evaluate: how well cost models predict measured samples.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "costmodel/check.h"
#include "costmodel/learned/experiment.h"
#include "costmodel/learned/learned_model.h"
#include "costmodel/nearest.h"
#include "costmodel/proto_file.h"
#include "costmodel/text.h"
#include "tools/flags/sample_flags.h"
#include "tools/network/network_evaluation.h"
#include "tools/report/error_by_size.h"
#include "tools/report/evaluation_html.h"
#include "tools/report/evaluation_report.h"
#include "tools/verb/command.h"
#include "tools/verb/flags.h"
#include "tools/verb/print_json.h"
#include "tools/verb/report_header.h"

namespace stagecraft {
namespace {

constexpr int kSchema = 1;
struct EvaluateFlags {
  Args samples;
  NetworkEvaluationFlags network;
  std::string split = "none";
  std::string models = "shipped";
  int calibrate = 0;
  std::string cost_model;
  uint64_t seed = 1;
  std::string max_error;
  std::string report;
  bool by_size = false, json = false, quiet = false;

  bool calibrates = false;  // --calibrate is given
};

Args ModelNames() {
  Args names;
  for (int kind = 0; kind < kModelKindCount; ++kind) {
    names.push_back(Name(static_cast<ModelKind>(kind)));
  }
  return names;
}

// Parses "all", or names separated by commas. The result is in the order of ModelKind.
std::vector<ModelKind> ParseModels(const std::string& text) {
  const Args names = ModelNames();
  std::set<ModelKind> chosen;
  for (const std::string_view part : SplitAt(text, ',')) {
    const std::string word(part);
    for (int kind = 0; kind < kModelKindCount; ++kind) {
      if (word == names[kind] || text == "all") chosen.insert(static_cast<ModelKind>(kind));
    }
    if (text != "all" && std::find(names.begin(), names.end(), word) == names.end()) {
      throw InputError(fmt::format("--models: got \"{}\", want all, or some of {}; {}", word,
                                   fmt::join(names, ","), NearestNames(word, names)));
    }
  }
  return {chosen.begin(), chosen.end()};
}

// Throws InputError for flags that are missing, out of range or contradict each other.
void CheckFlags(const EvaluateFlags& flags, const std::vector<ModelKind>& models) {
  const auto has = [&](ModelKind kind) {
    return std::find(models.begin(), models.end(), kind) != models.end();
  };
  if (flags.samples.empty()) throw InputError("--samples: got no file, want measured samples");
  for (const ModelKind kind : models) {
    if (flags.split != "none" || kind == ModelKind::kShipped || kind == ModelKind::kRoofline) {
      continue;
    }
    throw InputError(fmt::format(
        "--models: got {} with --split none, where nothing is fitted, want shipped, roofline",
        Name(kind)));
  }
  const std::pair<const char*, bool> of_shipped[] = {{"--calibrate", flags.calibrates},
                                                     {"--cost-model", !flags.cost_model.empty()},
                                                     {"--max-error", !flags.max_error.empty()}};
  for (const auto& [flag, is_given] : of_shipped) {
    if (is_given && !has(ModelKind::kShipped)) {
      throw InputError(
          fmt::format("{}: got --models {}, want shipped among them", flag, flags.models));
    }
  }
  if (flags.calibrates && flags.calibrate < 1) {
    throw InputError(fmt::format("--calibrate: got {}, want at least 1 row", flags.calibrate));
  }
  if (flags.calibrates && flags.split != "none" && !flags.split.starts_with("leave-out:")) {
    throw InputError(fmt::format("--calibrate: got --split {}, want leave-out:KEY[=VALUE] or none",
                                 flags.split));
  }
  if (!flags.cost_model.empty() && flags.split != "none") {
    throw InputError(fmt::format(
        "--cost-model: got --split {}, which fits a model of its own, want none", flags.split));
  }
  if (!flags.report.empty()) CheckOutputPath("--report", flags.report, {".html"});
}

// Throws InputError if there is a model that no sample judges.
void CheckSomethingIsLeft(const AccuracyReport& evaluation) {
  for (const Accuracy& all : evaluation.experiment.overall_rows) {
    if (all.rows > 0) continue;
    CHECK(!evaluation.experiment.skipped.empty());
    const auto& [gpu, reason] = evaluation.experiment.skipped.begin()->first;
    throw InputError(fmt::format("--samples: no sample is left to test {} on: {} {}",
                                 Name(all.model), gpu, reason));
  }
}

AccuracyReport Evaluate(const EvaluateFlags& flags, std::ostream& err) {
  AccuracyReport evaluation;
  evaluation.models = ParseModels(flags.models);
  CheckFlags(flags, evaluation.models);
  std::optional<LearnedModel> model;
  // Samples that the model was fitted to would be predicted by their own measured times.
  if (!flags.cost_model.empty()) {
    model.emplace(LearnedModel::Read(flags.cost_model).WithoutMeasured());
  }
  evaluation.split = flags.split;
  evaluation.seed = flags.seed;
  evaluation.calibrate = flags.calibrate;
  evaluation.input = ReadSampleInput("--samples", flags.samples, flags.network.cluster);

  ProgressLine progress(err, flags.quiet);
  ExperimentOptions options;
  options.split = flags.split;
  options.models = evaluation.models;
  options.calibrate = flags.calibrate;
  options.seed = flags.seed;
  options.shipped = model ? &*model : nullptr;
  options.report = progress.Reporter();
  evaluation.experiment = RunExperiment(evaluation.input.samples, options);
  CheckSomethingIsLeft(evaluation);
  evaluation.by_size = ErrorsBySize(evaluation.input.samples, evaluation.experiment);
  return evaluation;
}

bool Exceeds(const Experiment& experiment, double max_error) {
  return std::any_of(experiment.overall.begin(), experiment.overall.end(),
                     [&](const Accuracy& all) {
                       return all.model == ModelKind::kShipped && !(100 * all.mape <= max_error);
                     });
}

// Refuses flags that have no meaning with --network.
void RefuseKernelFlags(const Flags& flags) {
  for (const char* const flag : {"--samples", "--models", "--report", "--by-size"}) {
    if (!flags.IsGiven(flag)) continue;
    throw InputError(fmt::format("{}: got it with --network, want it only with --samples", flag));
  }
}

// Refuses the flag that has no meaning without --network.
void RefuseNetworkFlag(const Flags& flags) {
  if (!flags.IsGiven("--min-bytes")) return;
  throw InputError("--min-bytes: got it without --network, want it only with --network");
}

void AddExamples(Flags& flags) {
  flags.AddExample("evaluate --samples kernels/ --split leave-out:gpu --models all --json");
  flags.AddExample("evaluate --network collectives.csv.gz --split leave-out:group");
  flags.AddNote("Splits:");
  flags.AddTerm("none", "test the fitted model as it is (shipped, or --cost-model) on all samples");
  flags.AddTerm("random:0.2", "test on this share of every GPU's samples, drawn at random");
  flags.AddTerm("unseen-shape", "test on a fifth of the shapes");
  flags.AddTerm("column:split", "test on the rows that the source itself marks as test");
  flags.AddTerm("leave-out:KEY=VALUE", "test on the samples of one gpu, source, op, dtype or nk");
  flags.AddTerm("leave-out:KEY", "test on each value of KEY in turn");
  flags.AddNote(
      "The keys of --network are group (nodes x ranks x groups x stride), bytes, gpu, source, "
      "system, site, op and dtype. With any split but none, the model called shipped is the same "
      "kind of model, fitted to the samples that are not tested on.");
}

void RegisterSamples(Flags& flags, EvaluateFlags& values) {
  FlagGroup input = flags.In(FlagTopic::kInput);
  input
      .Add("--samples", values.samples,
           {"<file|folder>...", "Tables of measured samples of kernels, or folders of them."})
      .Common();
  input
      .Add("--network", values.network.files,
           {"<file>...",
            "Test the model of collectives on these tables of measured collectives or nccl-tests "
            "logs, in place of kernels on --samples."})
      .Common();
  input.Add("--cluster", values.network.cluster,
            {"<cluster>",
             "With nccl-tests logs: the cluster on which they were taken, as for simulate. With "
             "samples: a cluster file with the GPU types that the catalogue lacks."});
  input.Add("--min-bytes", values.network.least_bytes,
            {"<bytes>", "With --network: do not test on smaller messages.", "",
             std::to_string(values.network.least_bytes)});
}

void Register(Flags& flags, EvaluateFlags& values) {
  RegisterSamples(flags, values);
  FlagGroup judged = flags.In(FlagTopic::kCostModel);
  judged
      .Add("--split", values.split,
           {"<split>", "Which samples to test on; models learn from the others (below).", "",
            "none"})
      .Suggest([] {
        return Args{"none", "random:0.2", "unseen-shape", "leave-out:gpu"};
      })
      .Common();
  judged
      .Add("--models", values.models,
           {"<name,...>", "Which models to test: all, or some of these.", "", "shipped"})
      .Suggest(ModelNames())
      .Common();
  judged.Add("--cost-model", values.cost_model,
             {"<file>", "Test a model that fit wrote in place of the shipped one."});
  judged.Add("--calibrate", values.calibrate,
             {"<n>",
              "Calibrate the shipped model with this many rows of each op class of a left-out GPU, "
              "or with --network of a left-out site.",
              "1 or more", "none"});
  judged.Add("--seed", values.seed, {"<n>", "Seed of all random draws.", "0 or more", "1"});
  FlagGroup output = flags.In(FlagTopic::kOutput);
  flags.AddReporting(values.json, values.quiet);
  output.Add(
      "--max-error", values.max_error,
      {"<percent>",
       "End with exit code 4 if the mean error of the shipped model exceeds this, such as 10%.",
       "0 or more", "no limit"});
  output.Add("--report", values.report, {"<file.html>", "Write a page with charts and tables."});
  output.Add("--by-size", values.by_size, {"", "Also show errors by measured time."});
}

}  // namespace

int RunEvaluate(const Args& args, std::istream&, std::ostream& out, std::ostream& err) {
  Flags described("evaluate",
                  "Tests cost models on measured samples that they have not learned from.");
  EvaluateFlags flags;
  AddExamples(described);
  Register(described, flags);
  if (described.Parse(args, out)) return kExitOk;
  flags.calibrates = described.IsGiven("--calibrate");

  if (!flags.network.files.empty()) {
    RefuseKernelFlags(described);
    NetworkEvaluationFlags network = flags.network;
    if (flags.calibrates && flags.calibrate < 1) {
      throw InputError(fmt::format("--calibrate: got {}, want at least 1 row", flags.calibrate));
    }
    network.calibrate = flags.calibrate;
    network.split = flags.split;
    network.cost_model = flags.cost_model;
    network.seed = flags.seed;
    network.max_error = flags.max_error;
    network.json = flags.json;
    network.quiet = flags.quiet;
    return RunNetworkEvaluation(network, out, err);
  }
  RefuseNetworkFlag(described);
  const auto begin = std::chrono::steady_clock::now();
  const std::optional<double> max_error = flags.max_error.empty()
                                              ? std::optional<double>()
                                              : ParsePercent("--max-error", flags.max_error);
  const AccuracyReport evaluation = Evaluate(flags, err);
  if (!flags.report.empty()) {
    WriteFileAtomically(flags.report, EvaluationToHtml(evaluation));
    if (!flags.quiet) err << "wrote " << flags.report << '\n';
  }
  if (flags.json) {
    Args files = evaluation.input.files;
    if (!flags.cost_model.empty()) files.push_back(flags.cost_model);
    nlohmann::ordered_json report = ReportHeader("evaluate", kSchema, files);
    report["seed"] = flags.seed;
    report.update(EvaluationToJson(evaluation));
    report["wall_ms"] =
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
    PrintJson(std::move(report), out);
  } else {
    PrintEvaluation(evaluation, flags.by_size, out);
  }
  return max_error && Exceeds(evaluation.experiment, *max_error) ? kExitThreshold : kExitOk;
}

}  // namespace stagecraft
