// Tests that every report is JSON even if files, or what is in them, have names that are not UTF-8.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "costmodel/proto_file.h"
#include "tests/bad_input.h"
#include "tools/verb/command.h"

namespace stagecraft::bad_input {
namespace {

namespace fs = std::filesystem;

class OddNamesTest : public FolderTest {
 protected:
  // Copies a seed of the fuzz targets under an odd name and returns its new path.
  std::string Take(const std::string& seed) {
    const fs::path from = fs::path("tests/fuzz/corpus") / seed;
    const std::string name = "\xaf" + std::to_string(taken_++) + "\xff" + from.extension().string();
    Write(name, ReadFile(from.string()));
    return Expand("$T/" + name);
  }

  void ExpectJson(const std::string& line) {
    const Result result = RunLine(Expand(line) + " --json");
    EXPECT_EQ(result.code, kExitOk) << line << '\n' << result.err;
    const auto report = nlohmann::json::parse(result.out, nullptr, /*allow_exceptions=*/false);
    EXPECT_TRUE(report.is_object()) << line << '\n' << result.out;
  }

 private:
  int taken_ = 0;
};

TEST_F(OddNamesTest, EveryVerbsReportIsJson) {
  const std::string job = " --model " + Take("hf_config/llama.json") + " --cluster " +
                          Take("cluster/two_nodes.yaml") + " --global-batch 8 --seq 64 ";
  ExpectJson("simulate" + job);
  ExpectJson("explain" + job);
  ExpectJson("search" + job + "--pp 1 --no-explain --quiet");
  ExpectJson("export plan" + job + "-o $T/\xfe.yaml");
  ExpectJson("partition --algorithm pipedream --machines 2 --bandwidth 1e10 --quiet --graph " +
             Take("graph_txt/diamond.txt"));
  ExpectJson("import smi-topo --gpu h100-sxm -o $T/\xfe.json " + Take("smi_topology/pairs.txt"));
  ExpectJson("import nccl-tests --cluster a100-sxm4-80gb:1x4 -o $T/\xfe.csv " +
             Take("nccl_tests_log/all_reduce.log"));
  ExpectJson("compare --quiet --network " + Take("nccl_tests_log/all_reduce.log") +
             " --cluster a100-sxm4-80gb:1x4");
  const std::string timeline = Take("timeline/two_stages.textproto");
  ExpectJson("compare " + timeline + " " + timeline);
  ExpectJson("check " + timeline);
  ExpectJson("fit --quiet -o $T/\xfe.pb --samples " + Take("samples/gemm.csv"));
  ExpectJson("evaluate --quiet --samples " + Take("samples/gemm.csv"));
  ExpectJson("evaluate --quiet --network " + Take("collective_table/logs.csv"));
  ExpectJson("validate --quiet --against " + Take("measured_rows/steps.csv"));
}

TEST_F(OddNamesTest, ReportsOnTablesWithOddNamesAreJson) {
  std::string rows = ReadFile("tests/fuzz/corpus/measured_rows/steps.csv");
  for (size_t at; (at = rows.find("\"A, B\"")) != std::string::npos;) rows.replace(at, 6, "\xc3");
  Write("rows.csv", rows);
  ExpectJson("validate --quiet --against $T/rows.csv");
}

}  // namespace
}  // namespace stagecraft::bad_input
