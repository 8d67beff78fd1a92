// nccl-tests -J: {nccl_version, args, config {devices [{rank, hostname,
// device_info}]}, results [{size, type, redop, out_of_place {time, alg_bw, bus_bw}}]}.
#include <fmt/core.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "costmodel/json_to_proto.h"
#include "costmodel/network/nccl_tests_output.h"

namespace stagecraft {
namespace {

using Json = nlohmann::json;

// Since version 2.9, NCCL's version as one number is 10000 x major + 100 x minor + patch.
constexpr int64_t kMajor = 10'000;
constexpr int64_t kMinor = 100;
constexpr int kNoRoot = -1;

// Returns the value that `parent` has at `key`; null if there is none.
const Json& At(const Json& parent, const char* key) {
  static const Json nothing;
  return parent.is_object() && parent.contains(key) ? parent[key] : nothing;
}

std::string Text(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

// Returns the value at `key` as text; empty if there is none.
std::string WordAt(const Json& parent, const char* key) {
  const Json& value = At(parent, key);
  return value.is_null() ? "" : Text(value);
}

double NumberAt(const Json& parent, const char* key, double least, double most,
                const std::string& place, std::string_view want) {
  const Json& value = At(parent, key);
  double number = 0;
  if (!ReadNcclTestsNumber(Text(value), least, most, &number)) {
    FailNcclTests(place, key, Text(value), want);
  }
  return number;
}

std::string Software(const Json& version) {
  if (version.is_null()) return "nccl";
  if (!version.is_number_integer()) return "nccl-" + Text(version);
  const int64_t code = version.get<int64_t>();
  return fmt::format("nccl-{}.{}.{}", code / kMajor, code % kMajor / kMinor, code % kMinor);
}

// Returns the name of the program, without its folder: the first of the arguments.
std::string Program(const Json& arguments) {
  if (!arguments.is_array() || arguments.empty() || !arguments[0].is_string()) return "";
  return std::filesystem::path(arguments[0].get<std::string>()).filename().string();
}

void ReadRanks(const Json& devices, const std::string& path, NcclTestsLog* log) {
  if (!devices.is_array()) {
    FailNcclTests(path, "config.devices", devices.dump(), "a list of ranks");
  }
  for (size_t i = 0; i < devices.size(); ++i) {
    const std::string place = fmt::format("{}: config.devices[{}]", path, i);
    const Json& rank = At(devices[i], "rank");
    if (rank != i) FailNcclTests(place, "rank", Text(rank), fmt::format("{}, the one after", i));
    const Json& host = At(devices[i], "hostname");
    if (!host.is_string()) FailNcclTests(place, "hostname", host.dump(), "the host's name");
    log->ranks.push_back({host.get<std::string>(), WordAt(devices[i], "device_info")});
  }
}

void ReadRow(const Json& row, const std::string& place, NcclTestsOutput* output) {
  const Json& times = At(row, "out_of_place");
  if (!times.is_object()) FailNcclTests(place, "out_of_place", times.dump(), "an object");
  const double size = NumberAt(row, "size", 0, kMostNcclTestsBytes, place, "a number of bytes");
  const double time = NumberAt(times, "time", kLeastNcclTestsMicroseconds,
                               kMostNcclTestsMicroseconds, place, "microseconds > 0");
  NcclTestsOutput::Printed printed;
  printed.place = place;
  printed.algorithm_gb_per_s = NumberAt(times, "alg_bw", 0, kMostNcclTestsGbPerS, place, "GB/s");
  printed.bus_gb_per_s = NumberAt(times, "bus_bw", 0, kMostNcclTestsGbPerS, place, "GB/s");
  const Json& redop = At(row, "redop");
  const Json& root = At(row, "root");
  const bool has_root = !root.is_null() && root != kNoRoot;
  printed.reduces = redop.is_string() && redop != "none" && !has_root;
  AddNcclTestsRow(size, time, WordAt(row, "type"), printed, output);
}

}  // namespace

NcclTestsOutput ReadNcclTestsJson(std::string_view text, const std::string& path) {
  const Json root = ParseJson(std::string(text), path);
  NcclTestsOutput output;
  output.log.software = Software(At(root, "nccl_version"));
  output.program = Program(At(root, "args"));
  ReadRanks(At(At(root, "config"), "devices"), path, &output.log);
  const Json& results = At(root, "results");
  if (!results.is_array()) FailNcclTests(path, "results", results.dump(), "a list of sizes");
  for (size_t i = 0; i < results.size(); ++i) {
    ReadRow(results[i], fmt::format("{}: results[{}]", path, i), &output);
  }
  return output;
}

}  // namespace stagecraft
