// What commands write: noticed early where it cannot be, never over what they read; and what a
// stopped search leaves.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "tests/bad_input.h"

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
      {"simulate" + kJob + "--trace $T/x.json --timeline $T/x.json", "names twice"},
      {"simulate" + kJob + "--trace=", "--trace: got \"\""},
      {"search" + kJob + "-o $T/none/x.yaml",
       "-o: got \"$T/none/x.yaml\", whose folder does not exist"},
      {"search" + kJob + "-o $T", "-o: got the directory"},
  });
  std::ifstream file(Expand("$T/c.json"));
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), cluster);
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

TEST_F(OutputFilesTest, BinaryFilesThatAreNoneAreOneLineOfError) {
  Write("bad.pb", std::string("\x0a\x06\x0a\x04\xff\xfe\xfd\xfc", 8));
  Write("bad.onnx", std::string("\x3a\x06\x12\x04\xff\xfe\xfd\xfc", 8));
  ExpectRefused(
      {{"check $T/bad.pb", "bad.pb"},
       {"simulate" + kJob + "--cost-model $T/bad.pb", "bad.pb"},
       {"simulate --model $T/bad.onnx --cluster h100-sxm:1x2 --global-batch 8", "bad.onnx"}});
}

// A search without an end ends at each of the signals, and says so.
TEST_F(OutputFilesTest, ASearchThatIsToldToEndKeepsItsBestPlan) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    std::atomic<bool> is_done = false;
    // Another thread of this process gets it where the search has taken it over, as from Slurm.
    std::thread sender([&] {
      for (int i = 0; i < 600 && !is_done; ++i) {
        struct sigaction now;
        sigaction(signal, nullptr, &now);
        if (now.sa_handler != SIG_DFL && i > 10) {
          kill(getpid(), signal);
          return;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
      }
    });
    const Result result = RunLine(
        "search --model llama3-8b --cluster h100-sxm:8x8 --global-batch 512 --seq 2048 --algorithm "
        "mcmc --budget 60s --no-explain --json --quiet --cost-model analytical -o " +
        Expand("$T/plan.yaml"));
    is_done = true;
    sender.join();
    EXPECT_EQ(result.code, kExitInterrupted) << signal << "\n" << result.err;
    const auto report = nlohmann::json::parse(result.out);
    EXPECT_EQ(report["interrupted"], true) << signal;
    EXPECT_FALSE(report["plans"].empty()) << signal;
    EXPECT_TRUE(std::ifstream(Expand("$T/plan.yaml")).good()) << signal;
  }
}

}  // namespace
}  // namespace stagecraft
