// Every preset has exactly as many parameters as its publisher counts: the totals of Hugging Face's
// weight files or model cards, of torchvision for ViT. For opt-66b, mpt-30b and qwen2-57b-a14b only
// rounded numbers are published; those here follow from their configurations. So do those of
// llama-4 (109 and 400 billion with an encoder of images), glm-4.5 (355 and 106 billion), kimi-k2
// (1 trillion), deepseek-v3.2, qwen3-next-80b-a3b, nemotron-h-8b, nemotron-4-15b and grok-1 (314
// billion). Gemma-3 of 4b and more is published with an encoder of images of 416,866,032 parameters
// and its projection of 1,152·(hidden + 1): 4,300,079,472, 12,187,325,040 and 27,432,406,640 in
// all. The report on nemotron-4-340b says 9.4 billion in the tables and 331.6 billion in the rest.
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "sim/workload/workload_catalogue.h"
#include "sim/workload/workload_proto.h"
#include "sim/workload/workload_to_proto.h"

namespace stagecraft {
namespace {

// DeepSeek's 671 billion leave out the layer that predicts a second token; deepseek-v3-mtp adds
// that layer's own parameters: 7,168·2·7,168 to join, a sparse block and three norms.
const std::map<std::string, int64_t>& Published() {
  static const auto& counts = *new std::map<std::string, int64_t>{
      {"bert-base", 109'514'298},
      {"bert-base-squad", 108'893'186},
      {"bert-large", 335'174'458},
      {"bert-large-squad", 334'094'338},
      {"bloom-176b", 176'247'271'424},
      {"bloom-1b1", 1'065'314'304},
      {"bloom-1b7", 1'722'408'960},
      {"bloom-3b", 3'002'557'440},
      {"bloom-560m", 559'214'592},
      {"bloom-7b1", 7'069'016'064},
      {"dbrx", 131'596'523'520},
      {"deepseek-v2", 235'741'434'880},
      {"deepseek-v2-lite", 15'706'484'224},
      {"deepseek-v3", 671'026'419'200},
      {"deepseek-v3-mtp", 682'636'487'424},
      {"deepseek-v3.2", 671'877'944'064},
      {"falcon-40b", 41'303'293'952},
      {"falcon-7b", 6'921'720'704},
      {"gemma-2-27b", 27'227'128'320},
      {"gemma-2-2b", 2'614'341'888},
      {"gemma-2-9b", 9'241'705'984},
      {"gemma-2b", 2'506'172'416},
      {"gemma-3-12b", 11'766'034'176},
      {"gemma-3-1b", 999'885'952},
      {"gemma-3-27b", 27'009'346'304},
      {"gemma-3-4b", 3'880'263'168},
      {"gemma-7b", 8'537'680'896},
      {"glm-4.5", 352'797'829'024},
      {"glm-4.5-air", 106'852'251'264},
      {"gpt-j-6b", 6'050'882'784},
      {"gpt-neox-20b", 20'554'567'680},
      {"gpt-oss-120b", 116'829'156'672},
      {"gpt-oss-20b", 20'914'757'184},
      {"grok-1", 315'684'820'992},
      {"kimi-k2", 1'026'408'232'448},
      {"llama-3.2-1b", 1'235'814'400},
      {"llama-3.2-3b", 3'212'749'824},
      {"llama-3.3-70b", 70'553'706'496},
      {"llama-4-maverick", 400'711'848'960},
      {"llama-4-scout", 107'769'861'120},
      {"mamba2-1.3b", 1'343'757'312},
      {"mamba2-130m", 128'989'632},
      {"mamba2-2.7b", 2'702'599'680},
      {"mistral-7b", 7'241'732'096},
      {"mistral-large-123b", 122'610'069'504},
      {"mistral-nemo-12b", 12'247'782'400},
      {"mixtral-8x22b", 140'620'634'112},
      {"mixtral-8x7b", 46'702'792'704},
      {"mpt-30b", 29'957'200'896},
      {"mpt-7b", 6'649'286'656},
      {"nemotron-4-15b", 15'628'775'424},
      {"nemotron-4-340b", 341'029'195'776},
      {"nemotron-h-8b", 8'100'852'736},
      {"olmo-2-13b", 13'716'198'400},
      {"olmo-2-1b", 1'484'916'736},
      {"olmo-2-32b", 32'234'279'936},
      {"olmo-2-7b", 7'298'617'344},
      {"opt-1.3b", 1'315'758'080},
      {"opt-125m", 125'239'296},
      {"opt-13b", 12'853'473'280},
      {"opt-2.7b", 2'651'596'800},
      {"opt-30b", 29'974'540'288},
      {"opt-350m", 331'196'416},
      {"opt-6.7b", 6'658'473'984},
      {"opt-66b", 65'719'701'504},
      {"phi-2", 2'779'683'840},
      {"phi-3-mini", 3'821'079'552},
      {"phi-4", 14'659'507'200},
      {"qwen1.5-moe-a2.7b", 14'315'784'192},
      {"qwen2-57b-a14b", 57'408'658'944},
      {"qwen2.5-0.5b", 494'032'768},
      {"qwen2.5-1.5b", 1'543'714'304},
      {"qwen2.5-14b", 14'770'033'664},
      {"qwen2.5-32b", 32'763'876'352},
      {"qwen2.5-3b", 3'085'938'688},
      {"qwen2.5-72b", 72'706'203'648},
      {"qwen2.5-7b", 7'615'616'512},
      {"qwen3-0.6b", 596'049'920},
      {"qwen3-1.7b", 1'720'574'976},
      {"qwen3-14b", 14'768'307'200},
      {"qwen3-235b-a22b", 235'093'634'560},
      {"qwen3-30b-a3b", 30'532'122'624},
      {"qwen3-32b", 32'762'123'264},
      {"qwen3-4b", 4'022'468'096},
      {"qwen3-8b", 8'190'735'360},
      {"qwen3-next-80b-a3b", 79'674'391'296},
      {"roberta-base", 124'697'433},
      {"roberta-large", 355'412'057},
      {"switch-base-8", 619'339'008},
      {"t5-11b", 11'307'321'344},
      {"t5-3b", 2'851'598'336},
      {"t5-base", 222'903'552},
      {"t5-large", 737'668'096},
      {"t5-small", 60'506'624},
      {"t5-v1.1-base", 247'577'856},
      {"t5-v1.1-large", 783'150'080},
      {"t5-v1.1-small", 76'961'152},
      {"t5-v1.1-xl", 2'849'757'184},
      {"t5-v1.1-xxl", 11'135'332'352},
      {"vit-b-16", 86'567'656},
      {"vit-b-32", 88'224'232},
      {"vit-h-14", 632'045'800},
      {"vit-l-16", 304'326'632},
      {"vit-l-32", 306'535'400},
      {"yi-34b", 34'388'917'248},
      {"yi-6b", 6'061'035'520},
      {"yi-9b", 8'829'407'232},
  };
  return counts;
}

TEST(WorkloadPublishedTest, ParametersEqualThePublishedCounts) {
  for (const auto& [name, parameters] : Published()) {
    EXPECT_EQ(LoadWorkload(name, AttentionBackend::kFlash).Parameters(), parameters) << name;
  }
}

// Other tests count the presets of the first families, and those of shapes from papers.
TEST(WorkloadPublishedTest, EveryPresetIsCounted) {
  for (const std::string& name : WorkloadNames()) {
    const bool is_elsewhere = name.starts_with("llama-") || name.starts_with("gpt2") ||
                              name.starts_with("gpt3") || name.starts_with("megatron-");
    EXPECT_TRUE(is_elsewhere || Published().contains(name)) << name;
  }
}

TEST(WorkloadPublishedTest, NamesOfTheHubAreAliases) {
  for (const auto& [alias, name] :
       std::map<std::string, std::string>{{"mistralai/Mixtral-8x7B-v0.1", "mixtral-8x7b"},
                                          {"Qwen/Qwen3-235B-A22B", "qwen3-235b-a22b"},
                                          {"deepseek-ai/DeepSeek-V3", "deepseek-v3"},
                                          {"bigscience/bloom", "bloom-176b"},
                                          {"bert-large-uncased", "bert-large"},
                                          {"google/flan-t5-xxl", "t5-v1.1-xxl"},
                                          {"vit_b_16", "vit-b-16"}}) {
    EXPECT_EQ(LoadWorkload(alias, AttentionBackend::kFlash).name, name);
  }
}

TEST(WorkloadPublishedTest, EveryPresetSurvivesItsProto) {
  for (const std::string& name : WorkloadNames()) {
    for (const AttentionBackend attention :
         {AttentionBackend::kFlash, AttentionBackend::kUnfused}) {
      const Workload workload = LoadWorkload(name, attention);
      EXPECT_TRUE(WorkloadFromProto(WorkloadToProto(workload), name) == workload) << name;
    }
  }
}

// Every operator but the first one of an embedding reads something.
TEST(WorkloadPublishedTest, OperatorsAreConnected) {
  for (const std::string& name : WorkloadNames()) {
    const Workload workload = LoadWorkload(name, AttentionBackend::kFlash);
    for (const LayerKind& kind : workload.kinds) {
      for (size_t vertex = 0; vertex < kind.operators.size(); ++vertex) {
        const Operator& op = kind.operators[vertex];
        const bool is_source =
            op.kind == OperatorKind::kEmbedding || op.kind == OperatorKind::kConvolution;
        EXPECT_TRUE(is_source || op.reads_layer_input || !kind.operators.producers(vertex).empty())
            << name << " " << kind.name << " " << op.name;
      }
    }
  }
}

}  // namespace
}  // namespace stagecraft
