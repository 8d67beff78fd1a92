#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "costmodel/check.h"
#include "costmodel/proto_file.h"
#include "tools/chart/page_testing.h"
#include "tools/verb/command.h"

namespace stagecraft {
namespace {

class CommandReportTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = ::testing::TempDir() + "command_report_test";
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    std::istringstream in;
    std::ostringstream out, err;
    ASSERT_EQ(RunSimulate({"--model",        "gpt2",
                           "--cluster",      "a100-sxm4-80gb:1x4",
                           "--pp",           "2",
                           "--dp",           "2",
                           "--global-batch", "8",
                           "--micro-batch",  "1",
                           "--seq",          "512",
                           "--cost-model",   "analytical",
                           "--timeline",     File("step.pb"),
                           "--report",       File("direct.html"),
                           "--json"},
                          in, out, err),
              kExitOk);
    WriteFileAtomically(File("step.json"), out.str());
  }

  std::string File(const std::string& name) const { return folder_ + "/" + name; }

  // Returns the exit code; `out_` and `error_` are what was printed and the error's sentence.
  int Report(const Args& args) {
    std::istringstream in;
    std::ostringstream out, err;
    error_.clear();
    int code = kExitBadInput;
    try {
      code = RunReport(args, in, out, err);
    } catch (const InputError& error) {
      error_ = error.what();
    }
    out_ = out.str();
    return code;
  }

  std::string folder_, out_, error_;
};

TEST_F(CommandReportTest, ThePageOfSavedResultsIsThatOfTheVerbItself) {
  ASSERT_EQ(Report({File("step.json"), File("step.pb"), "-o", File("page.html")}), kExitOk)
      << error_;
  const std::string page = ReadFile(File("page.html"));
  EXPECT_EQ(FindBadMarkup(page), "");
  const std::vector<nlohmann::json> saved = ChartsOf(page),
                                    direct = ChartsOf(ReadFile(File("direct.html")));
  ASSERT_EQ(saved.size(), 5u);
  EXPECT_EQ(saved, direct);
  EXPECT_EQ(out_, File("page.html") + ": " + std::to_string(page.size()) +
                      " bytes, the page of simulate\n");
}

// Two stages on two GPUs each, eight micro-batches of which each replica takes four.
TEST_F(CommandReportTest, ThePageHasThePlanAndEveryPass) {
  const std::vector<nlohmann::json> charts = ChartsOf(ReadFile(File("direct.html")));
  ASSERT_EQ(charts.size(), 5u);
  EXPECT_EQ(charts[0]["title"], "The plan: stages over devices");
  EXPECT_EQ(charts[0]["rows"], nlohmann::json({"node0"}));
  EXPECT_EQ(charts[0]["items"].size(), 4u);  // two copies of two stages
  const nlohmann::json& passes = charts[1];
  EXPECT_EQ(passes["title"], "Passes of the pipeline");
  EXPECT_EQ(passes["x"]["label"], "time since the step began (ms)");
  int forwards = 0, backwards = 0;
  for (const nlohmann::json& item : passes["items"]) {
    const std::string name = passes["series"][item[1].get<size_t>()]["name"];
    forwards += name == "forward" ? 1 : 0;
    backwards += name == "backward" ? 1 : 0;
    EXPECT_LT(item[2], item[3]);
    EXPECT_LE(item[3].get<double>(), passes["x"]["max"].get<double>() * 1.000001);
  }
  EXPECT_EQ(forwards, 2 * 4);
  EXPECT_EQ(backwards, 2 * 4);
}

TEST_F(CommandReportTest, PartsOfTheStepAddUpToItsTime) {
  const auto answer = nlohmann::json::parse(ReadFile(File("step.json")));
  const std::vector<nlohmann::json> charts = ChartsOf(ReadFile(File("direct.html")));
  EXPECT_EQ(charts[3]["title"], "The step by parts");
  double end = 0;
  for (const nlohmann::json& item : charts[3]["items"]) {
    EXPECT_NEAR(item[2].get<double>(), end, 1e-6 * (1 + end));
    end = item[3];
  }
  EXPECT_NEAR(end, answer["step_time_ms"].get<double>(), 1e-5 * end);
  EXPECT_EQ(charts[4]["x"]["label"], "memory (GiB)");
  EXPECT_EQ(charts[4]["rows"], nlohmann::json({"stage 0", "stage 1"}));
}

TEST_F(CommandReportTest, WithoutTimelinesThereIsNoPipeline) {
  ASSERT_EQ(Report({File("step.json"), "-o", File("page.html"), "--json"}), kExitOk) << error_;
  EXPECT_EQ(ChartsOf(ReadFile(File("page.html"))).size(), 3u);
  const auto report = nlohmann::json::parse(out_);
  EXPECT_EQ(report["of"], "simulate");
  EXPECT_EQ(report["inputs"].size(), 1u);
}

// The same stages and replicas as those of the step.
constexpr const char* kPlan =
    "degrees: {pp: 2, dp: 2}\nmicro_batch: 1\nglobal_batch: 8\nsequence: 512\n";

TEST_F(CommandReportTest, APlanIsDrawnAsStagesOverDevices) {
  WriteFileAtomically(File("plan.yaml"), kPlan);
  WriteFileAtomically(File("plan.json"), R"({"degrees": {"pp": 2, "dp": 2}, "micro_batch": 1,
                                             "global_batch": 8, "sequence": 512})");
  const std::vector<nlohmann::json> direct = ChartsOf(ReadFile(File("direct.html")));
  for (const char* name : {"plan.yaml", "plan.json"}) {
    ASSERT_EQ(Report({File(name), "--model", "gpt2", "--cluster", "a100-sxm4-80gb:1x4", "-o",
                      File("page.html")}),
              kExitOk)
        << error_;
    const std::string page = ReadFile(File("page.html"));
    EXPECT_EQ(FindBadMarkup(page), "");
    const std::vector<nlohmann::json> charts = ChartsOf(page);
    ASSERT_EQ(charts.size(), 1u);
    EXPECT_EQ(charts[0], direct[0]);
    EXPECT_NE(page.find("<h1>A plan for gpt2</h1>"), std::string::npos);
    EXPECT_NE(page.find("<td>GPUs</td><td>4 of 4</td>"), std::string::npos);
    EXPECT_TRUE(out_.ends_with(" bytes, the page of plan\n")) << out_;
  }
}

// The network and the cluster can be files, which --json lists; an image has no tokens.
TEST_F(CommandReportTest, APlanComesWithTheFilesOfItsNetworkAndItsCluster) {
  WriteFileAtomically(File("plan.yaml"),
                      "degrees: {dp: 8}\nmicro_batch: 1\nglobal_batch: 8\nsequence: 1\n");
  WriteFileAtomically(File("cluster.yaml"), "node_groups: [{node_type: dgx-h100, count: 1}]\n");
  ASSERT_EQ(Report({File("plan.yaml"), "--model", "resnet50", "--cluster", File("cluster.yaml"),
                    "-o", File("page.html"), "--json"}),
            kExitOk)
      << error_;
  const auto report = nlohmann::json::parse(out_);
  ASSERT_EQ(report["inputs"].size(), 2u);
  EXPECT_EQ(report["inputs"][0]["path"], File("cluster.yaml"));
  EXPECT_EQ(report["inputs"][1]["path"], File("plan.yaml"));
  const std::string page = ReadFile(File("page.html"));
  EXPECT_NE(page.find("<td>GPUs</td><td>8 of 8</td>"), std::string::npos);
  EXPECT_EQ(page.find("tokens per sample"), std::string::npos);
}

TEST_F(CommandReportTest, ThePageOfATrainingRunIsThatOfTrain) {
  std::istringstream in;
  std::ostringstream out, err;
  WriteFileAtomically(File("events.yaml"),
                      "events:\n  - {at_s: 1, node: node1, what: FAIL}\n"
                      "  - {at_s: 2, node: node1, what: RECOVER}\n");
  ASSERT_EQ(RunTrain({"--model", "gpt2", "--cluster", "h100-sxm:2x2", "--global-batch", "16",
                      "--seq", "512", "--steps", "300", "--cost-model", "analytical", "--events",
                      File("events.yaml"), "--report", File("train.html"), "--json", "--quiet"},
                     in, out, err),
            kExitOk)
      << err.str();
  WriteFileAtomically(File("train.json"), out.str());
  ASSERT_EQ(Report({File("train.json"), "-o", File("page.html")}), kExitOk) << error_;
  const std::string page = ReadFile(File("page.html"));
  EXPECT_EQ(FindBadMarkup(page), "");
  EXPECT_EQ(ChartsOf(page), ChartsOf(ReadFile(File("train.html"))));
  EXPECT_GE(ChartsOf(page).size(), 4u);
  EXPECT_TRUE(out_.ends_with(" bytes, the page of train\n")) << out_;

  // A history need not say by which plan a phase computed.
  auto answer = nlohmann::ordered_json::parse(out.str());
  ASSERT_EQ(answer["history"]["phases"][0]["plan"], 1);
  answer["history"]["phases"][0].erase("plan");
  WriteFileAtomically(File("unsaid.json"), answer.dump());
  EXPECT_EQ(Report({File("unsaid.json"), "-o", File("unsaid.html")}), kExitOk) << error_;
  EXPECT_EQ(FindBadMarkup(ReadFile(File("unsaid.html"))), "");
}

TEST_F(CommandReportTest, ThePageOfAValidationIsThatOfValidate) {
  std::istringstream in;
  std::ostringstream out, err;
  WriteFileAtomically(File("own.txt"),
                      "name,model,cluster,global_batch,seq,seconds\n"
                      "one,gpt2,h100-sxm:1x1,8,512,0.1\ntwo,gpt2,h100-sxm:1x2,8,512,0.05\n");
  ASSERT_EQ(RunValidate({"--against", File("own.txt"), "--cost-model", "analytical", "--report",
                         File("validate.html"), "--json", "--quiet"},
                        in, out, err),
            kExitOk)
      << err.str();
  WriteFileAtomically(File("validate.json"), out.str());
  ASSERT_EQ(Report({File("validate.json"), "-o", File("page.html")}), kExitOk) << error_;
  const std::string page = ReadFile(File("page.html")), direct = ReadFile(File("validate.html"));
  EXPECT_EQ(FindBadMarkup(page), "");
  const std::vector<nlohmann::json> charts = ChartsOf(page), wanted = ChartsOf(direct);
  ASSERT_EQ(charts.size(), wanted.size());
  EXPECT_EQ(charts[0]["series"], wanted[0]["series"]);
  EXPECT_EQ(charts[0]["items"].size(), wanted[0]["items"].size());
  EXPECT_EQ(charts[0]["items"][0][3], wanted[0]["items"][0][3]);  // the words of the first row
  const std::string origin = "2 scored rows of own.txt; cost model analytical";
  EXPECT_NE(page.find(origin), std::string::npos);
  EXPECT_NE(direct.find(origin), std::string::npos);

  for (const char* key : {"measured", "predicted", "gpus"}) {
    auto answer = nlohmann::ordered_json::parse(out.str());
    answer["rows"][0][key] = 0;
    WriteFileAtomically(File("odd.json"), answer.dump());
    EXPECT_EQ(Report({File("odd.json"), "-o", File("odd.html")}), kExitBadInput);
    EXPECT_NE(error_.find(std::string("odd.json: row one: ") + key + ": got 0"), std::string::npos)
        << error_;
    EXPECT_FALSE(std::filesystem::exists(File("odd.html")));
  }
  auto answer = nlohmann::ordered_json::parse(out.str());
  answer["rows"][0]["interval80"] = {0.1, 0.01};
  WriteFileAtomically(File("odd.json"), answer.dump());
  EXPECT_EQ(Report({File("odd.json"), "-o", File("odd.html")}), kExitBadInput);
  EXPECT_NE(error_.find("odd.json: row one: interval80: got an end of 0.01"), std::string::npos)
      << error_;
}

TEST_F(CommandReportTest, OtherFilesAreOneSentenceAndNothingIsWritten) {
  WriteFileAtomically(File("list.json"), "[1, 2]");
  WriteFileAtomically(File("half.json"), R"({"command": "simulate", "model": "gpt2")");
  WriteFileAtomically(File("part.json"), R"({"command": "simulate", "model": "gpt2"})");
  WriteFileAtomically(File("fit.json"), R"({"command": "fit", "tool_version": "0.1.0"})");
  WriteFileAtomically(File("rows.csv"), "cluster,seconds\n");
  WriteFileAtomically(File("trace.json"), R"({"traceEvents": []})");
  WriteFileAtomically(File("plan.yaml"), kPlan);
  WriteFileAtomically(File("runs.json"), R"({"command": "train", "runs": {}})");
  WriteFileAtomically(File("train.json"), R"({"command": "train"})");
  WriteFileAtomically(File("fitted.json"), R"({"command": "validate", "fit": {}})");
  WriteFileAtomically(File("validate.json"), R"({"command": "validate", "rows": [{}]})");
  WriteFileAtomically(File("bad.pb"), "no timeline");
  WriteFileAtomically(File("empty.pb"), "");
  const std::vector<std::pair<Args, std::string>> cases = {
      {{File("list.json")},
       "list.json: is not what simulate, explain, search, whatif, train or validate print as JSON"},
      {{File("half.json")}, "half.json:1:40: got a syntax error or the end of the file"},
      {{File("rows.csv")}, "rows.csv: is no JSON, want what a verb printed with --json"},
      {{File("plan.yaml")}, "plan.yaml: got a plan, want its --model and --cluster with it"},
      {{File("step.json"), "--model", "gpt2"}, "--model: got one without a plan"},
      {{File("plan.yaml"), File("step.pb")}, "FILE: got 2 files with the plan"},
      {{File("runs.json"), "--quiet"}, "runs.json: got what train printed of several runs"},
      {{File("train.json")}, "train.json: is not what train prints as JSON"},
      {{File("train.json"), File("step.pb")}, "FILE: got timelines beside"},
      {{File("fitted.json")}, "fitted.json: got constants that validate fitted"},
      {{File("validate.json")}, "validate.json: is not what validate prints as JSON"},
      {{File("part.json")},
       "part.json: is not what simulate, explain, search, whatif, train or validate print as JSON"},
      {{File("fit.json")}, "fit.json: command: got \"fit\", want the JSON of simulate"},
      {{File("trace.json")}, "trace.json: the file is a Chrome or Kineto trace, want what a verb"},
      {{File("step.pb")}, "FILE: got timelines alone"},
      {{File("step.json"), File("part.json")}, "want the JSON of one verb"},
      {{File("step.json"), File("bad.pb")}, "bad.pb"},
      {{File("step.json"), File("empty.pb")}, "empty.pb"},
      {{File("none.json")}, "none.json"},
  };
  for (const auto& [files, sentence] : cases) {
    Args args = files;
    args.insert(args.end(), {"-o", File("page.html")});
    EXPECT_EQ(Report(args), kExitBadInput);
    EXPECT_NE(error_.find(sentence), std::string::npos) << error_ << "\nlacks " << sentence;
    EXPECT_EQ(error_.find('\n'), std::string::npos) << error_;
    EXPECT_FALSE(std::filesystem::exists(File("page.html")));
  }
}

// Numbers and names of a damaged answer that no chart can draw.
TEST_F(CommandReportTest, OddValuesOfAnAnswerLeadToAPageOrASentence) {
  const auto answer = nlohmann::ordered_json::parse(ReadFile(File("step.json")));
  const std::vector<std::function<void(nlohmann::ordered_json&)>> changes = {
      [](auto& json) { json["placement"][0]["stage"] = -1; },
      [](auto& json) { json["placement"][0]["stage"] = 4'000'000'000; },
      [](auto& json) {
        json["placement"][0]["devices"] = {"node99999999999/gpu1", "x", ""};
      },
      [](auto& json) {
        json["memory"][0]["weights"] = 1e308;
        json["memory"][0]["gradients"] = 1e308;
      },
      [](auto& json) { json["memory"][0]["weights"] = nullptr; },
      [](auto& json) { json["breakdown_ms"]["compute"] = "long"; },
      [](auto& json) { json["step_time_ms"] = -1; },
      [](auto& json) { json.erase("step_time_ms"); },
      [](auto& json) { json["model"] = "</script><b>"; },
  };
  for (const auto& change : changes) {
    nlohmann::ordered_json changed = answer;
    change(changed);
    WriteFileAtomically(File("odd.json"), changed.dump());
    if (Report({File("odd.json"), "-o", File("odd.html")}) != kExitOk) {
      EXPECT_NE(error_.find("odd.json: "), std::string::npos) << error_;
      continue;
    }
    EXPECT_EQ(FindBadMarkup(ReadFile(File("odd.html"))), "");
  }
}

// The points of a curve may have their keys in any order; one without a score is refused.
TEST_F(CommandReportTest, CurvesOfSearchesHaveTheirScoreByItsName) {
  std::istringstream in;
  std::ostringstream out, err;
  ASSERT_EQ(RunSearch({"--model", "gpt2", "--cluster", "a100-sxm4-80gb:1x2", "--global-batch", "8",
                       "--seq", "512", "--cost-model", "analytical", "--json", "--quiet"},
                      in, out, err),
            kExitOk);
  auto answer = nlohmann::ordered_json::parse(out.str());
  ASSERT_FALSE(answer["curves"].empty());
  auto& points = answer["curves"].begin().value();
  ASSERT_FALSE(points.empty());
  const auto charts = [&] {
    WriteFileAtomically(File("search.json"), answer.dump());
    EXPECT_EQ(Report({File("search.json"), "-o", File("search.html")}), kExitOk) << error_;
    return ChartsOf(ReadFile(File("search.html")));
  };
  const std::vector<nlohmann::json> before = charts();
  for (auto& point : points) {
    nlohmann::ordered_json turned;
    turned["step_time_ms"] = point.at("step_time_ms");
    turned["seconds"] = point.at("seconds");
    turned["evaluations"] = point.at("evaluations");
    point = turned;
  }
  EXPECT_EQ(charts(), before);
  points[0].erase("step_time_ms");
  WriteFileAtomically(File("search.json"), answer.dump());
  EXPECT_EQ(Report({File("search.json"), "-o", File("search.html")}), kExitBadInput);
  EXPECT_NE(error_.find("search.json: is not what simulate, explain, search, whatif, train or "
                        "validate print as JSON"),
            std::string::npos)
      << error_;
}

}  // namespace
}  // namespace stagecraft
