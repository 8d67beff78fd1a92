#include "tools/check/check_samples.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "costmodel/check.h"
#include "costmodel/learned/samples/sample_file.h"
#include "costmodel/op.h"
#include "costmodel/proto_file.h"
#include "costmodel/units.h"
#include "tools/check/check_file.h"

namespace stagecraft {
namespace {

std::string Path(const std::string& name) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "check_samples_test";
  std::filesystem::create_directories(folder);
  return (folder / name).string();
}

std::vector<Sample> OneSample() {
  Sample sample;
  sample.op = Op::Gemm(DType::kBf16, 64, 64, 64);
  sample.gpu = "t4-16gb";
  sample.time = 9_us;
  sample.source = "us";
  return {sample};
}

FileSummary Check(const std::string& name) { return CheckFile(Path(name), CheckContext()); }

TEST(CheckSamplesTest, SamplesAreRecognisedInEveryFormat) {
  for (const char* name : {"a.csv", "a.csv.gz"}) WriteSamplesCsv(Path(name), OneSample());
  for (const char* name : {"a.pb", "a.textproto"}) WriteSamplesProto(Path(name), OneSample());
  for (const char* name : {"a.csv", "a.csv.gz", "a.pb", "a.textproto"}) {
    const FileSummary summary = Check(name);
    EXPECT_EQ(summary.kind, "samples") << name;
    // A T4 has no bf16 arithmetic.
    EXPECT_EQ(summary.detail, "1 samples of gemm bf16; on t4-16gb; source: us\n  " + Path(name) +
                                  ": 1 of 1 samples are bf16 GEMMs, for which t4-16gb has no "
                                  "rate; the worst is sample 0, gemm 64x64x64 bf16 on t4-16gb in "
                                  "9.000 us")
        << name;
  }
}

TEST(CheckSamplesTest, ThirdPartyTablesAreNamedAndTheirSkippedRowsAreCounted) {
  WriteFileAtomically(Path("b.csv"),
                      "gpu_id,dtype,m,n,k,flops,us,valid,invalid_reason\n"
                      "v100-sxm2-16gb,fp16,0,0,0,0,16.62,0,zero_flops\n"
                      "v100-sxm2-16gb,fp16,128,128,128,4194304,29.675,1,\n");
  EXPECT_EQ(Check("b.csv").detail,
            "Alpa GEMM, 1 samples of gemm fp16; on v100-sxm2-16gb; source: Alpa; skipped 1 rows "
            "that are not measurements");
}

TEST(CheckSamplesTest, DamagedTablesAreRefused) {
  WriteFileAtomically(Path("c.csv"), "kind,gpu,time_us\ngemm,t4-16gb,x\n");
  EXPECT_THROW(Check("c.csv"), InputError);
  WriteFileAtomically(Path("d.csv.gz"), "\x1f\x8b");
  EXPECT_THROW(Check("d.csv.gz"), InputError);
}

}  // namespace
}  // namespace stagecraft
