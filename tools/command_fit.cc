// fit: fits a cost model to measured samples, or adapts one to the few samples of a site.
#include <fmt/core.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "costmodel/check.h"
#include "costmodel/memo_model.h"
#include "costmodel/proto_file.h"
#include "costmodel/site_factors.h"
#include "proto/cost_model.pb.h"
#include "tools/flags/sample_flags.h"
#include "tools/kernels/kernel_fit.h"
#include "tools/network/network_fit.h"
#include "tools/own/own_steps.h"
#include "tools/own/site_fit.h"
#include "tools/report/fit_report.h"
#include "tools/validation/csv_table.h"
#include "tools/verb/command.h"
#include "tools/verb/flags.h"
#include "tools/verb/print_json.h"
#include "tools/verb/report_header.h"

namespace stagecraft {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kSchema = 1;
struct FitFlags {
  KernelFitFlags kernels;
  std::string output;
  Args network;
  Args steps;
  bool json = false, quiet = false;
};

// Throws InputError if --network is given with samples of kernels: it fits a separate model.
void CheckNetworkFlags(const FitFlags& flags) {
  if (flags.network.empty()) return;
  if (!flags.kernels.samples.empty() || !flags.kernels.calibrate.empty() ||
      !flags.kernels.cost_model.empty() || !flags.steps.empty()) {
    throw InputError(
        "--network: got samples of kernels too, want --network in a run of its own: it fits "
        "collectives");
  }
}

void CheckFlags(const FitFlags& flags) {
  const bool adapts = !flags.kernels.calibrate.empty() || !flags.steps.empty();
  if (flags.kernels.samples.empty() && !adapts) {
    throw InputError(
        "--samples: got no file, want measured samples to fit a model to (or --calibrate FILE or "
        "--steps FILE to adapt one)");
  }
  if (!flags.kernels.cost_model.empty() && (!flags.kernels.samples.empty() || !adapts)) {
    throw InputError(
        "--cost-model: got a model that is not used, want it with --calibrate or --steps and "
        "without --samples");
  }
  if (flags.output.empty()) throw InputError("-o: got no file, want one to write the model to");
  CheckOutputPath("-o", flags.output, {".pb", ".textproto"});
}

// Fits the factors of a site to measured steps, from those of the model on: a model that has some
// already is first taken without them.
SiteFit FitSteps(const FitFlags& flags, const KernelFit& fitted) {
  std::vector<OwnStep> steps;
  std::set<std::string> read;
  for (const std::string& file : flags.steps) {
    if (!read.insert(file).second) {
      throw InputError("--steps: got " + file + " twice, want each file once");
    }
    const CsvTable table = CsvTable::Parse(ReadFile(file), file);
    if (!IsOwnTable(table)) {
      throw InputError(file +
                       ": want a table with the columns cluster, and seconds or tokens_per_s");
    }
    for (OwnStep& step : ReadOwnSteps(table)) steps.push_back(std::move(step));
  }
  const LearnedModel anywhere = fitted.model->AtSite({});
  const MemoModel memo(anywhere);
  std::vector<std::string> names;
  std::vector<double> measured;
  for (const OwnStep& step : steps) {
    names.push_back(step.name);
    measured.push_back(step.SecondsOf(Predict(step, memo)));
  }
  return FitSite(names, measured, [&](int step, const SiteFactors& factors) {
    return Predict(steps[step], SiteModel(memo, factors)).step_time.seconds();
  });
}

// Writes the model and returns the size of the file in bytes.
size_t WriteModel(const KernelFit& fitted, const std::optional<SiteFit>& site,
                  const std::string& path) {
  CostModelProto proto =
      site ? fitted.model->AtSite(site->factors).ToProto() : fitted.model->ToProto();
  std::string provenance = fitted.provenance;
  if (site) {
    provenance = fmt::format("stagecraft {} fit --steps on {} measured steps; before that {}",
                             kToolVersion, site->rows.size(), provenance);
  }
  proto.set_provenance(provenance);
  return WriteModelFile(proto, path);
}

Json Report(const FitFlags& flags, const KernelFit& fitted) {
  Args files;
  if (fitted.fit) files = fitted.fit->input.files;
  if (fitted.calibration) {
    const Args& of_site = fitted.calibration->input.files;
    files.insert(files.end(), of_site.begin(), of_site.end());
  }
  if (!flags.kernels.cost_model.empty()) files.push_back(flags.kernels.cost_model);
  files.insert(files.end(), flags.steps.begin(), flags.steps.end());
  Json report = ReportHeader("fit", kSchema, files);
  report["seed"] = 0;  // no flag changes what is drawn at random
  if (fitted.fit) report.update(FitToJson(*fitted.fit));
  if (fitted.calibration) report["calibration"] = CalibrationToJson(*fitted.calibration);
  report["measured_ops"] = fitted.model->measured_ops();
  report["provenance"] = fitted.provenance;
  return report;
}

void PrintWarnings(const KernelFit& fitted, std::ostream& err) {
  Args warnings;
  if (fitted.fit) warnings = fitted.fit->warnings;
  if (fitted.calibration) {
    const Args& of_site = fitted.calibration->warnings;
    warnings.insert(warnings.end(), of_site.begin(), of_site.end());
  }
  for (const std::string& warning : warnings) err << "warning: " << warning << '\n';
}

void AddExamples(Flags& flags) {
  flags.AddExample("fit --samples kernels/ -o model.pb");
  flags.AddExample("fit --calibrate site.csv -o site.pb");
  flags.AddExample("fit --steps examples/h200_steps.csv -o site.pb");
  flags.AddExample("fit --network all_reduce.log --cluster dgx-a100:4 -o network.pb");
  flags.AddNote(
      "The file is for the --cost-model of other verbs. An op that equals a sample, on the same "
      "device, takes the measured time; with more than 20,000 samples of kernels only the fitted "
      "model is kept, which then predicts these like any other op. A million samples take 1.3 GiB "
      "of memory; more than 2,000,000 at once are refused.");
  flags.AddNote(
      "nccl-tests logs of --network take precedence over all measurements that the shipped model "
      "was fitted to.");
}

void Register(Flags& flags, FitFlags& values) {
  FlagGroup input = flags.In(FlagTopic::kInput);
  input.Add(
      "--samples", values.kernels.samples,
      {"<file|folder>...",
       "Fit a new model of kernels to these tables of measured samples, or folders of them."});
  input.Add("--calibrate", values.kernels.calibrate,
            {"<file>",
             "Adapt a model to a few samples of your own GPU: the model fitted to --samples, the "
             "one of --cost-model, or else the shipped one."});
  input.Add(
      "--steps", values.steps,
      {"<file>...",
       "Adapt a model to a few measured training steps of a site, in a table as for validate "
       "--against: speeds of kernels and of the network and the time of hosts, at most one of "
       "them for every 3 steps."});
  input.Add(
      "--cost-model", values.kernels.cost_model,
      {"<file>", "The model that --calibrate and --steps begin with.", "", "the shipped model"});
  input.Add("--network", values.network,
            {"<file>...",
             "Fit a model of collectives to these tables of measured collectives or nccl-tests "
             "logs."});
  input.Add("--cluster", values.kernels.cluster,
            {"<cluster>",
             "With nccl-tests logs: the cluster on which they were taken, as for simulate. With "
             "samples: a cluster file with the GPU types that the catalogue lacks, such as a host "
             "or a part of a GPU."});
  flags.In(FlagTopic::kOutput)
      .Add("-o,--output", values.output, {"<file>", "The model, as .pb or .textproto."});
  flags.AddReporting(values.json, values.quiet);
}

}  // namespace

int RunFit(const Args& args, std::istream&, std::ostream& out, std::ostream& err) {
  Flags described("fit", "Fits a cost model to measured samples, or adapts one to a site.");
  FitFlags flags;
  AddExamples(described);
  Register(described, flags);
  if (described.Parse(args, out)) return kExitOk;

  CheckNetworkFlags(flags);
  if (!flags.network.empty()) {
    return RunNetworkFit(
        {flags.network, flags.kernels.cluster, flags.output, flags.json, flags.quiet}, out, err);
  }
  const auto begin = std::chrono::steady_clock::now();
  CheckFlags(flags);
  ProgressLine progress(err, flags.quiet);
  const KernelFit fitted = FitKernels(flags.kernels, progress);
  std::optional<SiteFit> site;
  if (!flags.steps.empty()) site = FitSteps(flags, fitted);
  const size_t size = WriteModel(fitted, site, flags.output);
  progress.Clear();
  const double wall_ms =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  if (flags.json) {
    Json report = Report(flags, fitted);
    if (site) report["site"] = ToJson(*site);
    report["output"] = flags.output;
    report["size_bytes"] = size;
    report["wall_ms"] = wall_ms;
    PrintJson(std::move(report), out);
  } else {
    if (fitted.fit) PrintFit(*fitted.fit, out);
    if (fitted.calibration) PrintCalibration(*fitted.calibration, out);
    if (site) PrintSiteFit(*site, out);
    if (fitted.model->measured_ops() > 0) {
      out << fmt::format("{} ops take their measured times, all others the predicted ones\n",
                         fitted.model->measured_ops());
    }
    out << fmt::format("model of {} bytes\n", size);
  }
  if (!flags.quiet) PrintWarnings(fitted, err);
  if (!flags.quiet) err << fmt::format("wrote {} after {:.1f} s\n", flags.output, wall_ms * 1e-3);
  return kExitOk;
}

}  // namespace stagecraft
