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
constexpr const char* kNotes =
    "SPLIT says which samples models learn from and which they are judged by:\n"
    "  none                 all judge, the fitted model as it is (shipped, or --cost-model)\n"
    "  random:0.2           so much of every GPU's samples, drawn by the seed\n"
    "  unseen-shape         a fifth of the shapes\n"
    "  column:split         what the source calls its test rows\n"
    "  leave-out:KEY=VALUE  those of one gpu, source, op, dtype or nk\n"
    "  leave-out:KEY        each value in turn\n"
    "--network judges the network model by measured collectives instead, with keys group (nodes x\n"
    "ranks x groups x stride), bytes, gpu, source, system, site, op and dtype.\n"
    "With any split but none, \"shipped\" is the same kind of model fitted on the rest.\n\n"
    "Example: stagecraft evaluate --samples kernels/ --split leave-out:gpu --models all --json\n"
    "         stagecraft evaluate --network collectives.csv.gz --split leave-out:group";

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

// "all" or names between commas; in the order of ModelKind.
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

// What flags ask of each other.
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

// Every model must have been judged by something.
void CheckSomethingIsLeft(const AccuracyReport& evaluation) {
  for (const Accuracy& all : evaluation.experiment.overall_rows) {
    if (all.rows > 0) continue;
    CHECK(!evaluation.experiment.skipped.empty());
    const auto& [gpu, reason] = evaluation.experiment.skipped.begin()->first;
    throw InputError(fmt::format("--samples: nothing is left to judge {} by: {} {}",
                                 Name(all.model), gpu, reason));
  }
}

AccuracyReport Evaluate(const EvaluateFlags& flags, std::ostream& err) {
  AccuracyReport evaluation;
  evaluation.models = ParseModels(flags.models);
  CheckFlags(flags, evaluation.models);
  std::optional<LearnedModel> model;
  // What it was fitted to would be judged by itself.
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

// --network leaves these without meaning.
void RefuseKernelFlags(const CLI::App& app) {
  for (const char* const flag : {"--samples", "--models", "--report", "--by-size"}) {
    if (app.count(flag) == 0) continue;
    throw InputError(fmt::format("{}: got it with --network, want it with --samples alone", flag));
  }
}

// And --samples this.
void RefuseNetworkFlag(const CLI::App& app) {
  if (app.count("--min-bytes") == 0) return;
  throw InputError("--min-bytes: got it without --network, want it with --network alone");
}

void Register(CLI::App& app, EvaluateFlags& flags) {
  app.add_option("--samples", flags.samples, "tables of measured samples, or folders of them");
  app.add_option("--network", flags.network.files,
                 "tables or nccl-tests logs of measured collectives");
  app.add_option("--cluster", flags.network.cluster,
                 "where samples or the logs of --network were taken: it has boards that the "
                 "catalogue lacks");
  app.add_option("--min-bytes", flags.network.least_bytes,
                 "with --network: smaller ones judge nothing")
      ->capture_default_str();
  app.add_option("--split", flags.split, "which samples judge (below)")->capture_default_str();
  app.add_option("--models", flags.models,
                 fmt::format("all, or some of {}", fmt::join(ModelNames(), ",")))
      ->capture_default_str();
  app.add_option("--calibrate", flags.calibrate,
                 "the shipped model gets so many rows of each op class of the left-out GPU; with "
                 "--network, of each left-out site");
  app.add_option("--cost-model", flags.cost_model, "what fit wrote, in place of the shipped model");
  app.add_option("--seed", flags.seed, "of all that is drawn")->capture_default_str();
  app.add_option("--max-error", flags.max_error,
                 "exit 4 where the shipped model's overall MAPE exceeds this");
  app.add_option("--report", flags.report, "write charts and tables as one .html file");
  app.add_flag("--by-size", flags.by_size, "errors by measured time as well");
  app.add_flag("--json", flags.json, "one JSON object on stdout");
  app.add_flag("--quiet", flags.quiet, "nothing on stderr");
}

}  // namespace

int RunEvaluate(const Args& args, std::istream&, std::ostream& out, std::ostream& err) {
  CLI::App app("Compares cost models with measured samples, held out as --split says.",
               "stagecraft evaluate");
  app.footer(kNotes);
  EvaluateFlags flags;
  Register(app, flags);
  if (ParseFlags(app, args, out)) return kExitOk;
  flags.calibrates = app.count("--calibrate") > 0;

  if (!flags.network.files.empty()) {
    RefuseKernelFlags(app);
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
  RefuseNetworkFlag(app);
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
