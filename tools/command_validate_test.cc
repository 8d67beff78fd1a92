// validate, run in the test's process on small files of measurements.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "costmodel/shared_csv.h"
#include "tools/chart/page_testing.h"
#include "tools/verb/command.h"
#include "tools/verb/verb_testing.h"

namespace stagecraft {
namespace {

constexpr const char* kHeader =
    "id,source,layers,hidden,heads,seq,global_batch,micro_batch,tp,pp,dp,n_gpus,gpu_id,n_nodes,"
    "gpus_per_node,intra_kind,stack,model_kind,dtype,metric_kind,flop_convention,value_norm,group,"
    "primary,scored,why_not\n";

std::string Line(const std::string& id, int layers, const std::string& metric,
                 const std::string& value, const std::string& primary = "1",
                 const std::string& model_kind = "gpt") {
  return id + ",\"A, B\"," + std::to_string(layers) +
         ",1024,16,1024,16,4,2,1,2,4,a100-sxm4-80gb,1,4,nvlink3-nvswitch,megatron-2021," +
         model_kind + ",fp16," + metric + ",4x-full-attention," + value + ",g," + primary + ",1,\n";
}

class ValidateTest : public VerbTest {
 protected:
  int Run(const Args& args) { return VerbTest::Run(RunValidate, args); }
  nlohmann::json Json(const Args& args) { return VerbTest::Json(RunValidate, args); }
  std::string ErrorOf(const Args& args) { return VerbTest::ErrorOf(RunValidate, args); }
};

TEST_F(ValidateTest, CountsPrimaryRowsAndListsReasons) {
  const std::string file =
      Write("rows.csv", kHeader + Line("a-1", 4, "step_time", "0.1") +
                            Line("a-2", 4, "tflops_per_gpu_hw", "100", "0") +
                            Line("a-3", 4, "step_time", "0.2", "1", "a3c") +
                            "a-4,\"A, B\",,,,,,,,,,,,,,,,,,context,,,,,0,not a step\n");
  const nlohmann::json report = Json({"--against", file});
  EXPECT_EQ(report["command"], "validate");
  EXPECT_EQ(report["inputs"][0]["path"], file);
  ASSERT_EQ(report["sources"].size(), 2u);
  EXPECT_EQ(report["sources"][0]["source"], "A, B");
  EXPECT_EQ(report["sources"][0]["rows"], 2);
  EXPECT_EQ(report["sources"][0]["simulated"], 1);
  EXPECT_TRUE(report["sources"][1]["mape"].is_null());
  EXPECT_EQ(report["overall"]["rows"], 3);
  ASSERT_EQ(report["rows"].size(), 3u);
  EXPECT_GT(report["rows"][0]["predicted"].get<double>(), 0);
  EXPECT_EQ(report["rows"][0]["unit"], "s");
  EXPECT_EQ(report["rows"][0]["defaults_used"][0], "vocab 50257");
  EXPECT_EQ(report["rows"][2]["reason"], "model kind a3c is not simulated");
  EXPECT_TRUE(report["rows"][2]["predicted"].is_null());
  EXPECT_EQ(report["not_scored"][0]["reason"], "not a step");
}

TEST_F(ValidateTest, ConstantsAreFittedWithEachTableLeftOut) {
  const std::string first = Write("first.csv", kHeader + Line("a-1", 4, "step_time", "0.1"));
  const std::string second = Write("second.csv", kHeader + Line("b-1", 8, "step_time", "0.2"));
  const nlohmann::json fit = Json({"--against", first, second, "--fit-constants"})["fit"];
  ASSERT_EQ(fit["sources"].size(), 2u);
  EXPECT_EQ(fit["sources"][1]["source"], "second");
  EXPECT_LE(fit["mean"]["fitted"], fit["mean"]["in_use"]);
  EXPECT_GE(fit["sources"][0]["mape"]["left_out"], fit["sources"][0]["mape"]["fitted"]);
  EXPECT_EQ(ErrorOf({"--against", first, "--fit-constants"}),
            "--fit-constants: got steps of 1 tables, want two or more, so that one can be left "
            "out");
  EXPECT_EQ(ErrorOf({"--against", first, second, "--fit-constants", "--max-error", "5%"}),
            "--max-error: got one with --fit-constants, which judges no errors");
}

TEST_F(ValidateTest, TheTableNamesErrorsReasonsAndWhatIsNotScored) {
  const std::string file = Write("rows.csv", kHeader + Line("a-1", 4, "step_time", "0.1") +
                                                 Line("a-2", 4, "step_time", "0.2", "1", "a3c"));
  EXPECT_EQ(Run({"--against", file}), kExitOk);
  EXPECT_NE(out_.str().find("MAPE"), std::string::npos);
  EXPECT_NE(out_.str().find("worst rows\n  a-1 "), std::string::npos);
  EXPECT_NE(out_.str().find("    1  model kind a3c is not simulated\n"), std::string::npos);
}

// A row of a mixture of experts, by its name; `layers` empty: as the network has them.
std::string MixtureLine(const std::string& id, const std::string& model, const std::string& layers,
                        const std::string& kind = "moe") {
  return id + ",paper," + layers +
         ",,,4096,64,1,1,2,8,16,h100-sxm,2,8,nvlink4-nvswitch,megatron-core," + kind +
         ",bf16,step_time,,10,g,1,0,mixture of experts," + model + ",8\n";
}

TEST_F(ValidateTest, MixturesOfExpertsArePredictedApart) {
  std::string header = kHeader;
  header.insert(header.size() - 1, ",model,ep");
  const std::string file =
      Write("rows.csv", header + MixtureLine("m-1", "Mixtral 8x7B (top 2)", "8") +
                            MixtureLine("m-2", "Mixtral 9x9B", "") +
                            MixtureLine("m-3", "llama-2-7b", "") + MixtureLine("m-4", "", ""));
  const nlohmann::json report = Json({"--against", file});
  EXPECT_EQ(report["rows"].size(), 0u);
  EXPECT_EQ(report["overall"], nlohmann::json({{"metric_kinds", nlohmann::json::array()}}));
  EXPECT_EQ(report["not_scored"].size(), 4u);
  const nlohmann::json& mixtures = report["mixtures"];
  ASSERT_EQ(mixtures.size(), 4u);
  EXPECT_GT(mixtures[0]["predicted"].get<double>(), 0) << mixtures[0]["reason"];
  EXPECT_EQ(mixtures[0]["measured"], 10);
  EXPECT_EQ(mixtures[1]["reason"], "mixture of experts mixtral-9x9b is not known");
  EXPECT_EQ(mixtures[2]["reason"], "llama-2-7b is no mixture of experts");
  EXPECT_EQ(mixtures[3]["reason"], "the mixture of experts is not named");
  EXPECT_EQ(Run({"--against", file}), kExitOk);
  EXPECT_NE(out_.str().find("mixtures of experts, which no mean counts\n  m-1 "),
            std::string::npos);
  EXPECT_NE(out_.str().find("not predicted: mixture of experts mixtral-9x9b"), std::string::npos);
}

std::string Replaced(std::string text, const std::string& from, const std::string& to) {
  text.replace(text.find(from), from.size(), to);
  return text;
}

// Rows of two sources; the facts about one of them were inferred from its own rows.
class InferredTest : public ValidateTest {
 protected:
  std::string File() {
    const std::string row = Line("a-1", 4, "step_time", "0.1");
    return Write("rows.csv", kHeader +
                                 Replaced(row, "\"A, B\"", "\"Zero Bubble (Qi et al., ICLR24)\"") +
                                 Line("a-2", 4, "step_time", "0.1"));
  }
};

TEST_F(InferredTest, BothFiguresAreInTheJson) {
  const nlohmann::json report = Json({"--against", File()});
  const nlohmann::json& marked = report["sources"][0];
  EXPECT_EQ(marked["inferred_rows"], 1);
  EXPECT_NE(marked["mape"], marked["mape_without_inferred"]);
  ASSERT_EQ(marked["inferred"].size(), 2u);
  for (const nlohmann::json& part : marked["inferred"]) {
    EXPECT_TRUE(part["mape_without"].is_number());
    EXPECT_FALSE(part["origin"].get<std::string>().empty());
  }
  const nlohmann::json& row = report["rows"][0];
  EXPECT_TRUE(row["predicted_without_inferred"].is_number());
  EXPECT_NE(row["predicted_without_inferred"], row["predicted"]);
  ASSERT_EQ(row["inferred"].size(), 2u);
  EXPECT_TRUE(report["rows"][1]["inferred"].empty());
  EXPECT_TRUE(report["rows"][1]["predicted_without_inferred"].is_null());
  EXPECT_EQ(report["sources"][1]["inferred_rows"], 0);
  EXPECT_TRUE(report["sources"][1]["mape_without_inferred"].is_null());
  EXPECT_EQ(report["overall"]["inferred_rows"], 1);
  EXPECT_FALSE(report["sources"][0]["chosen_in_view"].empty());
  EXPECT_TRUE(report["sources"][1]["chosen_in_view"].empty());
}

TEST_F(InferredTest, TheTableMarksTheRowsAndNamesTheFacts) {
  EXPECT_EQ(Run({"--against", File()}), kExitOk);
  const std::string table = out_.str();
  EXPECT_NE(table.find("Zero Bubble (Qi et al., IC..*+ step_time"), std::string::npos) << table;
  EXPECT_NE(table.find("\nA, B                           step_time"), std::string::npos) << table;
  EXPECT_NE(table.find("  Zero Bubble (Qi et al., ICLR24): vocabulary 32000\n    step_time "),
            std::string::npos)
      << table;
  EXPECT_NE(table.find(
                "\n+ constants of the cost model that were chosen with some of these rows in view"),
            std::string::npos);
}

// Two nodes of four GPUs; nothing says which network connects them.
TEST_F(ValidateTest, WhatStandsForAnUnstatedNetworkIsNamed) {
  const std::string row = Replaced(Line("a-1", 4, "step_time", "0.1"),
                                   "2,1,2,4,a100-sxm4-80gb,1,4,", "2,1,4,8,a100-sxm4-80gb,2,4,");
  EXPECT_EQ(Run({"--against", Write("rows.csv", kHeader + row + row)}), kExitOk);
  EXPECT_NE(out_.str().find("\nrows whose source states no network, and what was assumed\n"
                            "      2  dgx-a100: 8 x 200 Gbit/s\n"),
            std::string::npos)
      << out_.str();
  EXPECT_EQ(Run({"--against", Write("one.csv", kHeader + Line("a-1", 4, "step_time", "0.1"))}),
            kExitOk);
  EXPECT_EQ(out_.str().find("states no network"), std::string::npos);
}

TEST_F(ValidateTest, IntervalsAreInTheJsonAndCounted) {
  const std::string file = Write("rows.csv", kHeader + Line("a-1", 4, "step_time", "100"));
  const nlohmann::json report = Json({"--against", file});
  const nlohmann::json& row = report["rows"][0];
  ASSERT_EQ(row["interval80"].size(), 2u);
  EXPECT_LE(row["interval80"][0], row["predicted"]);
  EXPECT_GE(row["interval80"][1], row["predicted"]);
  EXPECT_EQ(report["sources"][0]["interval_rows"], 1);
  EXPECT_EQ(report["sources"][0]["interval80_coverage"], 0);
  EXPECT_EQ(report["overall"]["interval80_coverage"], 0);
}

TEST_F(ValidateTest, TheSameFileGivesTheSameBytes) {
  std::string text = kHeader;
  for (int layers = 1; layers <= 40; ++layers) {
    text += Line("a-" + std::to_string(layers), layers, "step_time", "0.1");
  }
  const std::string file = Write("rows.csv", text);
  Run({"--against", file, "--json"});
  const std::string first = out_.str();
  Run({"--against", file, "--json"});
  EXPECT_EQ(first, out_.str());
  EXPECT_EQ(Json({"--against", file})["sources"][0]["spearman"].is_null(), true);
}

TEST_F(ValidateTest, ThePageHasTheFiguresOfTheJson) {
  const std::string times = kHeader + Line("a-1", 4, "step_time", "0.1") +
                            Line("a-2", 8, "step_time", "0.1") +
                            Line("a-3", 8, "step_time", "0.1", "0");
  const std::string rates = kHeader + Line("b-1", 4, "tflops_per_gpu_hw", "100");
  const nlohmann::json report = Json({"--against", Write("times.csv", times),
                                      Write("rates.csv", rates), "--report", Path("page.html")});
  EXPECT_EQ(err_.str(), "wrote " + Path("page.html") + "\n");
  const std::string page = Read(Path("page.html"));
  EXPECT_EQ(FindBadMarkup(page), "");
  EXPECT_EQ(page.find(folder_.string()), std::string::npos);
  EXPECT_NE(page.find("4 scored rows of times.csv, rates.csv; cost model learned; "),
            std::string::npos);
  EXPECT_EQ(CountOf(page, "<figure class=\"chart"), 1);  // of times; nothing is known of memory
  const nlohmann::json& sources = report["classes"][0]["sources"];
  ASSERT_EQ(sources.size(), 2u);
  for (const nlohmann::json& source : sources) {
    const std::string cells = fmt::format(
        ">{}</button><span class=\"origin\">A, B</span></td><td>{}</td><td>{:.1f}</td>"
        "<td>{:+.1f}</td><td>{:.1f}</td><td>{:.1f}</td>",
        source["source"].get<std::string>(), source["rows"].get<int>(),
        source["mape"].get<double>(), source["bias"].get<double>(),
        source["mape_factored"].get<double>(), source["interval80_coverage"].get<double>());
    EXPECT_NE(page.find(cells), std::string::npos) << cells << "\n" << page;
  }
  EXPECT_NE(page.find(fmt::format("<p class=\"chosen\" aria-live=\"polite\">3 rows: MAPE {:.1f} %,",
                                  report["classes"][0]["mape_by_rows"].get<double>())),
            std::string::npos);
  // A step time is shown as the row says, a rate as the time of the step.
  const double predicted = report["rows"][0]["predicted"];
  EXPECT_NE(page.find(fmt::format("predicted {:.4g} ms, measured 100 ms,", 1e3 * predicted)),
            std::string::npos);
}

TEST_F(ValidateTest, ThePageIsTheSameWhereverTheFilesAre) {
  const std::string rows = kHeader + Line("a-1", 4, "step_time", "0.1");
  for (const char* folder : {"one", "two"}) {
    const std::string file = Write(std::string(folder) + "/rows.csv", rows);
    EXPECT_EQ(Run({"--against", file, "--report", Path(std::string(folder) + ".html"), "--quiet"}),
              kExitOk);
    EXPECT_EQ(err_.str(), "");
  }
  EXPECT_EQ(Read(Path("one.html")), Read(Path("two.html")));
  // The other outputs do not depend on the page.
  Run({"--against", Path("one/rows.csv")});
  const std::string table = out_.str();
  Run({"--against", Path("one/rows.csv"), "--report", Path("one.html")});
  EXPECT_EQ(out_.str(), table);
}

TEST_F(ValidateTest, ATableWithoutRowsHasAPage) {
  EXPECT_EQ(Run({"--against", Write("rows.csv", kHeader), "--report", Path("page.html")}), kExitOk);
  const std::string page = Read(Path("page.html"));
  EXPECT_EQ(FindBadMarkup(page), "");
  EXPECT_EQ(CountOf(page, "There are no rows."), 2);
}

// What is not UTF-8 in a table is replaced.
TEST_F(ValidateTest, OddBytesDoNotSpoilThePage) {
  const std::string row = Replaced(Line("<b>\xff", 4, "step_time", "0.1"), "A, B", "\xc3<i>");
  EXPECT_EQ(Run({"--against", Write("rows.csv", kHeader + row), "--report", Path("page.html")}),
            kExitOk);
  const std::string page = Read(Path("page.html"));
  EXPECT_EQ(FindBadMarkup(page), "");
  EXPECT_NE(page.find(">&lt;b&gt;\xef\xbf\xbd</td>"), std::string::npos);
  EXPECT_NE(page.find(">\xef\xbf\xbd&lt;i&gt;</td>"), std::string::npos);
}

TEST_F(ValidateTest, NoPageIsWrittenForWhatIsRefused) {
  const std::string file = Write("rows.csv", kHeader + Line("a-1", 4, "step_time", "0.1"));
  const std::string bad = Write("bad.csv", "id\n");
  const std::string page = Path("page.html");
  EXPECT_EQ(ErrorOf({"--against", file, "--report", Path("page.txt")}),
            "--report: got \"" + Path("page.txt") + "\", want a file that ends in .html");
  EXPECT_EQ(ErrorOf({"--against", file, "--report", Path("none/page.html")}),
            "--report: " + Path("none/page.html") +
                ": no such directory, want a path in an existing one");
  EXPECT_NE(ErrorOf({"--against", bad, "--report", page}).find("bad.csv: header"),
            std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(page));
  // A validation that exceeds the threshold has a page.
  EXPECT_EQ(Run({"--against", file, "--max-error", "0%", "--report", page}), kExitThreshold);
  EXPECT_TRUE(std::filesystem::exists(page));
}

TEST_F(ValidateTest, ExceedsTheThreshold) {
  const std::string file = Write("rows.csv", kHeader + Line("a-1", 4, "step_time", "100"));
  EXPECT_EQ(Run({"--against", file, "--max-error", "10%"}), kExitThreshold);
  EXPECT_EQ(Run({"--against", file, "--max-error", "101"}), kExitOk);
}

// Files of steps have no columns id, value_norm and primary.
TEST_F(ValidateTest, ReadsAFolderOfPublishedRowsAndSteps) {
  Write("published/rows.csv", kHeader + Line("a-1", 4, "step_time", "0.1"));
  Write("steps/steps.csv",
        "layers,hidden,heads,seq,gbs,mbs,tp,pp,n_gpus,gpu_id,dtype,stack,model_kind,metric_kind,"
        "step_time_s,scored\n"
        "4,1024,16,1024,4,4,1,1,1,a100-sxm4-80gb,fp16,megatron-2021,gpt,step_time,0.1,1\n");
  const nlohmann::json report = Json({"--all", folder_.string()});
  ASSERT_EQ(report["rows"].size(), 2u);
  EXPECT_EQ(report["rows"][1]["id"], "steps-001");
  EXPECT_EQ(report["rows"][1]["source"], "steps");
  EXPECT_GT(report["rows"][1]["predicted"].get<double>(), 0);
  EXPECT_EQ(Json({"--all", folder_.string(), "--source", "steps"})["rows"].size(), 1u);
}

TEST_F(ValidateTest, BadFilesSayFileRowColumnAndWant) {
  const std::string row = Line("a-1", 4, "step_time", "0.1");
  std::string bad_number = row, bad_value = row, bad_flag = row, no_value = row;
  bad_number.replace(bad_number.find(",4,1024"), 7, ",4x,1024");
  bad_value.replace(bad_value.find(",0.1,"), 5, ",nan,");
  no_value.replace(no_value.find(",0.1,"), 5, ",,");
  bad_flag.replace(bad_flag.find(",1,1,\n"), 6, ",1,yes,\n");
  const std::tuple<const char*, std::string, const char*> cases[] = {
      {"empty.csv", "", ": got an empty file, want a header line"},
      {"column.csv", "id,gpu_id,metric_kind,scored,value_norm\n",
       ": header: got no column \"dtype\", want it"},
      {"value.csv", "gpu_id,dtype,metric_kind,scored\n",
       ": header: got neither column \"value_norm\" nor \"step_time_s\", want one"},
      {"number.csv", kHeader + bad_number,
       ": row 1 (line 2): column \"layers\": got \"4x\", want a whole number or nothing"},
      {"nan.csv", kHeader + row + bad_value,
       ": row 2 (line 3): column \"value_norm\": got \"nan\", want a finite number > 0"},
      {"nothing.csv", kHeader + no_value,
       ": row 1 (line 2): column \"value_norm\": got \"\", want a finite number > 0"},
      {"flag.csv", kHeader + bad_flag,
       ": row 1 (line 2): column \"scored\": got \"yes\", want 0 or 1"},
      {"quote.csv", kHeader + std::string("\"a,b\n"),
       ": line 2: got an opening quote without a closing one, want both"},
  };
  for (const auto& [name, text, error] : cases) {
    const std::string file = Write(name, text);
    EXPECT_EQ(ErrorOf({"--against", file}), file + error);
  }
}

TEST_F(ValidateTest, BadFlagsSayWhatWasWanted) {
  const std::string file = Write("rows.csv", kHeader + Line("a-1", 4, "step_time", "0.1"));
  const std::string missing = (folder_ / "missing.csv").string();
  std::filesystem::create_directories(folder_ / "none");
  const std::string none = (folder_ / "none").string();
  EXPECT_EQ(ErrorOf({}), "--against: got no file, want one (or --all DIR)");
  EXPECT_NE(ErrorOf({"--against", missing}).find("missing.csv"), std::string::npos);
  EXPECT_EQ(
      ErrorOf({"--all", none}),
      "--all: got \"" + none + "\", want a folder with .csv files, or with published/ and steps/");
  EXPECT_EQ(ErrorOf({"--against", file, "--max-error", "-1%"}),
            "--max-error: got \"-1%\", want a percentage such as 10%");
  EXPECT_EQ(ErrorOf({"--against", file, "--source", "A, C"}),
            "--source: no row of the files is from \"A, C\"; did you mean \"A, B\"?");
  EXPECT_EQ(ErrorOf({"--against", file, "--against", file}), file + ": given twice, want it once");
}

// Every row of the shared tables is either scored or listed separately, and every source whose
// facts were inferred from its own rows has a second figure.
TEST_F(ValidateTest, TheSharedTablesAreReportedWhole) {
  if (!HasSharedData()) GTEST_SKIP() << kNoSharedData;
  size_t scored = 0, apart = 0;
  for (const char* folder : {"published", "steps"}) {
    for (const auto& file : std::filesystem::directory_iterator(SharedDataPath(folder))) {
      if (file.path().extension() != ".csv") continue;
      const std::string name = std::string(folder) + "/" + file.path().filename().string();
      for (const CsvRow& row : ReadSharedTable(name)) ++(row.at("scored") == "1" ? scored : apart);
    }
  }
  ASSERT_GT(scored, 0u);
  const nlohmann::json report = Json({"--all", SharedDataPath("")});
  EXPECT_EQ(report["overall"]["rows"], scored);
  EXPECT_EQ(report["rows"].size(), scored);
  EXPECT_EQ(report["not_scored"].size(), apart);
  int marked = 0;
  for (const nlohmann::json& source : report["sources"]) {
    EXPECT_EQ(source["inferred_rows"] > 0, source["mape_without_inferred"].is_number()) << source;
    EXPECT_EQ(source["inferred_rows"] > 0, !source["inferred"].empty()) << source;
    EXPECT_EQ(source["interval_rows"] > 0, source["interval80_coverage"].is_number()) << source;
    EXPECT_EQ(source["groups"] > 0, source["regret"].is_number()) << source;
    marked += source["inferred_rows"] > 0 ? 1 : 0;
  }
  EXPECT_GT(marked, 0);
}

}  // namespace
}  // namespace stagecraft
