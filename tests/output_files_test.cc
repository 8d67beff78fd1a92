// Tests that commands notice early if they cannot write a file, that they never write over a file
// that they read, and what a stopped search leaves.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <ostream>
#include <sstream>
#include <streambuf>
#include <string>
#include <thread>
#include <vector>

#include "costmodel/proto_file.h"
#include "tests/bad_input.h"
#include "tools/verb/command.h"

namespace stagecraft {
namespace {

using bad_input::Case;
using bad_input::Result;
using bad_input::RunLine;

using OutputFilesTest = bad_input::FolderTest;

const std::string kJob = " --model gpt2 --cluster h100-sxm:1x2 --global-batch 8 --seq 128 ";

TEST_F(OutputFilesTest, AnOutputThatIsAlsoAnInputIsRefused) {
  const std::string cluster = R"({"node_groups": [{"node_type": "dgx-h100", "count": 1}]})";
  Write("c.json", cluster);
  const std::string flags = " --model gpt2 --global-batch 8 --seq 128 ";
  ExpectRefused({
      {"search" + flags + "--cluster $T/c.json -o $T/c.json", "names twice"},
      {"search" + flags + "--cluster=$T/c.json -o$T/../stagecraft_bad_input/c.json", "names twice"},
      {"simulate" + flags + "--cluster $T/c.json --trace $T/c.json", "names twice"},
      {"simulate" + kJob + "--cost-model $T/c.json --timeline $T/c.json", "names twice"},
      {"import k8s $T/c.json -o $T/c.json", "names twice"},
      {"import kineto $T/c.json -o $T/m.pb --samples $T/c.json", "names twice"},
      {"import kineto $T/c.json -o $T/m.pb --collectives $T/none/c.csv", "folder does not exist"},
      {"validate --against $T/c.html --report $T/c.html", "names twice"},
      {"validate --against $T/c.json --report $T/none/c.html",
       "--report: got \"$T/none/c.html\", whose folder does not exist"},
      {"simulate" + kJob + "--trace $T/x.json --timeline $T/x.json", "names twice"},
      {"partition --train-graphs $T/a.txt,$T/c.json --train-devices 2x1 --save-policy $T/c.json",
       "names twice"},
      {"partition --train-graphs=$T/c.json,$T/a.txt --save-policy=$T/c.json", "names twice"},
      {"simulate" + kJob + "--trace=", "--trace: got \"\""},
      {"search" + kJob + "-o $T/none/x.yaml",
       "-o: got \"$T/none/x.yaml\", whose folder does not exist"},
      {"search" + kJob + "-o $T", "-o: got the directory"},
      {"search" + kJob + "-o " + std::string(300, 'a'),
       "-o: got a name of 300 characters, want a shorter one"},
  });
  EXPECT_EQ(ReadFile(Expand("$T/c.json")), cluster);
}

TEST_F(OutputFilesTest, WhatTheSystemDoesNotLetBeWrittenIsNoticedBeforeTheWork) {
  for (const std::string& line :
       {"search" + kJob + "-o /proc/x.yaml", "simulate" + kJob + "--timeline /proc/x.pb"}) {
    const Result result = RunLine(line);
    EXPECT_EQ(result.code, kExitInternal) << line;
    EXPECT_EQ(result.out, "");
    EXPECT_NE(result.err.find("cannot be written: "), std::string::npos) << result.err;
  }
}

// Processes of containers often have the same id.
TEST_F(OutputFilesTest, WhatAKilledProcessOfTheSameIdLeftIsNoObstacle) {
  const std::string rest = "t.yaml." + std::to_string(getpid()) + ".part";
  Write(rest, "cut o");
  const Result result = RunLine(Expand("catalogue gpus --template $T/t.yaml"));
  EXPECT_EQ(result.code, kExitOk) << result.err;
  EXPECT_NE(ReadFile(Expand("$T/t.yaml")).find("node_groups"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(Expand("$T/" + rest)));
}

// A stream to which nothing can be written, like /dev/full.
class FullStream : public std::streambuf {
 protected:
  int overflow(int) override { return traits_type::eof(); }
};

TEST_F(OutputFilesTest, AReportThatCannotBePrintedIsAnErrorForEveryVerb) {
  std::vector<Args> lines = {{"--help"}, {"help"}, {"--version"}, {"catalogue", "gpus"}};
  for (const Command& verb : Commands()) lines.push_back({verb.name, "--help"});
  for (const Args& words : lines) {
    FullStream full;
    std::istringstream in;
    std::ostream out(&full);
    std::ostringstream err;
    EXPECT_EQ(RunCommandLine(words, in, out, err), kExitInternal) << words[0];
    EXPECT_EQ(err.str(), "stagecraft: the output could not be written\n") << words[0];
  }
}

TEST_F(OutputFilesTest, BinaryFilesThatAreNoneAreOneLineOfError) {
  Write("bad.pb", std::string("\x0a\x06\x0a\x04\xff\xfe\xfd\xfc", 8));
  Write("bad.onnx", std::string("\x3a\x06\x12\x04\xff\xfe\xfd\xfc", 8));
  ExpectRefused(
      {{"check $T/bad.pb", "bad.pb"},
       {"simulate" + kJob + "--cost-model $T/bad.pb", "bad.pb"},
       {"simulate --model $T/bad.onnx --cluster h100-sxm:1x2 --global-batch 8", "bad.onnx"}});
}

// Runs a search of 5 minutes that gets the signal after this many ticks of 50 ms.
Result StoppedSearch(int signal, int ticks, const std::string& output) {
  std::atomic<bool> is_done = false;
  // The signal is sent to the process, as Slurm sends it, once the search handles it.
  std::thread sender([&] {
    for (int i = 0; i < 6000 && !is_done; ++i) {
      struct sigaction now;
      sigaction(signal, nullptr, &now);
      if (now.sa_handler != SIG_DFL && i > ticks) {
        kill(getpid(), signal);
        return;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
  });
  const Result result = RunLine(
      "search --model llama3-405b --cluster h100-sxm:64x8 --global-batch 512 --seq 8192 "
      "--algorithm mcmc --budget 300s --no-explain --json --quiet --cost-model analytical -o " +
      output);
  is_done = true;
  sender.join();
  return result;
}

// The search ends at each of the signals, and says so. On a busy machine the first plan may take
// long, so later signals are tried as well.
TEST_F(OutputFilesTest, ASearchThatIsToldToEndKeepsItsBestPlan) {
  const std::string plan = Expand("$T/plan.yaml");
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    bool has_plan = false;
    for (const int ticks : {10, 40, 160, 640, 2400}) {
      const Result result = StoppedSearch(signal, ticks, plan);
      EXPECT_EQ(result.code, kExitInterrupted) << signal << "\n" << result.err;
      const auto report = nlohmann::json::parse(result.out);
      EXPECT_EQ(report["interrupted"], true) << signal;
      has_plan = !report["plans"].empty();
      if (has_plan) break;
    }
    EXPECT_TRUE(has_plan) << signal;
    EXPECT_TRUE(std::ifstream(plan).good()) << signal;
  }
}

}  // namespace
}  // namespace stagecraft
