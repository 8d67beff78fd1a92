#include "search/partition/piper.h"

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "costmodel/check.h"
#include "costmodel/proto_file.h"
#include "costmodel/shared_csv.h"
#include "search/partition/partition_check.h"
#include "search/partition/piper_problem.h"

namespace stagecraft {
namespace {

constexpr double kTolerance = 1e-6;  // relative
constexpr double kGib = 1024.0 * 1024 * 1024;

std::string Mode(const char* name, double time_s, double bytes) {
  return nlohmann::json{{"id", name},
                        {"timePerSample", time_s},
                        {"parameterSize", 0},
                        {"memoryUsageA", bytes},
                        {"memoryUsageB", 0},
                        {"syncTimeFw", nlohmann::json::object()},
                        {"syncTimeBw", nlohmann::json::object()}}
      .dump();
}

// a feeds b. Each takes 1 s and keeps 10 bytes, or 2 s and 1 byte.
PiperProblem TwoNodes() {
  const std::string modes =
      "\"TMPCs\": {\"1\": [" + Mode("vanilla", 1, 10) + ", " + Mode("recompute", 2, 1) + "]}";
  return ParsePiperProblem(
      R"({"maxDevices": 2, "maxMemoryPerDevice": 20, "bandwidth": 1e9, "mbsInBatch": 3,
          "nodes": [{"id": 7, "name": "a", )" +
          modes + R"(}, {"id": 9, "name": "b", )" + modes +
          R"(}], "edges": [{"sourceId": 7, "destId": 9, "communicationCost": 0}]})",
      "two.json");
}

TEST(PiperTest, StagesInFrontKeepMoreMicroBatches) {
  const PiperProblem problem = TwoNodes();
  PiperOptions options{
      .devices = 2, .memory_bytes = 20, .bandwidth_bytes_per_s = 1e9, .micro_batches = 3};
  // With a | b, a keeps two micro-batches of 10 bytes.
  EXPECT_DOUBLE_EQ(SolvePiper(problem, options)->bottleneck_s, 1);
  options.memory_bytes = 19;
  const auto tight = SolvePiper(problem, options);
  EXPECT_DOUBLE_EQ(tight->bottleneck_s, 2);
  options.recompute = false;
  EXPECT_FALSE(SolvePiper(problem, options).has_value());
}

TEST(PiperTest, BadFilesAreNamed) {
  EXPECT_THROW(ParsePiperProblem("[]", "p.json"), InputError);
  EXPECT_THROW(ParsePiperProblem(R"({"maxDevices": -1})", "p.json"), InputError);
}

PiperProblem SharedProblem() {
  const std::string path = SharedDataPath("planning/piper/inputs/bert32a100.json");
  return ParsePiperProblem(ReadFile(path), path);
}

void ExpectValid(const PiperProblem& problem, const PiperOptions& options,
                 const PiperPartition& partition) {
  const PartitionCheck check = CheckPiper(problem, options, partition);
  EXPECT_TRUE(check.errors.empty()) << check.errors.front();
  EXPECT_NEAR(check.objective / partition.bottleneck_s, 1, 1e-12);
}

// Returns the golden bottlenecks by devices, GiB and mode, under the names of the table of
// published results.
using Asked = std::tuple<int, double, std::string>;
std::map<Asked, double> GoldenBottlenecks() {
  const std::pair<const char*, const char*> modes[] = {
      {"full", "piper"}, {"noDP", "nodp"}, {"noTP", "notp"}, {"noAR", "noar"}};
  const auto golden = nlohmann::json::parse(ReadFile(SharedDataPath("golden/piper_golden.json")));
  std::map<Asked, double> bottlenecks;
  for (const nlohmann::json& row : golden.at("rows")) {
    for (const auto& [key, mode] : modes) {
      const Asked asked(row.at("k").get<int>(), row.at("memGiB").get<double>(), mode);
      bottlenecks[asked] = row.at(key).get<double>();
    }
  }
  return bottlenecks;
}

TEST(PiperTest, EveryPublishedResultAndEveryGoldenBottleneckIsReached) {
  if (!HasSharedData()) GTEST_SKIP() << kNoSharedData;
  const PiperProblem problem = SharedProblem();
  const std::vector<CsvRow> rows = ReadSharedTable("planning/piper/best_known.csv");
  ASSERT_EQ(rows.size(), 88u);
  std::map<Asked, double> golden = GoldenBottlenecks();
  ASSERT_EQ(golden.size(), 24u);
  for (const CsvRow& row : rows) {
    const std::string& mode = row.at("mode");
    const PiperOptions options{.devices = static_cast<int>(Number(row, "k")),
                               .memory_bytes = Number(row, "memGiB") * kGib,
                               .bandwidth_bytes_per_s = Number(row, "bandwidth"),
                               .micro_batches = static_cast<int>(Number(row, "mbsInBatch")),
                               .data_parallel = mode != "nodp",
                               .tensor_parallel = mode != "notp",
                               .recompute = mode != "noar"};
    const auto found = SolvePiper(problem, options);
    const bool fits = row.at("TPS") != "OOM";
    EXPECT_EQ(found.has_value(), fits) << row.at("k") << ' ' << row.at("memGiB") << ' ' << mode;
    if (!fits || !found) continue;
    ExpectValid(problem, options, *found);
    EXPECT_NEAR(found->bottleneck_s / Number(row, "TPS"), 1, kTolerance)
        << row.at("k") << ' ' << row.at("memGiB") << ' ' << mode;
    const auto same = golden.find({options.devices, Number(row, "memGiB"), mode});
    if (same == golden.end()) continue;
    EXPECT_NEAR(found->bottleneck_s / same->second, 1, kTolerance)
        << row.at("k") << ' ' << row.at("memGiB") << ' ' << mode;
    golden.erase(same);
  }
  EXPECT_TRUE(golden.empty()) << golden.size() << " golden bottlenecks were not looked for";
}

}  // namespace
}  // namespace stagecraft
