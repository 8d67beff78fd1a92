// Small tables of samples, for tests of the verbs that read such tables.
#pragma once

#include <fmt/core.h>

#include <string>

#include "tools/verb/verb_testing.h"

namespace stagecraft {

inline constexpr const char* kSampleHeader = "kind,gpu,time_us,dtype,m,n,k,split,source\n";

// Returns rows of forty GEMMs on a GPU type that computes at `teraflop_per_s` and launches a kernel
// in 4 us; every fifth is a "test" row.
inline std::string GemmRows(const std::string& gpu, double teraflop_per_s) {
  std::string rows;
  for (int i = 0; i < 40; ++i) {
    const double m = 128 << (i % 5), n = 1024 * (1 + i / 5 % 4), k = 1024 * (1 + i / 20);
    const double us = 4 + 2e-6 * m * n * k / teraflop_per_s * (1 + 0.01 * (i % 3));
    rows += fmt::format("gemm,{},{:.3f},bf16,{},{},{},{},lab\n", gpu, us, m, n, k,
                        i % 5 == 0 ? "test" : "train");
  }
  return rows;
}

class SampleVerbTest : public VerbTest {
 protected:
  void SetUp() override {
    VerbTest::SetUp();
    two_ = Write("two.csv",
                 kSampleHeader + GemmRows("a100-sxm4-80gb", 230) + GemmRows("h100-sxm5-80gb", 600));
  }

  std::string two_;  // the path of a table of two GPU types
};

}  // namespace stagecraft
