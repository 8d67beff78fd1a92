// Reads again what export writes: it is the same schedule, with the same step time.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "costmodel/proto_file.h"
#include "tools/verb/command.h"

namespace stagecraft {
namespace {

using Json = nlohmann::json;

struct Outcome {
  int code = 0;
  std::string out, err;
};

Outcome Call(const std::string& line) {
  std::istringstream words(line);
  Args args;
  for (std::string word; words >> word;) args.push_back(word);
  std::istringstream in;
  std::ostringstream out, err;
  const int code = RunCommandLine(args, in, out, err);
  return {code, out.str(), err.str()};
}

std::string TempFile(const std::string& name) {
  return (std::filesystem::path(testing::TempDir()) / name).string();
}

Json Report(const std::string& line) {
  const Outcome outcome = Call(line + " --json");
  EXPECT_EQ(outcome.code, kExitOk) << line << "\n" << outcome.err;
  return Json::parse(outcome.out.empty() ? "{}" : outcome.out);
}

constexpr const char* kJob =
    " --model gpt2-medium --cluster h100-sxm:1x4 --pp 4 --micro-batch 1 --global-batch 16 "
    "--seq 512 ";

TEST(CommandExportTest, HelpShowsAnExample) {
  const Outcome outcome = Call("export --help");
  EXPECT_EQ(outcome.code, kExitOk);
  EXPECT_NE(outcome.out.find("Examples:\n  stagecraft export schedule-csv"), std::string::npos);
}

// Two stages and two micro-batches of 1F1B, written out by hand.
TEST(CommandExportTest, OneRowARankAndOneCellAStep) {
  const std::string path = TempFile("hand.csv");
  const Outcome outcome = Call(
      "export schedule-csv --model gpt2 --cluster h100-sxm:1x2 --pp 2 --micro-batch 1 "
      "--global-batch 2 --seq 64 -o " +
      path);
  EXPECT_EQ(outcome.code, kExitOk) << outcome.err;
  EXPECT_EQ(outcome.out, path + ": 1f1b, 2 stages of 1 chunk, 2 micro-batches, 8 passes\n");
  EXPECT_EQ(ReadFile(path), "0F0,0F1,,0B0,,0B1\n,1F0,1B0,1F1,1B1,\n");
  EXPECT_EQ(Call("check " + path).out,
            path + ": PyTorch pipeline schedule, 2 micro-batches through 2 stages on 2 ranks\n");
}

TEST(CommandExportTest, AScheduleReadAgainIsTheSameStep) {
  for (const char* flags : {"1f1b", "interleaved --vpp 2", "gpipe", "zb-h1", "zb-auto", "zb-v",
                            "v-half", "dualpipe-v", "list --vpp 2"}) {
    const std::string schedule = kJob + std::string("--schedule ") + flags;
    const std::string path = TempFile("again.csv");
    EXPECT_EQ(Report("export schedule-csv" + schedule + " -o " + path)["micro_batches"], 16);
    const Json named = Report("simulate --quiet" + schedule);
    const Json read = Report("simulate --quiet" + std::string(kJob) + "--order-file " + path);
    EXPECT_EQ(read["step_time_ms"], named["step_time_ms"]) << flags;
    // Exporting the schedule that was read gives the same file, byte for byte.
    const std::string twice = TempFile("twice.csv");
    Report("export schedule-csv" + std::string(kJob) + "--order-file " + path + " -o " + twice);
    EXPECT_EQ(ReadFile(path), ReadFile(twice)) << flags;
  }
}

TEST(CommandExportTest, APlanReadAgainIsTheSameStep) {
  for (const char* flags :
       {"gpipe", "1f1b", "interleaved --vpp 2", "bfs --vpp 2", "zb-h1", "zb-h2", "zb-auto", "zb-v",
        "v-half", "v-min", "dualpipe", "dualpipe-v", "chimera --vpp 2", "list --vpp 2",
        "pipedream-2bw", "1f1b --forward-only", "1f1b --embedding-placement vocab-1",
        "1f1b --embedding-placement interlaced", "v-half --embedding-placement vocab-2"}) {
    for (const std::string form : {".textproto", ".json", ".yaml", ".yaml --spell-out"}) {
      const std::string schedule = kJob + std::string("--schedule ") + flags;
      const std::string path = TempFile("plan" + form.substr(0, form.find(' ')));
      Report("export plan" + schedule + " -o " + TempFile("plan" + form));
      EXPECT_EQ(Report("simulate --quiet --model gpt2-medium --cluster h100-sxm:1x4 --plan " +
                       path)["step_time_ms"],
                Report("simulate --quiet" + schedule)["step_time_ms"])
          << flags << form;
    }
  }
}

TEST(CommandExportTest, ARegularPlanIsItsDegrees) {
  const std::string path = TempFile("short.yaml");
  EXPECT_EQ(Call("export plan" + std::string(kJob) + "--schedule zb-h1 -o " + path).out,
            path + ": zb-h1, 4 stages of 1 chunk, 16 micro-batches\n");
  EXPECT_EQ(ReadFile(path),
            "degrees: {tp: 1, pp: 4, dp: 1, recompute: SELECTIVE}\nmicro_batch: 1\n"
            "global_batch: 16\nsequence: 512\norder: ZERO_BUBBLE_H1\nzero: 0\n");
  const Json report = Report("export plan --spell-out" + std::string(kJob) + "-o " + path);
  EXPECT_EQ(report["passes"], 2 * 4 * 16);
  EXPECT_NE(ReadFile(path).find("stages:"), std::string::npos);
  EXPECT_EQ(Report("export plan --stage-layers 7,5,6,6" + std::string(kJob) + "-o " +
                   path)["micro_batches"],
            16);
}

// Pairs hide exchanges between experts and no collectives of tensor parallelism, listed or not.
TEST(CommandExportTest, PairedPassesReadAgainAreTheSameStep) {
  const std::string job =
      " --model deepseek-v2-lite --cluster h100-sxm:1x8 --tp 2 --pp 2 --ep 2 --micro-batch 1 "
      "--global-batch 16 --seq 512 ";
  for (const char* flags : {"--schedule 1f1b", "--vpp 2"}) {
    const std::string schedule = job + flags + " --overlap-experts";
    const Json named = Report("simulate --quiet" + schedule)["step_time_ms"];
    const std::string plan = TempFile("paired.textproto");
    Report("export plan --spell-out" + schedule + " -o " + plan);
    EXPECT_EQ(Report("simulate --quiet --model deepseek-v2-lite --cluster h100-sxm:1x8 --plan " +
                     plan)["step_time_ms"],
              named)
        << flags;
    const std::string csv = TempFile("paired.csv");
    Report("export schedule-csv" + schedule + " -o " + csv);
    EXPECT_EQ(
        Report("simulate --quiet" + job + "--overlap-experts --order-file " + csv)["step_time_ms"],
        named)
        << flags;
  }
}

TEST(CommandExportTest, WhatCannotBeWrittenIsRefused) {
  struct Case {
    std::string line, wants;
  };
  const std::string job = kJob;
  const Case cases[] = {
      {"export csv" + job + "-o x.csv", "FORMAT"},
      {"export schedule-csv" + job, "-o"},
      {"export schedule-csv" + job + "-o x.txt", "-o: got \"x.txt\", want a .csv file"},
      {"export plan" + job + "-o x.pb", "-o: got \"x.pb\", want a .textproto, .json or .yaml file"},
      {"export schedule-csv --spell-out" + job + "-o x.csv",
       "--spell-out: got it with schedule-csv, which always lists passes"},
      {"export megatron --spell-out" + job + "-o x.sh",
       "--spell-out: got it without plan, want export plan"},
      {"export schedule-csv --schedule chimera" + job + "-o x.csv", "two directions"},
      {"export schedule-csv --schedule pipedream-2bw" + job + "-o x.csv",
       "--schedule: got pipedream-2bw with schedule-csv, whose passes never end"},
      {"export schedule-csv --schedule pipedream --model llama3-8b --cluster h100-sxm:1x4 --pp 4 "
       "--global-batch 1 --seq 512 -o x.csv",
       "--schedule: got pipedream with schedule-csv, whose passes never end"},
      {"export schedule-csv --embedding-placement vocab-2" + job + "-o x.csv",
       "--embedding-placement: got vocab-2 with schedule-csv, which has no passes for the "
       "vocabulary"},
      {"export schedule-csv --schedule zb" + job + "-o x.csv", "--schedule: got \"zb\""},
      {"export schedule-csv" + job + "-o /nowhere/x.csv", "/nowhere/x.csv"},
  };
  for (const Case& bad : cases) {
    const Outcome outcome = Call(bad.line);
    EXPECT_NE(outcome.code, kExitOk) << bad.line;
    EXPECT_EQ(outcome.out, "") << bad.line;
    EXPECT_NE(outcome.err.find(bad.wants), std::string::npos) << bad.line << "\n" << outcome.err;
  }
}

}  // namespace
}  // namespace stagecraft
