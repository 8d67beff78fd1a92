// import nsys --samples and --collectives: what exports of Nsight Systems give for fit.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "tools/recorded/nsys_testing.h"
#include "tools/verb/verb_testing.h"

namespace stagecraft {
namespace {

class ImportNsysTest : public VerbTest {
 protected:
  // Imports an export with samples; returns the report.
  nlohmann::json Samples(const NsysShape& shape, const Args& more = {}) {
    return Json(RunImport, Line(shape, "--samples", "s.csv", more));
  }
  nlohmann::json Collectives(const NsysShape& shape, const std::string& cluster) {
    return Json(RunImport, Line(shape, "--collectives", "c.csv", {"--cluster", cluster}));
  }
  Args Line(const NsysShape& shape, const std::string& flag, const std::string& table,
            const Args& more) {
    const std::string path = Path("report" + std::to_string(++exports_) + ".sqlite");
    NsysExport(shape, path).Write();
    Args line = {"nsys", path, "-o", Path("m.pb"), flag, Path(table)};
    line.insert(line.end(), more.begin(), more.end());
    return line;
  }

  bool HasRow(const std::string& table, const std::string& part) const {
    return Read(Path(table)).find(part) != std::string::npos;
  }
  static bool Says(const nlohmann::json& report, const std::string& note) {
    return report["notes"].dump().find(note) != std::string::npos;
  }

 private:
  int exports_ = 0;
};

// The first of three steps is left out: two steps of two ranks.
TEST_F(ImportNsysTest, ProductsAndAttentionBecomeSamplesInTheFormatThatTheirKernelsName) {
  const nlohmann::json report = Samples({});
  EXPECT_EQ(report["samples"]["rows"], 2);
  EXPECT_EQ(report["samples"]["attention_rows"], 1);
  EXPECT_TRUE(HasRow("s.csv",
                     "gemm,bf16,forward,0,training,1,0,1,4096,3584,8192,0,1,h100-sxm5-80gb,300,0,4,"
                     "0,0,linear,"))
      << Read(Path("s.csv"));
  EXPECT_TRUE(HasRow("s.csv",
                     "attention,bf16,forward,1,training,2,4,16,1024,1024,128,0,1,h100-sxm5-80gb,50,"
                     "0,4,0,0,flash2_attention,"))
      << Read(Path("s.csv"));
  EXPECT_EQ(report["steps_ms"], (std::vector<double>{2, 2, 1.2}));
}

TEST_F(ImportNsysTest, KernelsThatNameNoFormatNeedAWord) {
  const NsysShape shape = {.product_kernel = "my_gemm", .attention_kernel = "my_attention"};
  const Args line = Line(shape, "--samples", "s.csv", {});
  EXPECT_NE(ErrorOf(RunImport, line).find("--samples: got no matrix product and no attention"),
            std::string::npos);
  const nlohmann::json report =
      Samples(shape, {"--sample-precision", "fp16", "--attention-causal", "false"});
  EXPECT_EQ(report["samples"]["rows"], 2);
  EXPECT_TRUE(HasRow("s.csv", "gemm,fp16,")) << Read(Path("s.csv"));
  EXPECT_TRUE(HasRow("s.csv", "attention,fp16,forward,0,")) << Read(Path("s.csv"));
  // A name that tells the format is not overruled.
  Samples({}, {"--sample-precision", "fp16"});
  EXPECT_TRUE(HasRow("s.csv", "gemm,bf16,")) << Read(Path("s.csv"));
  // The first of three steps is left out: two calls of two ranks.
  const nlohmann::json half = Samples({.attention_kernel = "flash_fwd"});
  EXPECT_TRUE(Says(half,
                   "4 of 4 calls of attention give no sample: neither their inputs nor their "
                   "kernels tell whether they are causal"))
      << half["notes"];
}

TEST_F(ImportNsysTest, WithoutSizesThereAreNoSamples) {
  const std::string error =
      ErrorOf(RunImport, Line({.has_sizes = false}, "--samples", "s.csv", {}));
  EXPECT_NE(error.find("or emit_nvtx(record_shapes=True)"), std::string::npos) << error;
  EXPECT_FALSE(std::filesystem::exists(Path("m.pb")));
}

// The faster rank tells the time: 700 us.
TEST_F(ImportNsysTest, CollectivesOfARecordedGroupBecomeATable) {
  for (const bool is_grouped : {false, true}) {
    const nlohmann::json report = Collectives({.is_grouped = is_grouped}, "h100-sxm:1x2");
    EXPECT_EQ(report["collectives"]["rows"], 1) << report;
    EXPECT_TRUE(HasRow("c.csv", "67108864")) << Read(Path("c.csv"));
    EXPECT_TRUE(HasRow("c.csv", "all_reduce")) << Read(Path("c.csv"));
    const auto& classes = report["op_classes"];
    const auto reduce = std::find_if(classes.begin(), classes.end(),
                                     [](const auto& row) { return row["class"] == "all-reduce"; });
    ASSERT_NE(reduce, classes.end());
    EXPECT_DOUBLE_EQ((*reduce)["waits_ms"], 0.1);
  }
}

TEST_F(ImportNsysTest, AJobThatWasRecordedAsAWholeNeedsNoSizesOfItsCommunicators) {
  EXPECT_EQ(Collectives({.has_communicator = false}, "h100-sxm:1x2")["collectives"]["rows"], 1);
  const std::string error = ErrorOf(RunImport, Line({.has_communicator = false}, "--collectives",
                                                    "c.csv", {"--cluster", "h100-sxm:1x8"}));
  EXPECT_NE(error.find("--collectives: got no collective with its bytes and ranks"),
            std::string::npos)
      << error;
}

TEST_F(ImportNsysTest, RangesWithoutPayloadsTellNoBytes) {
  const std::string error = ErrorOf(RunImport, Line({.has_payloads = false}, "--collectives",
                                                    "c.csv", {"--cluster", "h100-sxm:1x2"}));
  EXPECT_NE(error.find("--collectives: got no collective with its bytes and ranks"),
            std::string::npos)
      << error;
}

TEST_F(ImportNsysTest, SamplesCanBeFittedAndEvaluated) {
  Samples({});
  EXPECT_NE(Json(RunEvaluate, {"--samples", Path("s.csv")}).dump().find("attention"),
            std::string::npos);
  Collectives({}, "h100-sxm:1x2");
  EXPECT_NE(Json(RunEvaluate, {"--network", Path("c.csv")}).dump().find("all"), std::string::npos);
}

TEST_F(ImportNsysTest, AWordOnTheFormatNeedsSamples) {
  const std::string path = Path("report.sqlite");
  NsysExport({}, path).Write();
  EXPECT_EQ(ErrorOf(RunImport, {"nsys", path, "-o", Path("m.pb"), "--sample-precision", "bf16"}),
            "--sample-precision: got it without --samples, want both");
  EXPECT_NE(ErrorOf(RunImport, {"kineto", path, "-o", Path("m.pb"), "--samples", Path("s.csv"),
                                "--sample-precision", "bf16"})
                .find("--sample-precision: got a value that import kineto does not use"),
            std::string::npos);
}

}  // namespace
}  // namespace stagecraft
