#include "tools/recorded/kernel_names.h"

#include <gtest/gtest.h>

#include "tools/recorded/gemm_shapes.h"

namespace stagecraft {
namespace {

TEST(KernelNamesTest, KernelsOfUsualLibrariesAreOfTheirClass) {
  const std::pair<const char*, KernelClass> kernels[] = {
      {"nvjet_hsh_256x128_64x4_2x1_v_bz_NNT", KernelClass::kGemm},
      {"sm80_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize160x128x32", KernelClass::kGemm},
      {"ampere_fp16_s16816gemm_fp16_128x128_ldg8_f2f_stages_32x5_nn", KernelClass::kGemm},
      {"void cutlass::Kernel<cutlass_80_tensorop_bf16_s16816gemm_relu>", KernelClass::kGemm},
      {"Cijk_Ailk_Bljk_BBH_MT128x128x32_MI16x16x16x1", KernelClass::kGemm},
      {"void flash::flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<>", KernelClass::kAttention},
      {"fmha_cutlassF_bf16_aligned_64x64_rf_sm80", KernelClass::kAttention},
      {"cudnn_generated_fort_native_sdpa_sm90_flash_fprop", KernelClass::kAttention},
      {"void cudnn::winograd_nonfused::winogradForwardData4x4", KernelClass::kConvolution},
      {"void at::native::(anonymous namespace)::vectorized_layer_norm_kernel", KernelClass::kNorm},
      {"void at::native::(anonymous namespace)::cunn_SoftMaxForward<4>", KernelClass::kSoftmax},
      {"void at::native::vectorized_elementwise_kernel<4, GeluFunctor>", KernelClass::kElementwise},
      {"triton_poi_fused_mul_silu_3", KernelClass::kElementwise},
      {"void at::native::(anonymous namespace)::multi_tensor_apply_kernel<>",
       KernelClass::kOptimizer},
      {"ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
       KernelClass::kAllReduce},
      {"ncclKernel_ReduceScatter_RING_LL128_Sum_half(ncclWorkElem)", KernelClass::kReduceScatter},
      {"ncclDevKernel_AllGather_RING_LL", KernelClass::kAllGather},
      {"ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)", KernelClass::kSendRecv},
      {"my_secret_kernel", KernelClass::kOther},
  };
  for (const auto& [name, kind] : kernels) EXPECT_EQ(ClassOfKernel(name), kind) << name;
}

TEST(KernelNamesTest, RangesTellPhaseLayerMicroBatchAndStep) {
  EXPECT_EQ(PlaceByName("ProfilerStep#12").step, 12);
  EXPECT_EQ(PlaceByName("iteration 3").step, 3);
  EXPECT_EQ(PlaceByName("Optimizer.step#AdamW.step").step, -1);
  EXPECT_EQ(PlaceByName("Optimizer.step#AdamW.step").phase, Phase::kOptimizer);
  EXPECT_EQ(PlaceByName("Optimizer.zero_grad#AdamW.zero_grad").phase, std::nullopt);
  EXPECT_EQ(PlaceByName("forward-compute").phase, Phase::kForward);
  EXPECT_EQ(PlaceByName("backward-send").phase, Phase::kSendBackward);
  EXPECT_EQ(PlaceByName("forward_backward_func").phase, std::nullopt);
  EXPECT_EQ(PlaceByName("FSDP::post_backward_reduce").phase, Phase::kGradReduce);
  EXPECT_EQ(PlaceByName("autograd::engine::evaluate_function: MmBackward0").phase,
            Phase::kBackward);
  EXPECT_EQ(PlaceByName("model.layers.17.mlp").layer, 17);
  EXPECT_EQ(PlaceByName("layer0.mlp.fc1").layer, 0);
  EXPECT_EQ(PlaceByName("nn.Module: LlamaDecoderLayer_3").layer, 3);
  EXPECT_EQ(PlaceByName("transformer.h.5.attn").layer, 5);
  EXPECT_EQ(PlaceByName("forward micro-batch 7").micro_batch, 7);
  EXPECT_EQ(PlaceByName("F mb3").micro_batch, 3);
  EXPECT_EQ(PlaceByName("aten::layer_norm").layer, -1);
}

TEST(KernelNamesTest, KernelsOfProductsAndAttentionNameTheFormatOfTheirOperands) {
  const std::pair<const char*, std::optional<DType>> kernels[] = {
      {"nvjet_hsh_256x128_64x4_2x1_v_bz_NNT", DType::kFp16},
      {"nvjet_tst_192x192_64x4_2x1_v_bz_coopB_TNT", DType::kBf16},
      {"nvjet_sm100_tst_128x256_64x6_2x1_2cta_v_bz_TNT", DType::kBf16},
      {"nvjet_qqtst_128x256_128x4_2x1_v_bz_TNT", DType::kFp8},
      {"nvjet_sm100", std::nullopt},
      {"sm80_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize160x128x32", DType::kBf16},
      {"sm80_xmma_gemm_f16f16_f16f32_f32_nn_n_tilesize96x128x32", DType::kFp16},
      {"sm80_xmma_gemm_f32f32_tf32f32_f32_nn_n_tilesize96x128x32", DType::kTf32},
      {"sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize32x32x8", DType::kFp32},
      {"sm89_xmma_gemm_e4m3bf16_e4m3f32_f32_tn_n_tilesize128x256x64", DType::kFp8},
      {"ampere_fp16_s16816gemm_fp16_128x128_ldg8_f2f_stages_32x5_nn", DType::kFp16},
      {"void cutlass::Kernel<cutlass_80_tensorop_bf16_s16816gemm_relu>", DType::kBf16},
      {"cutlass_80_tensorop_s1688gemm_128x128_16x5_nn_align4", DType::kTf32},
      {"volta_fp16_s884gemm_fp16_128x64_ldg8_f2f_nn", DType::kFp16},
      {"volta_h884gemm_256x64_ldg8_nn", DType::kFp16},
      {"ampere_sgemm_128x64_nn", DType::kFp32},
      {"void gemmSN_NN_kernel<float, 128, 2, 4, 8, 3, 4>", DType::kFp32},
      {"void splitKreduce_kernel<32, 16, int, float, __nv_bfloat16, float>", DType::kBf16},
      {"void flash_fwd_kernel<Flash_fwd_kernel_traits<128, 128, 64, 4, false, false, "
       "cutlass::half_t>>",
       DType::kFp16},
      {"cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_7_64x128x128",
       std::nullopt},
      {"Cijk_Ailk_Bljk_BBH_MT128x128x32_MI16x16x16x1", std::nullopt},
  };
  for (const auto& [name, format] : kernels) EXPECT_EQ(FormatOfKernel(name), format) << name;
}

TEST(KernelNamesTest, OperatorsTellTheSizesOfTheirProducts) {
  using Dims = std::vector<std::vector<int64_t>>;
  const std::vector<std::string> types(3, "c10::BFloat16");
  EXPECT_EQ(GemmOfOperator("aten::mm", Dims{{4096, 8192}, {8192, 3584}}, types),
            Op::Gemm(DType::kBf16, 4096, 3584, 8192));
  EXPECT_EQ(GemmOfOperator("aten::addmm", Dims{{3584}, {4096, 8192}, {8192, 3584}}, types),
            Op::Gemm(DType::kBf16, 4096, 3584, 8192));
  EXPECT_EQ(GemmOfOperator("aten::bmm", Dims{{16, 64, 32}, {16, 32, 64}}, types),
            Op::Gemm(DType::kBf16, 64, 64, 32, 16));
  EXPECT_EQ(GemmOfOperator("aten::mm", Dims{{4096, 8192}, {4096, 3584}}, types), std::nullopt);
  EXPECT_EQ(GemmOfOperator("aten::mm", Dims{{4096, 8192}, {8192, 0}}, types), std::nullopt);
  // More rows than 64 bits count.
  const int64_t many = (int64_t{1} << 40) - 1;
  EXPECT_EQ(GemmOfOperator("aten::matmul", Dims{{many, many, 4}, {4, 4}}, types), std::nullopt);
  EXPECT_EQ(GemmOfOperator("aten::add", Dims{{4096, 8192}, {8192, 3584}}, types), std::nullopt);
}

}  // namespace
}  // namespace stagecraft
