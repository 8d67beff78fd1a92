#include "tools/recorded/attention_calls.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace stagecraft {
namespace {

using Dims = std::vector<std::vector<int64_t>>;
using Texts = std::vector<std::string>;

// Two sequences of 1024 tokens, 8 heads of queries and 2 of keys, of 64.
const Dims kHeadsFirst = {{2, 8, 1024, 64}, {2, 2, 1024, 64}, {2, 2, 1024, 64}, {}, {}, {}};
const Texts kTypes = {"c10::BFloat16", "c10::BFloat16", "c10::BFloat16"};

TEST(AttentionCallsTest, AnOperatorTellsSizesAndWhetherItIsCausal) {
  const auto call = AttentionOfOperator("aten::_scaled_dot_product_flash_attention", kHeadsFirst,
                                        kTypes, Texts{"", "", "", "0.", "True", "False"});
  ASSERT_TRUE(call);
  EXPECT_EQ(call->is_causal, true);
  EXPECT_EQ(call->obstacle, nullptr);
  Op want = Op::Attention(DType::kBf16, Direction::kForward, 16, 1024, 1024, 64, false);
  want.sequences = 2;
  want.kv_batch = 4;
  want.attention_kernel = AttentionKernel::kFlash;
  EXPECT_EQ(call->op, want);
}

TEST(AttentionCallsTest, EveryOperatorHasItsInputsAtTheirPlaces) {
  const Dims rows_first = {{2, 1024, 8, 64}, {2, 1024, 2, 64}, {2, 1024, 2, 64}};
  const auto with = [](Dims dims, size_t before, size_t size) {
    for (size_t i = 0; i < before; ++i) dims.insert(dims.begin(), {2, 8, 1024, 64});
    dims.resize(size);
    return dims;
  };
  const auto values = [](size_t size, size_t causal, const char* text) {
    Texts all(size);
    all[causal] = text;
    return all;
  };
  struct Case {
    const char* name;
    Dims dims;
    size_t causal;
    Direction direction;
    AttentionKernel kernel = AttentionKernel::kFlash;
  };
  const Case cases[] = {
      {"aten::_scaled_dot_product_flash_attention_backward", with(kHeadsFirst, 1, 14), 11,
       Direction::kBackward},
      {"aten::_flash_attention_forward", with(rows_first, 0, 10), 8, Direction::kForward},
      {"aten::_flash_attention_backward", with(rows_first, 1, 17), 11, Direction::kBackward},
      {"aten::_scaled_dot_product_cudnn_attention", with(kHeadsFirst, 0, 8), 6, Direction::kForward,
       AttentionKernel::kCudnn},
      {"aten::_scaled_dot_product_cudnn_attention_backward", with(kHeadsFirst, 1, 16), 14,
       Direction::kBackward, AttentionKernel::kCudnn},
      {"flash_attn::_flash_attn_forward", with(rows_first, 0, 11), 5, Direction::kForward},
      {"flash_attn::_flash_attn_backward", with(rows_first, 1, 18), 11, Direction::kBackward}};
  for (const Case& one : cases) {
    const Texts types(one.dims.size(), "c10::Half");
    for (const char* text : {"True", "False"}) {
      const auto call =
          AttentionOfOperator(one.name, one.dims, types, values(one.dims.size(), one.causal, text));
      ASSERT_TRUE(call) << one.name;
      EXPECT_EQ(call->is_causal, text == std::string("True")) << one.name;
      EXPECT_EQ(call->op.direction, one.direction) << one.name;
      EXPECT_EQ(call->op.attention_kernel, one.kernel) << one.name;
      EXPECT_EQ(call->op.batch, 16) << one.name;
      EXPECT_EQ(call->op.kv_batch, 4) << one.name;
      EXPECT_EQ(call->op.m, 1024) << one.name;
      EXPECT_EQ(call->op.dtype, DType::kFp16) << one.name;
      EXPECT_EQ(call->obstacle, nullptr) << one.name;
    }
    const auto untold = AttentionOfOperator(one.name, one.dims, types, Texts());
    ASSERT_TRUE(untold) << one.name;
    EXPECT_EQ(untold->is_causal, std::nullopt) << one.name;
  }
}

TEST(AttentionCallsTest, WhatNoSampleDescribesIsAnObstacle) {
  const auto obstacle = [](const char* name, const Dims& dims, const Texts& values) {
    const auto call = AttentionOfOperator(name, dims, Texts(dims.size(), "c10::BFloat16"), values);
    return std::string(call && call->obstacle != nullptr ? call->obstacle : "");
  };
  const char* const flash = "aten::_scaled_dot_product_flash_attention";
  EXPECT_EQ(obstacle(flash, kHeadsFirst, {"", "", "", "0.1", "True"}), "they drop values");
  Dims masked = kHeadsFirst;
  masked[3] = {2, 1, 1024, 1024};
  EXPECT_EQ(obstacle("aten::_scaled_dot_product_cudnn_attention", masked, {}), "they have a mask");
  Dims packed = {{2, 1024, 8, 64}, {2, 1024, 8, 64}, {2, 1024, 8, 64}, {3}, {3}};
  EXPECT_EQ(obstacle("aten::_flash_attention_forward", packed, {}),
            "their sequences have lengths of their own");
  EXPECT_EQ(obstacle("flash_attn::_flash_attn_forward", packed,
                     {"", "", "", "0.", "0.1", "True", "4095", "0"}),
            "they have a window");
  Dims wide = kHeadsFirst;
  wide[2][3] = 128;
  EXPECT_EQ(obstacle(flash, wide, {}), "their values have another size than their keys");
}

TEST(AttentionCallsTest, OtherOperatorsAndSizesThatDoNotFitAreNone) {
  EXPECT_FALSE(AttentionOfOperator("aten::mm", kHeadsFirst, kTypes, {}));
  Dims odd = kHeadsFirst;
  odd[1][1] = 3;  // 8 heads of queries do not share 3
  const char* const flash = "aten::_scaled_dot_product_flash_attention";
  EXPECT_FALSE(AttentionOfOperator(flash, odd, kTypes, {}));
  EXPECT_FALSE(AttentionOfOperator(flash, Dims{{2, 8, 1024, 64}}, kTypes, {}));
  EXPECT_FALSE(AttentionOfOperator(flash, kHeadsFirst, Texts{"long int"}, {}));
  constexpr int64_t kMany = (int64_t{1} << 40) - 1;
  const auto alike = [](const std::vector<int64_t>& sizes) { return Dims(3, sizes); };
  EXPECT_FALSE(AttentionOfOperator(flash, alike({kMany, kMany, 4, 64}), kTypes, {}));
  EXPECT_FALSE(AttentionOfOperator(flash, alike({1, kMany, kMany, 64}), kTypes, {}));
  EXPECT_TRUE(AttentionOfOperator(flash, alike({1, kMany, 4, 64}), kTypes, {}));
}

TEST(AttentionCallsTest, KernelsOfFlashAttention2TellByTheirTemplates) {
  const std::string traits =
      "Flash_fwd_kernel_traits<128, 128, 32, 4, false, false, cutlass::bfloat16_t, "
      "Flash_kernel_traits<128, 128, 32, 4, cutlass::bfloat16_t> >";
  const auto forward = [&](const std::string& flags) {
    return AttentionOfKernel("void flash::flash_fwd_kernel<" + traits + ", " + flags +
                             ">(flash::Flash_fwd_params)");
  };
  AttentionName told = forward("false, true, false, false, true, true, false, false");
  EXPECT_EQ(told.is_causal, true);
  EXPECT_EQ(told.is_local, false);
  EXPECT_EQ(told.has_dropout, false);
  EXPECT_EQ(told.kernel, AttentionKernel::kFlash2);
  EXPECT_EQ(forward("true, false, true, false, true, true, false").has_dropout, true);
  EXPECT_EQ(forward("true, false, true, false, true, true, false").is_local, true);
  // Before version 2.3 the third argument is not whether the kernel is local.
  told = forward("false, true, true, true, false");
  EXPECT_EQ(told.is_causal, true);
  EXPECT_EQ(told.is_local, false);
  told = AttentionOfKernel(
      "void flash::flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<Flash_bwd_kernel_traits<128, 64, "
      "128, 8, 2, 4, 2, false, false, cutlass::half_t>, false, true, false, false, true, true, "
      "false>(flash::Flash_bwd_params)");
  EXPECT_EQ(told.is_causal, true);
  EXPECT_EQ(told.is_local, false);
  told = AttentionOfKernel(
      "_ZN5flash16flash_fwd_kernelI23Flash_fwd_kernel_traitsILi128ELi128ELi32ELi4ELb0ELb0EN7cutlass"
      "10bfloat16_tE19Flash_kernel_traitsILi128ELi128ELi32ELi4ES2_EELb0ELb1ELb0ELb0ELb0ELb1ELb0ELb0"
      "EEvNS_16Flash_fwd_paramsE");
  EXPECT_EQ(told.is_causal, true);
  EXPECT_EQ(told.has_dropout, false);
  EXPECT_EQ(AttentionOfKernel("void flash::flash_bwd_dot_do_o_kernel<true, Traits>(x)").is_causal,
            std::nullopt);
}

TEST(AttentionCallsTest, KernelsOfFlashAttention3TellAfterTheirArchitecture) {
  const std::string name =
      "void cutlass::device_kernel<flash::enable_sm90_or_later<flash::FlashAttnFwdSm90<flash::"
      "CollectiveMainloopFwdSm90<2, cute::tuple<cute::C<1>, cute::C<1>, cute::C<1> >, cute::tuple<"
      "cute::C<128>, cute::C<128>, cute::C<128> >, 128, cutlass::bfloat16_t, float, cutlass::arch::"
      "Sm90, true, false, false, false>, flash::CollectiveEpilogueFwd<true> > > >";
  const AttentionName told = AttentionOfKernel(name);
  EXPECT_EQ(told.is_causal, true);
  EXPECT_EQ(told.is_local, false);
  EXPECT_EQ(told.kernel, AttentionKernel::kFlash3);
  EXPECT_EQ(AttentionOfKernel("cudnn_generated_fort_native_sdpa_sm90_flash_fprop").is_causal,
            std::nullopt);
}

}  // namespace
}  // namespace stagecraft
