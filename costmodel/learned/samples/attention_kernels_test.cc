#include "costmodel/learned/samples/attention_kernels.h"

#include <gtest/gtest.h>

#include "costmodel/check.h"

namespace stagecraft {
namespace {

TEST(AttentionKernelsTest, NamesSayWhichKernelRan) {
  const AttentionKernels& kernels = AttentionKernels::Embedded();
  EXPECT_EQ(kernels.KernelOf("flash_attention"), AttentionKernel::kFlash);
  EXPECT_EQ(kernels.KernelOf("trtllm_mha fp8 keys"), AttentionKernel::kFused);
  EXPECT_EQ(kernels.KernelOf("triton"), AttentionKernel::kTriton);
  EXPECT_EQ(kernels.KernelOf("flash2"), AttentionKernel::kFlash2);
  EXPECT_EQ(kernels.KernelOf("flash3_varlen"), AttentionKernel::kFlash3);
  EXPECT_EQ(kernels.KernelOf("cudnn"), AttentionKernel::kCudnn);
  EXPECT_EQ(kernels.KernelOf("a kernel of ours"), AttentionKernel::kUsual);
}

TEST(AttentionKernelsTest, WhatANameSaysIsData) {
  const AttentionKernels kernels = AttentionKernels::Parse(
      "kernels { name_part: \"fast\" kernel: FUSED origin: \"a paper\" }", "t");
  EXPECT_EQ(kernels.KernelOf("my_fast_kernel"), AttentionKernel::kFused);
  EXPECT_EQ(kernels.KernelOf("flash_attention"), AttentionKernel::kUsual);
  for (const char* text :
       {"kernels { name_part: \"fast\" kernel: FUSED }", "kernels { kernel: FUSED origin: \"p\" }",
        "kernels { name_part: \"fast\" origin: \"p\" }"}) {
    EXPECT_THROW(AttentionKernels::Parse(text, "t"), InputError) << text;
  }
}

}  // namespace
}  // namespace stagecraft
