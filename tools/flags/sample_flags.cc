#include "tools/flags/sample_flags.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <google/protobuf/text_format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "costmodel/check.h"
#include "costmodel/learned/known_gpus.h"
#include "costmodel/learned/samples/sample_file.h"
#include "costmodel/learned/training_rows.h"
#include "costmodel/proto_file.h"
#include "sim/cluster/cluster.h"
#include "sim/cluster/cluster_spec.h"

namespace stagecraft {
namespace {

namespace fs = std::filesystem;

Args FilesOf(const Args& paths) {
  Args files;
  for (const std::string& path : paths) {
    std::error_code error;
    if (fs::is_directory(path, error)) {
      const Args tables = TablesIn(path);
      files.insert(files.end(), tables.begin(), tables.end());
    } else {
      files.push_back(path);
    }
  }
  return files;
}

// Gives samples of GPU types that the catalogue lacks the cluster's GPU type of the same id.
void AddGpus(const std::string& spec, std::vector<Sample>& samples) {
  std::set<std::string> lacking;
  for (const Sample& sample : samples) {
    if (MeasuredGpu(sample.gpu) == nullptr) lacking.insert(sample.gpu);
  }
  const Cluster cluster = ParseCluster(spec);
  std::map<std::string, std::shared_ptr<const Device>> devices;
  for (const Cluster::NodeGroup& group : cluster.groups()) {
    const Device device = AsSampled(group.type.device);
    if (!lacking.contains(device.id)) continue;
    const auto [known, is_new] =
        devices.try_emplace(device.id, std::make_shared<const Device>(device));
    if (is_new || *known->second == device) continue;
    throw InputError(fmt::format("--cluster: {}: got two devices \"{}\" that differ, want one",
                                 spec, device.id));
  }
  for (Sample& sample : samples) {
    const auto device = devices.find(sample.gpu);
    if (device != devices.end()) sample.device = device->second;
  }
}

}  // namespace

SampleInput ReadSampleInput(const std::string& flag, const Args& paths,
                            const std::string& cluster) {
  SampleInput input;
  input.files = FilesOf(paths);
  std::set<fs::path> seen;
  for (const std::string& file : input.files) {
    std::error_code error;
    if (!seen.insert(fs::weakly_canonical(file, error)).second && !error) {
      throw InputError(fmt::format("{}: {}: given twice, want it once", flag, file));
    }
  }
  for (const std::string& file : input.files) {
    SampleFile read = ReadSampleFile(file);
    input.passed_over += read.skipped;
    CheckSampleCount(input.samples.size() + read.samples.size(), file);
    if (input.samples.empty()) {
      input.samples = std::move(read.samples);
    } else {
      std::move(read.samples.begin(), read.samples.end(), std::back_inserter(input.samples));
    }
  }
  if (input.samples.empty()) {
    throw InputError(fmt::format("{}: got no samples in {}, want at least one", flag,
                                 fmt::join(input.files, ", ")));
  }
  if (!cluster.empty()) AddGpus(cluster, input.samples);
  return input;
}

void CheckOutputPath(const std::string& flag, const std::string& path, const Args& extensions) {
  const std::string extension = fs::path(path).extension().string();
  if (std::find(extensions.begin(), extensions.end(), extension) == extensions.end()) {
    throw InputError(fmt::format("{}: got \"{}\", want a file that ends in {}", flag, path,
                                 fmt::join(extensions, " or ")));
  }
  const fs::path folder = fs::path(path).parent_path();
  std::error_code error;
  if (!folder.empty() && !fs::is_directory(folder, error)) {
    throw InputError(
        fmt::format("{}: {}: no such directory, want a path in an existing one", flag, path));
  }
}

size_t WriteModelFile(const google::protobuf::Message& message, const std::string& path) {
  std::string text;
  if (path.ends_with(".pb")) {
    text = message.SerializeAsString();
  } else {
    google::protobuf::TextFormat::PrintToString(message, &text);
  }
  WriteFileAtomically(path, text);
  return text.size();
}

std::string ValidText(const std::string& text) {
  using nlohmann::json;
  return json::parse(json(text).dump(-1, ' ', false, json::error_handler_t::replace))
      .get<std::string>();
}

ProgressLine::ProgressLine(std::ostream& err, bool is_quiet)
    : err_(!is_quiet && &err == &std::cerr && isatty(STDERR_FILENO) != 0 ? &err : nullptr) {}

void ProgressLine::Show(const std::string& line) {
  if (err_ == nullptr) return;
  *err_ << "\r\033[K" << line << std::flush;
  is_shown_ = true;
}

void ProgressLine::Clear() {
  if (is_shown_) *err_ << "\r\033[K" << std::flush;
  is_shown_ = false;
}

std::function<void(const std::string&)> ProgressLine::Reporter() {
  if (err_ == nullptr) return {};
  return [this](const std::string& line) { Show(line); };
}

}  // namespace stagecraft
