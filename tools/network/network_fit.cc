#include "tools/network/network_fit.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <utility>
#include <vector>

#include "costmodel/calibration_evidence.h"
#include "costmodel/check.h"
#include "costmodel/device_catalogue.h"
#include "costmodel/network/network_model.h"
#include "costmodel/proto_file.h"
#include "proto/network.pb.h"
#include "sim/cluster/cluster.h"
#include "sim/cluster/cluster_spec.h"
#include "tools/flags/sample_flags.h"
#include "tools/network/network_input.h"
#include "tools/report/evaluation_report.h"
#include "tools/report/fit_report.h"
#include "tools/verb/print_json.h"
#include "tools/verb/report_header.h"
#include "tools/verb/text_table.h"

namespace stagecraft {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kSchema = 1;

// What the rows of one op over one number of nodes and ranks say about its links, from their
// smallest and their largest size.
struct Correction {
  std::string op;
  int nodes = 0, ranks = 0, rows = 0;
  double latency_us = 0;         // measured at the smallest size
  double latency_factor = 0;     // that over the formula's time
  double bus_gb_per_s = 0;       // measured at the largest size
  double bandwidth_factor = 0;   // that over the formula's bandwidth
  double before = 0, after = 0;  // MAPE of the shipped and of the new model
};

// A row and what both models predict for it.
struct JudgedRow {
  const NetworkSample* sample = nullptr;
  NetworkEstimate before, after;
};

// The correction for one op over a number of nodes and ranks.
Correction CorrectionOf(std::vector<JudgedRow> rows) {
  std::stable_sort(rows.begin(), rows.end(), [](const JudgedRow& a, const JudgedRow& b) {
    return a.sample->op.bytes < b.sample->op.bytes;
  });
  const auto error = [&](const JudgedRow& row, const NetworkEstimate& estimate) {
    return std::abs(estimate.estimate.time.seconds() / row.sample->time.seconds() - 1) /
           static_cast<double>(rows.size());
  };
  Correction correction;
  for (const JudgedRow& row : rows) {
    correction.before += error(row, row.before);
    correction.after += error(row, row.after);
  }
  const JudgedRow& smallest = rows.front();
  const JudgedRow& largest = rows.back();
  const Op& op = largest.sample->op;
  correction.op = Name(op.kind);
  correction.nodes = op.fabric.nodes;
  correction.ranks = op.fabric.ranks;
  correction.rows = static_cast<int>(rows.size());
  correction.latency_us = smallest.sample->time.us();
  correction.latency_factor =
      smallest.sample->time.seconds() / smallest.after.choice.time.seconds();
  correction.bus_gb_per_s = BusBandwidth(op, largest.sample->time).bytes_per_s() * 1e-9;
  correction.bandwidth_factor =
      largest.after.choice.time.seconds() / largest.sample->time.seconds();
  return correction;
}

std::vector<Correction> Corrections(const std::vector<NetworkSample>& samples,
                                    const NetworkModel& before, const NetworkModel& after) {
  std::map<std::array<int, 3>, std::vector<JudgedRow>> groups;
  for (const NetworkSample& sample : samples) {
    const Op ops[] = {sample.op};
    const Device& device = DeviceCatalogue::Embedded().Get(sample.gpu, "gpu_id").device;
    groups[{static_cast<int>(sample.op.kind), sample.op.fabric.nodes, sample.op.fabric.ranks}]
        .push_back({&sample, before.Predict(ops, device)[0], after.Predict(ops, device)[0]});
  }
  std::vector<Correction> corrections;
  for (auto& entry : groups) corrections.push_back(CorrectionOf(std::move(entry.second)));
  return corrections;
}

// |log(predicted / measured)| of each sample.
std::vector<double> ErrorsOf(const NetworkModel& model, std::span<const NetworkSample> samples) {
  std::vector<double> errors;
  for (const NetworkSample& sample : samples) {
    const Op ops[] = {sample.op};
    const Device& device = DeviceCatalogue::Embedded().Get(sample.gpu, "gpu_id").device;
    const double seconds = model.Predict(ops, device)[0].estimate.time.seconds();
    errors.push_back(std::abs(std::log(seconds / sample.time.seconds())));
  }
  return errors;
}

// For each collective of the site: how well a model that has the other rows predicts rows that are
// left out in turn.
std::map<std::string, CalibrationEvidence> SiteEvidence(const NetworkModel& base,
                                                        std::span<const NetworkSample> samples,
                                                        const std::string& site) {
  std::vector<NetworkSample> here;
  std::vector<std::string> keys;
  for (const NetworkSample& sample : samples) {
    if (sample.site != site) continue;
    here.push_back(sample);
    keys.push_back(fmt::format("{} {} {} {}", Name(sample.op.kind), sample.op.bytes.count(),
                               sample.op.fabric.nodes, sample.op.fabric.ranks));
  }
  LeftOutRows rows{std::move(keys), {}, ErrorsOf(base, here)};
  for (const NetworkSample& sample : here) rows.labels.emplace_back(Name(sample.op.kind));
  const auto chosen = [&](const std::vector<size_t>& indices) {
    std::vector<NetworkSample> samples_of;
    for (const size_t i : indices) samples_of.push_back(here[i]);
    return samples_of;
  };
  return WeighLeftOutRows(rows, [&](const std::vector<size_t>& kept,
                                    const std::vector<size_t>& left_out) {
    return ErrorsOf(kept.empty() ? base : base.With(chosen(kept)).WithHome(site), chosen(left_out));
  });
}

Json ToJson(const std::vector<Correction>& corrections) {
  Json rows = Json::array();
  for (const Correction& c : corrections) {
    rows.push_back({{"op", c.op},
                    {"nodes", c.nodes},
                    {"ranks", c.ranks},
                    {"rows", c.rows},
                    {"latency_us", c.latency_us},
                    {"latency_factor", c.latency_factor},
                    {"bus_bandwidth_gb_per_s", c.bus_gb_per_s},
                    {"bandwidth_factor", c.bandwidth_factor},
                    {"mape_before", 100 * c.before},
                    {"mape_after", 100 * c.after}});
  }
  return rows;
}

void Print(const std::vector<Correction>& corrections, std::ostream& out) {
  out << "latency of the smallest size and bus bandwidth of the largest, as measured; x: relative "
         "to\n"
         "NCCL's formula at nominal link rates; before, after: residuals of the fit in %\n\n";
  TextTable table(
      {"op", "nodes", "ranks", "rows", "latency us", "x", "busbw GB/s", "x", "before", "after"}, 1);
  for (const Correction& c : corrections) {
    table.Add({c.op, fmt::format("{}", c.nodes), fmt::format("{}", c.ranks),
               fmt::format("{}", c.rows), fmt::format("{:.1f}", c.latency_us),
               fmt::format("{:.2f}", c.latency_factor), fmt::format("{:.2f}", c.bus_gb_per_s),
               fmt::format("{:.2f}", c.bandwidth_factor), fmt::format("{:.1f}", 100 * c.before),
               fmt::format("{:.1f}", 100 * c.after)});
  }
  table.Print(out);
}

// How the model came about. Files are named without their folders, so that the same samples give
// the same bytes everywhere.
std::string Provenance(const NetworkFitFlags& flags, const std::string& site, size_t rows) {
  Args names;
  for (const std::string& file : flags.files) {
    names.push_back(std::filesystem::path(file).filename().string());
  }
  return ValidText(fmt::format("stagecraft {} fit --network {}{} ({} rows)", kToolVersion,
                               fmt::join(names, " "), site.empty() ? "" : " --cluster " + site,
                               rows));
}

// Throws InputError if no sample is of this site, which cannot be the model's home site then.
void CheckSite(const NetworkInput& input, const std::string& site) {
  const auto is_there = [&](const NetworkSample& sample) { return sample.site == site; };
  if (std::any_of(input.samples.begin(), input.samples.end(), is_there)) return;
  throw InputError(
      fmt::format("--cluster: got {}, where nothing of --network was measured, want logs of "
                  "nccl-tests from there, or tables that import made of them",
                  site));
}

size_t Write(const NetworkModel& model, const std::string& provenance, const std::string& path) {
  NetworkModelProto proto = model.ToProto();
  proto.set_provenance(provenance);
  return WriteModelFile(proto, path);
}

constexpr const char* kOtherSources = "other sources";

Json HarnessesToJson(const Harnesses& harnesses) {
  Json list = Json::array();
  for (const auto& [key, time] : harnesses.times()) {
    list.push_back({{"source", key.first.empty() ? Json(nullptr) : Json(key.first)},
                    {"op", Name(key.second)},
                    {"us_per_call", time.call.us()},
                    {"us_per_rank", time.rank.us()}});
  }
  return list;
}

// Says what was taken off the times of each source.
void PrintHarnesses(const Harnesses& harnesses, std::ostream& out) {
  if (harnesses.times().empty()) return;
  out << "taken off, as the time of the source's own calls and not NCCL's:\n";
  TextTable table({"source", "op", "us per call", "us per rank"}, 2);
  for (const auto& [key, time] : harnesses.times()) {
    table.Add({key.first.empty() ? kOtherSources : key.first, Name(key.second),
               fmt::format("{:.1f}", time.call.us()), fmt::format("{:.1f}", time.rank.us())});
  }
  table.Print(out);
}

}  // namespace

int RunNetworkFit(const NetworkFitFlags& flags, std::ostream& out, std::ostream& err) {
  if (flags.output.empty()) throw InputError("-o: got no file, want one to write the model to");
  CheckOutputPath("-o", flags.output, {".pb", ".textproto"});
  const bool is_site = !flags.cluster.empty();
  std::optional<Cluster> cluster;
  if (is_site) cluster.emplace(ParseCluster(flags.cluster));
  const NetworkInput input =
      ReadNetworkInput("--network", flags.files, cluster ? &*cluster : nullptr);
  const std::string site = is_site ? SiteOf(*cluster) : "";
  if (is_site) CheckSite(input, site);
  const NetworkModel model = is_site ? NetworkModel::Shipped().With(input.samples).WithHome(site)
                                     : NetworkModel::Fit(input.samples);
  std::vector<Correction> corrections;
  if (is_site) corrections = Corrections(input.samples, NetworkModel::Shipped(), model);
  std::map<std::string, CalibrationEvidence> evidence;
  if (is_site) evidence = SiteEvidence(NetworkModel::Shipped(), input.samples, site);
  std::vector<std::string> warnings;
  for (const auto& [op, found] : evidence) {
    const std::string warning = found.Warning(op);
    if (!warning.empty()) warnings.push_back(warning);
  }
  const std::string provenance = Provenance(flags, site, input.samples.size());
  const size_t size = Write(model, provenance, flags.output);
  if (flags.json) {
    Json report = ReportHeader("fit", kSchema, input.files);
    report["seed"] = 0;  // nothing is drawn that a flag could change
    report["rows"] = input.samples.size();
    report["invalid"] = input.invalid;
    report["curves"] = model.curves();
    report["harnesses"] = HarnessesToJson(model.harnesses());
    report["skipped"] = SkippedToJson(input.skipped);
    if (is_site) {
      report["corrections"] = ToJson(corrections);
      report["held_out"] = EvidenceToJson(evidence);
      report["warnings"] = warnings;
    }
    report["provenance"] = provenance;
    report["output"] = flags.output;
    report["size_bytes"] = size;
    PrintJson(std::move(report), out);
  } else {
    if (is_site) Print(corrections, out);
    out << fmt::format("{} rows, {} curves; model of {} bytes\n", input.samples.size(),
                       model.curves(), size);
    if (!is_site) PrintHarnesses(model.harnesses(), out);
    PrintSkipped(input.skipped, out);
  }
  if (!flags.quiet) {
    for (const std::string& warning : warnings) err << "warning: " << warning << '\n';
  }
  if (!flags.quiet) err << "wrote " << flags.output << '\n';
  return kExitOk;
}

}  // namespace stagecraft
