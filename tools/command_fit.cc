// fit: fits a cost model to measured samples, or adapts one to the few samples of a site.
#include <fmt/core.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <utility>

#include "costmodel/check.h"
#include "proto/cost_model.pb.h"
#include "tools/flags/sample_flags.h"
#include "tools/kernels/kernel_fit.h"
#include "tools/network/network_fit.h"
#include "tools/report/fit_report.h"
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
  bool json = false, quiet = false;
};

// Throws InputError if --network is given with samples of kernels: it fits a separate model.
void CheckNetworkFlags(const FitFlags& flags) {
  if (flags.network.empty()) return;
  if (!flags.kernels.samples.empty() || !flags.kernels.calibrate.empty() ||
      !flags.kernels.cost_model.empty()) {
    throw InputError(
        "--network: got samples of kernels too, want --network in a run of its own: it fits "
        "collectives");
  }
}

void CheckFlags(const FitFlags& flags) {
  if (flags.kernels.samples.empty() && flags.kernels.calibrate.empty()) {
    throw InputError(
        "--samples: got no file, want measured samples to fit a model to (or --calibrate FILE to "
        "adapt one)");
  }
  if (!flags.kernels.cost_model.empty() &&
      (!flags.kernels.samples.empty() || flags.kernels.calibrate.empty())) {
    throw InputError(
        "--cost-model: got a model that is not used, want it with --calibrate and without "
        "--samples");
  }
  if (flags.output.empty()) throw InputError("-o: got no file, want one to write the model to");
  CheckOutputPath("-o", flags.output, {".pb", ".textproto"});
}

// Writes the model and returns the size of the file in bytes.
size_t WriteModel(const KernelFit& fitted, const std::string& path) {
  CostModelProto proto = fitted.model->ToProto();
  proto.set_provenance(fitted.provenance);
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
  input.Add("--cost-model", values.kernels.cost_model,
            {"<file>", "The model that --calibrate begins with.", "", "the shipped model"});
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
  const size_t size = WriteModel(fitted, flags.output);
  progress.Clear();
  const double wall_ms =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  if (flags.json) {
    Json report = Report(flags, fitted);
    report["output"] = flags.output;
    report["size_bytes"] = size;
    report["wall_ms"] = wall_ms;
    PrintJson(std::move(report), out);
  } else {
    if (fitted.fit) PrintFit(*fitted.fit, out);
    if (fitted.calibration) PrintCalibration(*fitted.calibration, out);
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
