// fit: measured samples become a cost model, or a site's few samples adapt one.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "costmodel/calibration_evidence.h"
#include "costmodel/check.h"
#include "costmodel/device_catalogue.h"
#include "costmodel/learned/experiment.h"
#include "costmodel/learned/kernel_families.h"
#include "costmodel/learned/learned_model.h"
#include "costmodel/learned/splits.h"
#include "costmodel/learned/training_rows.h"
#include "costmodel/op.h"
#include "costmodel/proto_file.h"
#include "data/embedded.h"
#include "proto/cost_model.pb.h"
#include "tools/command.h"
#include "tools/evaluation_report.h"
#include "tools/fit_report.h"
#include "tools/flags.h"
#include "tools/network_fit.h"
#include "tools/print_json.h"
#include "tools/report_header.h"
#include "tools/sample_flags.h"

namespace stagecraft {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kSchema = 1;
constexpr const char* kNotes =
    "Without --samples, --calibrate begins with the shipped model or --cost-model. The file is\n"
    "for simulate --cost-model and evaluate --cost-model.\n\n"
    "--network takes tables of measured collectives; with --cluster nccl-tests logs of that\n"
    "cluster, which then counts before all that the shipped model was fitted on.\n"
    "Of samples --cluster says what boards are that the catalogue lacks: a host, a part of a\n"
    "GPU.\n\n"
    "Example: stagecraft fit --samples kernels/ -o model.pb\n"
    "         stagecraft fit --calibrate site.csv -o site.pb\n"
    "         stagecraft fit --network all_reduce.log --cluster dgx-a100:4 -o network.pb";

struct FitFlags {
  Args samples;
  std::string calibrate;
  std::string cost_model;
  std::string output;
  Args network;
  std::string cluster;
  bool json = false, quiet = false;
};

// --network is a model of its own.
void CheckNetworkFlags(const FitFlags& flags) {
  if (flags.network.empty()) return;
  if (!flags.samples.empty() || !flags.calibrate.empty() || !flags.cost_model.empty()) {
    throw InputError(
        "--network: got samples of kernels too, want --network in a run of its own: it fits "
        "collectives");
  }
}

void CheckFlags(const FitFlags& flags) {
  if (flags.samples.empty() && flags.calibrate.empty()) {
    throw InputError(
        "--samples: got no file, want measured samples to fit a model to (or --calibrate FILE to "
        "adapt one)");
  }
  if (!flags.cost_model.empty() && (!flags.samples.empty() || flags.calibrate.empty())) {
    throw InputError(
        "--cost-model: got a model that nothing begins with, want it with --calibrate and without "
        "--samples");
  }
  if (flags.output.empty()) throw InputError("-o: got no file, want one to write the model to");
  CheckOutputPath("-o", flags.output, {".pb", ".textproto"});
}

// What comes of the flags.
struct Fitted {
  std::unique_ptr<const LearnedModel> model;
  std::string provenance;
  FitSummary summary;  // of --samples
};

// Base names and rows by source: neither paths nor times, so that the same
// samples give the same bytes anywhere.
std::string Origin(const SampleInput& input) {
  Args files;
  for (const std::string& file : input.files) {
    files.push_back(std::filesystem::path(file).filename().string());
  }
  std::map<std::string, int> by_source;
  for (const Sample& sample : input.samples) ++by_source[sample.source];
  Args sources;
  for (const auto& [source, rows] : by_source) {
    sources.push_back(fmt::format("{} by {}", rows, source.empty() ? "unnamed" : source));
  }
  return ValidText(fmt::format("{} (rows: {})", fmt::join(files, ", "), fmt::join(sources, ", ")));
}

FitSummary Summarise(SampleInput input, const LearnedModel& model) {
  FitSummary summary;
  summary.input = std::move(input);
  const std::vector<FamilyRows> families =
      MakeTrainingRows(summary.input.samples, model.overhead());
  summary.skipped = CountSkipped(summary.input.samples);
  summary.of_no_use = static_cast<int>(summary.input.samples.size());
  for (const auto& [what, rows] : summary.skipped) summary.of_no_use -= rows;
  for (size_t f = 0; f < families.size(); ++f) {
    for (const bool is_serving : {false, true}) {
      std::map<std::string, int> by_board;
      for (const FitRow& row : is_serving ? families[f].serving : families[f].own) {
        ++by_board[row.device->id];
      }
      for (const auto& [gpu, rows] : by_board) {
        summary.rows.push_back({KernelFamilies()[f]->name(), gpu, is_serving, rows});
        summary.of_no_use -= rows;
      }
    }
  }
  return summary;
}

Fitted FitTo(const FitFlags& flags, ProgressLine& progress) {
  SampleInput input = ReadSampleInput("--samples", flags.samples, flags.cluster);
  Fitted fitted;
  fitted.model =
      std::make_unique<LearnedModel>(LearnedModel::Fit(input.samples, progress.Reporter()));
  fitted.summary = Summarise(std::move(input), *fitted.model);
  const SkippedRows& skipped = fitted.summary.skipped;
  if (fitted.summary.rows.empty() && skipped.empty()) {
    throw InputError("--samples: nothing is left to fit to: no row is of a kernel that we model");
  }
  if (fitted.summary.rows.empty()) {
    const auto& [gpu, reason] = skipped.begin()->first;
    throw InputError(fmt::format("--samples: nothing is left to fit to: {} {}", gpu, reason));
  }
  fitted.provenance =
      fmt::format("stagecraft {} fit --samples {}", kToolVersion, Origin(fitted.summary.input));
  return fitted;
}

// The model that --calibrate begins with.
Fitted ReadBase(const FitFlags& flags) {
  CostModelProto proto;
  Fitted base;
  if (flags.cost_model.empty()) {
    const std::string_view bytes = EmbeddedCostModel();
    CHECK(proto.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())));
    base.model = std::make_unique<LearnedModel>(LearnedModel::Shipped());
  } else {
    ReadProtoFile(flags.cost_model, &proto);
    base.model = std::make_unique<LearnedModel>(LearnedModel::FromProto(proto, flags.cost_model));
  }
  base.provenance = proto.provenance();
  if (base.provenance.empty()) {
    base.provenance = flags.cost_model.empty()
                          ? "the shipped model"
                          : ValidText(std::filesystem::path(flags.cost_model).filename().string());
  }
  return base;
}

// |log(predicted / measured)| of each sample; no number where nothing predicts it.
std::vector<double> ErrorsOf(const LearnedModel& model, std::span<const Sample> samples) {
  ExperimentOptions options;
  options.models = {ModelKind::kShipped};
  options.shipped = &model;
  const Experiment experiment = RunExperiment(samples, options);
  std::vector<double> errors(samples.size(), std::numeric_limits<double>::quiet_NaN());
  for (const SamplePrediction& p : experiment.predictions.at(ModelKind::kShipped)) {
    errors[p.sample] = std::abs(std::log(p.seconds / samples[p.sample].time.seconds()));
  }
  return errors;
}

// Their mean, and rows, by op.
std::map<std::string, std::pair<double, int>> ErrorsByOp(const LearnedModel& model,
                                                         std::span<const Sample> samples) {
  const std::vector<double> of_sample = ErrorsOf(model, samples);
  std::map<std::string, std::pair<double, int>> errors;
  for (size_t i = 0; i < samples.size(); ++i) {
    if (std::isnan(of_sample[i])) continue;
    auto& [sum, rows] = errors[OpLabel(samples[i])];
    sum += of_sample[i];
    ++rows;
  }
  for (auto& [op, error] : errors) error.first /= error.second;
  return errors;
}

// Of each op, what rows left out in turn say of the model calibrated on the others.
std::map<std::string, CalibrationEvidence> EvidenceByOp(const LearnedModel& base,
                                                        const std::vector<Sample>& samples) {
  std::vector<std::string> keys;
  for (const Sample& sample : samples) keys.push_back(Describe(sample.op));
  const std::vector<int> parts = LeaveOutParts(keys);
  const std::vector<double> without = ErrorsOf(base, samples);
  std::vector<double> with = without;
  for (int part = 0; part < kMostParts; ++part) {
    std::vector<Sample> kept, left_out;
    std::vector<size_t> at;
    for (size_t i = 0; i < samples.size(); ++i) {
      (parts[i] == part ? left_out : kept).push_back(samples[i]);
      if (parts[i] == part) at.push_back(i);
    }
    if (left_out.empty()) continue;
    const std::vector<double> errors = ErrorsOf(base.Calibrated(kept).model, left_out);
    for (size_t i = 0; i < at.size(); ++i) with[at[i]] = errors[i];
  }
  std::map<std::string, std::pair<std::vector<double>, std::vector<double>>> by_op;
  for (size_t i = 0; i < samples.size(); ++i) {
    if (std::isnan(with[i])) continue;
    auto& [of_base, of_calibrated] = by_op[OpLabel(samples[i])];
    of_base.push_back(without[i]);
    of_calibrated.push_back(with[i]);
  }
  std::map<std::string, CalibrationEvidence> evidence;
  for (const auto& [op, errors] : by_op) {
    evidence[op] = WeighCalibration(errors.first, errors.second);
  }
  return evidence;
}

// The id of the one board that all samples are of.
std::string BoardOf(const std::string& path, std::span<const Sample> samples) {
  std::string board;
  for (const Sample& sample : samples) {
    const std::string place = "--calibrate: " + path + ": gpu";
    const std::string& id = sample.board != nullptr
                                ? sample.board->id
                                : DeviceCatalogue::Embedded().Get(sample.gpu, place).device.id;
    if (board.empty()) board = id;
    if (id == board) continue;
    throw InputError(fmt::format("--calibrate: {}: got samples of {} and {}, want those of one GPU",
                                 path, board, id));
  }
  return board;
}

CalibrationSummary CalibrateOn(const FitFlags& flags, Fitted& fitted) {
  const std::string& path = flags.calibrate;
  CalibrationSummary calibration;
  calibration.input = ReadSampleInput("--calibrate", {path}, flags.cluster);
  const std::vector<Sample>& samples = calibration.input.samples;
  calibration.gpu = BoardOf(path, samples);
  const auto before = ErrorsByOp(*fitted.model, samples);
  CalibratedModel calibrated = fitted.model->Calibrated(samples);
  if (calibrated.rows > 0) calibration.evidence = EvidenceByOp(*fitted.model, samples);
  for (const auto& [op, evidence] : calibration.evidence) {
    const std::string warning = evidence.Warning(op);
    if (!warning.empty()) calibration.warnings.push_back(warning);
  }
  fitted.model = std::make_unique<LearnedModel>(std::move(calibrated.model));
  const auto after = ErrorsByOp(*fitted.model, samples);
  for (const auto& [op, error] : before) {
    calibration.errors.push_back({op, error.second, error.first, after.at(op).first});
  }
  calibration.changes = std::move(calibrated.changes);
  calibration.of_no_use = static_cast<int>(samples.size()) - calibrated.rows;
  if (calibration.changes.empty()) {
    throw InputError(
        fmt::format("--calibrate: {}: no row is of a kernel that we model, want some", path));
  }
  fitted.provenance =
      fmt::format("stagecraft {} fit --calibrate {} on {}; before that {}", kToolVersion,
                  Origin(calibration.input), calibration.gpu, fitted.provenance);
  return calibration;
}

// Returns its size.
size_t WriteModel(const Fitted& fitted, const std::string& path) {
  CostModelProto proto = fitted.model->ToProto();
  proto.set_provenance(fitted.provenance);
  return WriteModelFile(proto, path);
}

}  // namespace

int RunFit(const Args& args, std::istream&, std::ostream& out, std::ostream& err) {
  CLI::App app("Fits a cost model to measured samples, or adapts one to a site.", "stagecraft fit");
  app.footer(kNotes);
  FitFlags flags;
  app.add_option("--samples", flags.samples, "tables of measured samples, or folders of them");
  app.add_option("--calibrate", flags.calibrate, "a few samples of a site's own GPU");
  app.add_option("--cost-model", flags.cost_model, "what --calibrate begins with");
  app.add_option("--network", flags.network, "tables or nccl-tests logs of measured collectives");
  app.add_option("--cluster", flags.cluster,
                 "where samples or the logs of --network were taken: it has boards that the "
                 "catalogue lacks");
  app.add_option("-o,--output", flags.output, "the model, as .pb or .textproto");
  app.add_flag("--json", flags.json, "one JSON object on stdout");
  app.add_flag("--quiet", flags.quiet, "nothing on stderr");
  if (ParseFlags(app, args, out)) return kExitOk;

  CheckNetworkFlags(flags);
  if (!flags.network.empty()) {
    return RunNetworkFit({flags.network, flags.cluster, flags.output, flags.json, flags.quiet}, out,
                         err);
  }
  const auto begin = std::chrono::steady_clock::now();
  CheckFlags(flags);
  ProgressLine progress(err, flags.quiet);
  const bool fits = !flags.samples.empty();
  Fitted fitted = fits ? FitTo(flags, progress) : ReadBase(flags);
  CalibrationSummary calibration;
  if (!flags.calibrate.empty()) calibration = CalibrateOn(flags, fitted);
  const size_t size = WriteModel(fitted, flags.output);
  progress.Clear();
  const double wall_ms =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();

  if (flags.json) {
    Args files = fitted.summary.input.files;
    files.insert(files.end(), calibration.input.files.begin(), calibration.input.files.end());
    if (!flags.cost_model.empty()) files.push_back(flags.cost_model);
    Json report = ReportHeader("fit", kSchema, files);
    report["seed"] = 0;  // no draw that a flag could change
    if (fits) report.update(FitToJson(fitted.summary));
    if (!flags.calibrate.empty()) report["calibration"] = CalibrationToJson(calibration);
    report["provenance"] = fitted.provenance;
    report["output"] = flags.output;
    report["size_bytes"] = size;
    report["wall_ms"] = wall_ms;
    PrintJson(std::move(report), out);
  } else {
    if (fits) PrintFit(fitted.summary, out);
    if (!flags.calibrate.empty()) PrintCalibration(calibration, out);
    out << fmt::format("model of {} bytes\n", size);
  }
  if (!flags.quiet) {
    for (const std::string& warning : calibration.warnings) err << "warning: " << warning << '\n';
  }
  if (!flags.quiet) err << fmt::format("wrote {} after {:.1f} s\n", flags.output, wall_ms * 1e-3);
  return kExitOk;
}

}  // namespace stagecraft
