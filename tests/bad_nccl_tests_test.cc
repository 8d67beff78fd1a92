// Tests that broken output of nccl-tests is refused by one sentence and exit code 2, and that
// nothing is written then.
#include <string>
#include <vector>

#include "tests/bad_input.h"

namespace stagecraft::bad_input {
namespace {

struct BrokenLog {
  std::string text;
  std::string wants;
};

class BadNcclTestsTest : public FolderTest {
 protected:
  // Expects that each text is refused, in a file of its own; `flags` follow the file's name.
  void ExpectAllRefused(const std::string& extension, const std::string& flags,
                        const std::vector<BrokenLog>& all) {
    std::vector<Case> cases;
    for (size_t i = 0; i < all.size(); ++i) {
      const std::string name = "t" + std::to_string(i) + extension;
      Write(name, all[i].text);
      cases.push_back(
          {"import nccl-tests $T/" + name + " -o $T/out.csv " + flags, all[i].wants, ""});
    }
    ExpectRefused(cases);
  }
};

constexpr char kRanks[] =
    "# nThread 1 nGpus 2 minBytes 8 maxBytes 4194304 step: 2(factor)\n"
    "#  Rank  0 Group  0 Pid   4242 on  node0 device  0 [0000:18:00] NVIDIA H100 80GB HBM3\n"
    "#  Rank  1 Group  0 Pid   4242 on  node0 device  1 [0000:98:00] NVIDIA H100 80GB HBM3\n";
constexpr char kColumns[] = "#  size  count  type  redop  root  time  algbw  busbw  #wrong\n";
constexpr char kRow[] = " 1048576 262144 float sum -1 30.12 34.81 34.81 0\n";

std::string NcclTestsLog() { return std::string(kRanks) + kColumns + kRow; }

// The log with `to` in place of the first `from`.
std::string LogWith(const std::string& from, const std::string& to) {
  std::string text = NcclTestsLog();
  return text.replace(text.find(from), from.size(), to);
}

TEST_F(BadNcclTestsTest, BrokenLogsAreRefused) {
  const std::string text = NcclTestsLog();
  const std::string ranks = kRanks;
  ExpectAllRefused(
      ".log", "--cluster dgx-h100:1",
      {
          {"noise\n", "log:1: line: got \"noise\""},
          {"#\n#\n", "want a log of nccl-tests"},
          {ranks, "rows: got \"none\", want at least one size"},
          {ranks + kColumns, "rows: got \"none\""},
          {std::string(kColumns) + kRow, "devices: got \"none\", want every rank's host"},
          {ranks + kRow, "log:4: line: got"},
          {text.substr(0, text.size() - 6), "log:5: row: got \""},
          {text + kRow, "log:6: size: got \"1048576\", want more bytes"},
          {LogWith("nGpus 2", "nGpus 0"), "log:1: nGpus: got \"0\""},
          {LogWith("nGpus 2", "nGpus 1e9"), "log:1: nGpus: got \"1e9\""},
          {LogWith("nThread 1", "nThread x"), "log:1: nThread: got \"x\""},
          {LogWith("Rank  1", "Rank  0"), "log:3: rank: got \"0\", want 1"},
          {LogWith("Rank  1", "Rank  7"), "log:3: rank: got \"7\", want 1"},
          {LogWith("on  node0", ""), "log:2: rank: got"},
          {LogWith("device  0", ""), "log:2: rank: got"},
          {LogWith("busbw", "bus"), "log:4: header: got"},
          {LogWith("1048576", "-8"), "log:5: size: got \"-8\""},
          {LogWith("1048576", "1e300"), "log:5: size: got \"1e300\""},
          {LogWith("30.12", "0.00"), "log:5: time: got \"0.00\", want microseconds > 0"},
          {LogWith("30.12", "inf"), "log:5: time: got \"inf\""},
          {LogWith("30.12", "nan"), "log:5: time: got \"nan\""},
          {LogWith("30.12", "60.24"), "log:5: algbw: got \"34.81\", want 17.41"},
          {LogWith("34.81 34.81", "34.81 69.62"), "log: collective: got"},
          {LogWith("sum", "none"), "log: collective: got"},
      });
}

std::string Json(const std::string& devices, const std::string& results) {
  return "{\"nccl_version\":22809,\"config\":{\"devices\":" + devices + "},\"results\":" + results +
         "}";
}

TEST_F(BadNcclTestsTest, BrokenJsonIsRefused) {
  const std::string rank = R"([{"rank":0,"hostname":"a"},{"rank":1,"hostname":"a"}])";
  const std::string result =
      R"([{"size":8,"type":"float","redop":"sum","out_of_place":{"time":8,"alg_bw":0,"bus_bw":0}}])";
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = Json(rank, result);
    return text.replace(text.find(from), from.size(), to);
  };
  ExpectAllRefused(
      ".json", "--cluster dgx-h100:1 --collective all_reduce",
      {
          {Json(rank, result).substr(0, 90), "json:1:91: got a syntax error"},
          {"{}", "config.devices: got \"null\""},
          {Json("{}", result), "config.devices: got \"{}\", want a list of ranks"},
          {Json("[]", result), "devices: got \"none\""},
          {Json("[3]", result), "config.devices[0]: rank: got \"null\""},
          {with("\"rank\":1", "\"rank\":0"), "config.devices[1]: rank: got \"0\", want 1"},
          {with("\"a\"", "7"), "config.devices[0]: hostname: got \"7\""},
          {Json(rank, "[]"), "rows: got \"none\""},
          {Json(rank, "7"), "results: got \"7\", want a list of sizes"},
          {Json(rank, "[7]"), "results[0]: out_of_place: got \"null\""},
          {with("\"size\":8", "\"size\":[]"), "results[0]: size: got \"[]\""},
          {with("\"time\":8", "\"time\":-1"), "results[0]: time: got \"-1\""},
          {with("\"alg_bw\":0", "\"alg_bw\":3"), "results[0]: algbw: got \"3\""},
          {with("\"bus_bw\":0", "\"bus_bw\":\"fast\""), "results[0]: bus_bw: got \"fast\""},
      });
}

TEST_F(BadNcclTestsTest, WrongFlagsAreRefused) {
  Write("a.log", NcclTestsLog());
  Write("hosts.log", LogWith("node0 device  1", "node1 device  1"));
  Write("nine.log", LogWith("nGpus 2", "nGpus 9"));
  Write("three.log",
        LogWith("nGpus 2", "nGpus 1")
            .insert(NcclTestsLog().find(kColumns), "# Rank 2 Pid 1 on node1 device 0 [0] H100\n"));
  const std::string line = "import nccl-tests $T/a.log ";
  ExpectRefused({
      {line + "--cluster dgx-h100:1", "-o"},
      {line + "-o $T/o.csv", "--cluster: got none"},
      {line + "-o $T/o.json --cluster dgx-h100:1", "-o: got"},
      {line + "-o $T/o.csv --cluster dgx-h10:1", "unknown GPU or node type"},
      {line + "-o $T/o.csv --cluster dgx-h100:1x1", "got 2 ranks on host 0, want at most 1"},
      {line + "-o $T/o.csv --cluster dgx-h100:1 --gpu h100", "--gpu: got a value that import"},
      {line + "-o $T/o.csv --cluster dgx-h100:1 --collective sum", "--collective"},
      {line + "-o $T/o.csv --cluster dgx-h100:1 --collective all_gather",
       "busbw: got \"34.81\", want 17.41, as all-gather over 2 ranks has"},
      {line + "$T/a.log -o $T/o.csv --cluster dgx-h100:1", "twice, want each file once"},
      {"import nccl-tests $T/nine.log -o $T/o.csv --cluster dgx-h100:1 --collective broadcast",
       "got 9 ranks on host 0, want at most 8"},
      {"import nccl-tests $T/hosts.log -o $T/o.csv --cluster dgx-h100:1",
       "got 2 hosts, want at most the 1 nodes"},
      {"import nccl-tests $T/three.log -o $T/o.csv --cluster dgx-h100:2 --collective broadcast",
       "got 3 ranks on 2 nodes, 1 on one of them, want the same number on each"},
      {"import k8s $T/a.log $T/three.log -o $T/o.json", "IN: got 2 files, want one"},
  });
}

TEST_F(BadNcclTestsTest, AHundredMegabytesOfNoiseAreRefused) {
  Write("noise", std::string(100'000'000, '#'));
  ExpectRefused({{"import nccl-tests $T/noise -o $T/o.csv --cluster dgx-h100:1",
                  "got 100000000 bytes, want at most", "$T/noise"}});
}

// Wherever a log is cut, it is either read or refused, and nothing else happens.
TEST_F(BadNcclTestsTest, TruncatedLogsAreReadOrRefused) {
  const std::string text = NcclTestsLog();
  for (size_t length = 1; length < text.size(); ++length) {
    Write("cut", text.substr(0, length));
    const Result result =
        RunLine(Expand("import nccl-tests $T/cut -o $T/o.csv --cluster dgx-h100:1"));
    EXPECT_TRUE(result.code == kExitOk || result.code == kExitBadInput)
        << "cut at " << length << ": " << result.err;
  }
}

}  // namespace
}  // namespace stagecraft::bad_input
