// Tests of import and export of training frameworks, as a user types them.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "costmodel/error_of.h"
#include "costmodel/proto_file.h"
#include "sim/workload/readers/hf_config.h"
#include "tools/frameworks/network_file.h"
#include "tools/frameworks/torchtitan_stages.h"
#include "tools/verb/command.h"

namespace stagecraft {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr const char* kArguments =
    "--num-layers 24 --hidden-size 1024 --num-attention-heads 16 --seq-length 1024 "
    "--max-position-embeddings 1024 --vocab-size 50257 --micro-batch-size 2 --global-batch-size "
    "64 ";

class TrainingImportTest : public ::testing::Test {
 protected:
  TrainingImportTest()
      : folder_(fs::path(::testing::TempDir()) /
                ::testing::UnitTest::GetInstance()->current_test_info()->name()) {
    fs::create_directories(folder_);
  }

  std::string Path(const std::string& name) const { return (folder_ / name).string(); }
  std::string Write(const std::string& name, const std::string& text) const {
    WriteFileAtomically(Path(name), text);
    return Path(name);
  }

  std::string Run(CommandFunction verb, const Args& args) const {
    std::ostringstream out, err;
    std::istringstream in;
    verb(args, in, out, err);
    return out.str();
  }
  // The JSON report of an import, whose plan is written to plan.json.
  Json Import(Args args) const {
    args.insert(args.end(), {"-o", Path("plan.json"), "--json"});
    return Json::parse(Run(RunImport, args));
  }
  Json Plan() const { return Json::parse(ReadFile(Path("plan.json"))); }
  std::string ImportError(Args args) const {
    args.insert(args.end(), {"-o", Path("refused.json")});
    const std::string error = ErrorOf([&] { Run(RunImport, args); });
    EXPECT_FALSE(fs::exists(Path("refused.json")));
    return error;
  }
  // The error of a Megatron-LM script with these arguments besides the usual ones.
  std::string MegatronError(const std::string& arguments, const Args& flags = {}) const {
    Args args = {"megatron", Write("t.sh", "torchrun --nnodes 1 --nproc-per-node 8 t.py " +
                                               std::string(kArguments) + arguments)};
    args.insert(args.end(), flags.begin(), flags.end());
    const std::string error = ImportError(args);
    const size_t place = error.find("t.sh: ");
    return place == std::string::npos ? error : error.substr(place);
  }

  static std::vector<std::string> Options(const Json& fates) {
    std::vector<std::string> options;
    for (const Json& fate : fates) options.push_back(fate["option"]);
    return options;
  }

 private:
  fs::path folder_;
};

TEST_F(TrainingImportTest, AMegatronScriptBecomesAPlanANetworkAndACommand) {
  const std::string script = Write("t.sh", std::string("TP=2\ntorchrun --nnodes 1 ") +
                                               "--nproc-per-node 8 pretrain_gpt.py " + kArguments +
                                               "--tensor-model-parallel-size $TP --bf16 --swiglu "
                                               "--pipeline-model-parallel-size 2 --lr 1e-4 "
                                               "--use-distributed-optimizer --our-flag 7");
  const Json report = Import({"megatron", script, "--cluster", "h100-sxm:1x8"});
  const Json plan = Plan();
  EXPECT_EQ(plan["degrees"]["tp"], 2);
  EXPECT_EQ(plan["degrees"]["pp"], 2);
  EXPECT_EQ(plan["degrees"]["dp"], 2);
  EXPECT_EQ(plan["zero"], 1);
  EXPECT_EQ(plan["overlap_p2p"], false);  // plain 1F1B waits
  EXPECT_EQ(plan["overlap_grad_reduce"], false);
  EXPECT_EQ(Options(report["not_understood"]), std::vector<std::string>{"our-flag 7"});
  EXPECT_EQ(Options(report["irrelevant"]), std::vector<std::string>{"lr 1e-4"});
  // Two thirds of four times the hidden size; 50257 rows in multiples of 256. No family of Hugging
  // Face has such biases: the file has the operators.
  const Json network = Json::parse(ReadFile(Path("plan.model.json")));
  EXPECT_TRUE(network.contains("kinds"));
  Args command = report["arguments"];
  command.erase(command.begin());
  const std::string simulated = Run(RunSimulate, command);
  EXPECT_NE(simulated.find("tp 2 x pp 2 x dp 2"), std::string::npos) << simulated;
  EXPECT_EQ(simulated.find("vocabulary is not padded"), std::string::npos) << simulated;
}

TEST_F(TrainingImportTest, ALlamaBecomesAConfigOfHuggingFace) {
  const std::string script = Write(
      "t.sh",
      std::string("python pretrain_gpt.py ") + kArguments +
          "--swiglu --ffn-hidden-size 4096 --normalization RMSNorm --disable-bias-linear "
          "--untie-embeddings-and-output-weights --position-embedding-type rope --bf16 "
          "--group-query-attention --num-query-groups 4 --attention-dropout 0 --hidden-dropout 0");
  Import({"megatron", script, "--cluster", "h100-sxm:1x8"});
  const Json network = Json::parse(ReadFile(Path("plan.model.json")));
  EXPECT_EQ(network["model_type"], "llama");
  EXPECT_EQ(network["num_key_value_heads"], 4);
  EXPECT_EQ(network["vocab_size"], 50304);
}

TEST_F(TrainingImportTest, VariablesThatDoNotMatterMayBeUnset) {
  const std::string script = Write("t.sh", std::string("torchrun --nnodes $N --nproc-per-node 8 "
                                                       "--node-rank $RANK t.py --save $DIR ") +
                                               kArguments);
  const Json report = Import({"megatron", script, "--cluster", "h100-sxm:1x8"});
  EXPECT_EQ(Options(report["irrelevant"]), std::vector<std::string>{"save $DIR"});
}

TEST_F(TrainingImportTest, VariablesThatMatterMustBeSet) {
  EXPECT_EQ(MegatronError("--tensor-model-parallel-size $TP"),
            "t.sh: line 1: --tensor-model-parallel-size: got $TP, which has no value here, want it "
            "with --set NAME=VALUE");
  const std::string script =
      Write("t.sh", std::string("python t.py --tensor-model-parallel-size $TP ") + kArguments);
  Import({"megatron", script, "--cluster", "h100-sxm:1x8", "--set", "TP=4"});
  EXPECT_EQ(Plan()["degrees"]["tp"], 4);
}

TEST_F(TrainingImportTest, ContradictionsOfMegatronAreRefused) {
  EXPECT_EQ(MegatronError("--tensor-model-parallel-size 3"),
            "t.sh: tp 3 x cp 1 x pp 1 = 3 does not divide the 8 processes");
  EXPECT_EQ(MegatronError("", {"--cluster", "h100-sxm:2x8"}),
            "t.sh: starts 1 nodes x 8 processes = 8, but h100-sxm:2x8 has 16 devices");
  EXPECT_EQ(MegatronError("--pipeline-model-parallel-size 5"),
            "t.sh: num-layers 24 cannot be divided by pp 5 x 1 chunks, want "
            "pipeline-model-parallel-layout");
  EXPECT_EQ(
      MegatronError("--pipeline-model-parallel-size 2 --pipeline-model-parallel-layout "
                    "'Et*11|t*12L'"),
      "t.sh: line 1: --pipeline-model-parallel-layout: got \"Et*11|t*12L\" with 23 t and 0 m, "
      "want the 24 layers and 0 that predict further tokens");
  EXPECT_EQ(MegatronError("--bf16 --fp16"), "t.sh: got bf16 and fp16, want one of them");
  EXPECT_EQ(MegatronError("--num-layers-per-virtual-pipeline-stage 2 "
                          "--num-virtual-stages-per-pipeline-rank 2"),
            "t.sh: got 2 of num-layers-per-virtual-pipeline-stage, "
            "num-virtual-stages-per-pipeline-rank, pipeline-model-parallel-layout, want at most "
            "one");
  EXPECT_EQ(MegatronError("--normalization Norm"),
            "t.sh: line 1: --normalization: got \"Norm\", want one of LayerNorm, RMSNorm");
  EXPECT_EQ(MegatronError("--hidden-size many"),
            "t.sh: line 1: --hidden-size: got \"many\", want a whole number from 1 to 4294967296");
  EXPECT_NE(MegatronError("--num-experts 8 --moe-layer-freq '[0,1]*9223372036854775807'")
                .find("want a number above 0, or a list of 24 zeros and ones"),
            std::string::npos);
  EXPECT_EQ(MegatronError("--recompute-granularity full"),
            "t.sh: got recompute-granularity full without recompute-method, want uniform or block");
}

TEST_F(TrainingImportTest, StagesOfUnequalChunksNeedTheCluster) {
  const std::string layout =
      "--pipeline-model-parallel-size 2 --pipeline-model-parallel-layout 'Et*3|t*9|t*8|t*4L' "
      "--bf16";
  EXPECT_NE(MegatronError(layout).find("want --cluster"), std::string::npos);
  const std::string script = Write("u.sh", std::string("python t.py ") + kArguments + layout);
  Import({"megatron", script, "--cluster", "h100-sxm:1x8"});
  const Json stages = Plan()["stages"];
  ASSERT_EQ(stages.size(), 2u);
  EXPECT_EQ(stages[0]["chunks"][0]["count"], 4);  // the embedding and three blocks
  EXPECT_EQ(stages[1]["chunks"][0]["count"], 9);
  EXPECT_EQ(stages[0]["chunks"][1]["count"], 8);
}

TEST_F(TrainingImportTest, ArgumentsInYamlAreRead) {
  const std::string yaml = Write(
      "t.yaml",
      "language_model:\n  num_layers: 12\n  hidden_size: 768\n  num_attention_heads: 12\n"
      "  swiglu: false\nseq_length: 1024\nvocab_size: 50304\nmicro_batch_size: 1\n"
      "global_batch_size: 16\nmodel_parallel:\n  tensor_model_parallel_size: 2\nbf16: true\n");
  Import({"megatron", yaml, "--cluster", "h100-sxm:1x8"});
  EXPECT_EQ(Plan()["degrees"]["tp"], 2);
  EXPECT_EQ(Plan()["global_batch"], "16");
}

TEST_F(TrainingImportTest, TorchtitanSaysHowItShards) {
  const std::string toml =
      Write("t.toml",
            "[model]\nname = \"llama3\"\nflavor = \"8B\"\n[training]\nseq_len = 4096\n"
            "local_batch_size = 2\n[parallelism]\ndata_parallel_replicate_degree = 2\n"
            "tensor_parallel_degree = 2\n[activation_checkpoint]\nmode = \"full\"\n");
  const Json report = Import({"torchtitan", toml, "--cluster", "h100-sxm:2x8"});
  const Json plan = Plan();
  EXPECT_EQ(plan["degrees"]["dp"], 8);
  EXPECT_EQ(plan["zero"], 3);
  EXPECT_EQ(plan["zero_group"], 4);
  EXPECT_EQ(plan["global_batch"], "16");
  EXPECT_EQ(plan["degrees"]["recompute"], "FULL");
  EXPECT_EQ(report["arguments"][2], "llama3-8b");
  EXPECT_NE(ImportError({"torchtitan", Write("b.toml", "[model\n")}).find("b.toml: line 1"),
            std::string::npos);
}

// The embedding and blocks 1 to 3, 4 to 12, 13 to 20, 21 to 32 with the head.
TEST_F(TrainingImportTest, EverySecondBlockOfTorchtitanRecomputesInUnequalChunks) {
  const std::string toml =
      Write("t.toml",
            "[model]\nname = \"llama3\"\nflavor = \"8B\"\n[parallelism]\n"
            "pipeline_parallel_degree = 2\npipeline_parallel_schedule = \"Interleaved1F1B\"\n"
            "module_fqns_per_model_part = " +
                ModulesOfParts({4, 9, 8, 13}).dump() +
                "\n[activation_checkpoint]\nmode = \"selective\"\nselective_ac_option = \"2\"\n");
  Import({"torchtitan", toml, "--cluster", "h100-sxm:1x8"});
  const Json stage = Plan()["stages"][0];
  EXPECT_EQ(stage["recompute"], "NONE");
  std::vector<int> recomputed;
  for (const Json& range : stage["recomputed"]) recomputed.push_back(range["first"]);
  EXPECT_EQ(recomputed, (std::vector<int>{2, 14, 16, 18, 20}));
}

TEST_F(TrainingImportTest, DeepspeedDerivesItsBatch) {
  const std::string json =
      Write("ds.json", R"({"train_batch_size": 64, "gradient_accumulation_steps": 2,
      "fp16": {"enabled": true}, "zero_optimization": {"stage": 2}, "our_key": 1})");
  const Args flags = {"--model", "gpt2-medium", "--seq", "1024", "--cluster", "h100-sxm:1x8"};
  Args args = {"deepspeed", json};
  args.insert(args.end(), flags.begin(), flags.end());
  const Json report = Import(args);
  EXPECT_EQ(Plan()["micro_batch"], "4");
  EXPECT_EQ(Plan()["zero"], 2);
  EXPECT_EQ(Plan()["precision"], "FP16");
  EXPECT_EQ(Options(report["not_understood"]), std::vector<std::string>{"our_key 1"});
  const std::string contradiction =
      Write("c.json", R"({"train_batch_size": 60, "train_micro_batch_size_per_gpu": 4,
      "gradient_accumulation_steps": 2})");
  args[1] = contradiction;
  EXPECT_NE(ImportError(args).find("train_batch_size 60 is not train_micro_batch_size_per_gpu 4 x "
                                   "dp 8 x gradient_accumulation_steps 2"),
            std::string::npos);
}

TEST_F(TrainingImportTest, DeepspeedNeedsWhatItsFileDoesNotSay) {
  const std::string json = Write("ds.json", R"({"train_micro_batch_size_per_gpu": 1})");
  EXPECT_NE(ImportError({"deepspeed", json, "--cluster", "h100-sxm:1x8"}).find("want --seq"),
            std::string::npos);
  EXPECT_NE(ImportError({"deepspeed", json, "--cluster", "h100-sxm:1x8", "--seq", "128"})
                .find("want --model"),
            std::string::npos);
}

TEST_F(TrainingImportTest, TrainingArgumentsAndAccelerateAreReadTogether) {
  const std::string arguments =
      Write("a.json", R"({"per_device_train_batch_size": 2, "gradient_accumulation_steps": 4,
      "gradient_checkpointing": true, "bf16": true, "max_length": 2048})");
  const std::string accelerate =
      Write("b.yaml",
            "distributed_type: FSDP\nnum_processes: 16\nnum_machines: 2\nfsdp_config:\n"
            "  fsdp_sharding_strategy: HYBRID_SHARD\n  fsdp_backward_prefetch: BACKWARD_POST\n");
  const Json report = Import({"huggingface", arguments, accelerate, "--model", "gpt2-medium"});
  const Json plan = Plan();
  EXPECT_EQ(plan["global_batch"], "128");
  EXPECT_EQ(plan["zero"], 3);
  EXPECT_EQ(plan["zero_group"], 8);
  EXPECT_EQ(plan["degrees"]["recompute"], "FULL");
  EXPECT_EQ(plan["framework"]["backward_prefetch"], "AFTER");
  EXPECT_EQ(report["stack"], "fsdp");
}

TEST_F(TrainingImportTest, TrainingArgumentsMayNameDeepspeedsFile) {
  Write("ds.json", R"({"train_batch_size": "auto", "zero_optimization": {"stage": 1},
      "bf16": {"enabled": "auto"}})");
  const std::string arguments =
      Write("a.json", R"({"per_device_train_batch_size": 2, "gradient_accumulation_steps": 4,
      "bf16": true, "max_length": 2048, "deepspeed": "ds.json"})");
  const Json report =
      Import({"huggingface", arguments, "--model", "gpt2-medium", "--cluster", "h100-sxm:1x8"});
  EXPECT_EQ(Plan()["global_batch"], "64");
  EXPECT_EQ(Plan()["zero"], 1);
  EXPECT_EQ(report["stack"], "deepspeed");
}

TEST_F(TrainingImportTest, DeepspeedsFileMayNotContradictTheTrainer) {
  Write("ds.json", R"({"gradient_accumulation_steps": 4})");
  Write("micro.json", R"({"train_micro_batch_size_per_gpu": 3})");
  const auto args = [&](const std::string& more, const std::string& file) {
    const std::string arguments =
        Write("a.json", R"({"per_device_train_batch_size": 2, "max_length": 2048, )" + more +
                            R"("deepspeed": ")" + file + R"("})");
    return Args{"huggingface", arguments, "--model", "gpt2-medium", "--cluster", "h100-sxm:1x8"};
  };
  Import(args("", "ds.json"));
  EXPECT_EQ(Plan()["global_batch"], "64");
  Import(args(R"("gradient_accumulation_steps": 4, )", "ds.json"));
  EXPECT_EQ(Plan()["global_batch"], "64");
  EXPECT_EQ(ImportError(args(R"("gradient_accumulation_steps": 2, )", "ds.json")),
            Path("ds.json") + ": gradient_accumulation_steps: got 4, but " + Path("a.json") +
                " says gradient_accumulation_steps 2, want the same or \"auto\"");
  EXPECT_EQ(ImportError(args("", "micro.json")),
            Path("micro.json") + ": train_micro_batch_size_per_gpu: got 3, but " + Path("a.json") +
                " says per_device_train_batch_size 2, want the same or \"auto\"");
  Write("text.json", R"({"train_micro_batch_size_per_gpu": "3"})");
  EXPECT_NE(ImportError(args("", "text.json")).find("got \"3\", but "), std::string::npos);
  Write("none.json", R"({"gradient_accumulation_steps": 0})");
  EXPECT_NE(ImportError(args("", "none.json")).find("gradient_accumulation_steps: got \"0\""),
            std::string::npos);
  const std::string older = Write("b.json", R"({"per_gpu_train_batch_size": 2, "max_length": 2048,
      "deepspeed": "micro.json"})");
  EXPECT_NE(
      ImportError({"huggingface", older, "--model", "gpt2-medium", "--cluster", "h100-sxm:1x8"})
          .find("says per_gpu_train_batch_size 2"),
      std::string::npos);
}

TEST_F(TrainingImportTest, AcceleratesStepsMayNotContradictTheTrainer) {
  const std::string accelerate =
      Write("b.yaml",
            "distributed_type: DEEPSPEED\nnum_processes: 8\ndeepspeed_config:\n"
            "  zero_stage: 1\n  gradient_accumulation_steps: 4\n");
  const auto args = [&](const std::string& more) {
    const std::string arguments =
        Write("a.json", R"({"per_device_train_batch_size": 2, "max_length": 2048)" + more + "}");
    return Args{"huggingface", arguments, accelerate, "--model", "gpt2-medium"};
  };
  Import(args(""));
  EXPECT_EQ(Plan()["global_batch"], "64");
  EXPECT_NE(ImportError(args(R"(, "gradient_accumulation_steps": 2)"))
                .find("deepspeed_config.gradient_accumulation_steps: got \"4\", want the 2 of "
                      "gradient_accumulation_steps"),
            std::string::npos);
}

TEST_F(TrainingImportTest, BatchesAndRanksThatAreTooLargeAreRefused) {
  const std::string json = Write("ds.json", R"({"train_micro_batch_size_per_gpu": 1000000000,
      "gradient_accumulation_steps": 1000000000})");
  EXPECT_NE(ImportError({"deepspeed", json, "--model", "gpt2-medium", "--seq", "1024", "--cluster",
                         "h100-sxm:1x8"})
                .find("got a global batch of micro-batch 1000000000 x 1000000000 accumulation "
                      "steps x dp 8, want at most 1000000000"),
            std::string::npos);
  const std::string toml =
      Write("t.toml",
            "[model]\nname = \"llama3\"\nflavor = \"8B\"\n[parallelism]\n"
            "tensor_parallel_degree = 1000000\ncontext_parallel_degree = 1000000\n"
            "data_parallel_shard_degree = 1000000\n");
  EXPECT_NE(ImportError({"torchtitan", toml}).find("more than 1000000 processes"),
            std::string::npos);
  const std::string script = Write(
      "t.sh", std::string("torchrun --nnodes 1000000 --nproc-per-node 1000000 t.py ") + kArguments);
  EXPECT_NE(ImportError({"megatron", script})
                .find("1000000000000 processes give dp 1000000000000, want at most 1000000"),
            std::string::npos);
  const std::string contexts =
      Write("c.sh",
            "torchrun --nnodes 1000000 --nproc-per-node 1000000 -m torchtitan.train --model.name "
            "llama3 --model.flavor 8B --parallelism.context_parallel_degree 1000000\n");
  EXPECT_NE(ImportError({"torchtitan", contexts})
                .find("processes give dp 1000000 x cp 1000000, want at most 1000000"),
            std::string::npos);
}

TEST_F(TrainingImportTest, ConvertersOfTorchtitanMayHaveAnyBytes) {
  const std::string script =
      Write("t.sh",
            "torchrun --nnodes 1 --nproc-per-node 8 -m torchtitan.train --model.name llama3 "
            "--model.flavor 8B --model.converters float8\xff\n");
  Import({"torchtitan", script, "--cluster", "h100-sxm:1x8"});
  EXPECT_EQ(Plan()["precision"], "FP8");
}

TEST_F(TrainingImportTest, NodesAndDevicesOfNemoAreBothReported) {
  const std::string yaml =
      Write("n.yaml",
            "trainer:\n  num_nodes: 1\n  devices: 8\n  precision: bf16-mixed\nmodel:\n"
            "  num_layers: 12\n  hidden_size: 768\n  num_attention_heads: 12\n  seq_length: 1024\n"
            "  vocab_size: 50304\n  micro_batch_size: 1\n  global_batch_size: 16\n");
  const Args options = Options(Import({"nemo", yaml})["understood"]);
  for (const char* wanted : {"trainer.num_nodes 1", "trainer.devices 8"}) {
    EXPECT_EQ(std::count(options.begin(), options.end(), wanted), 1) << wanted;
  }
  EXPECT_EQ(Plan()["degrees"]["dp"], 8);
}

TEST_F(TrainingImportTest, WhatAFrameworkCannotRunIsRefused) {
  const auto error = [&](const char* format, const char* file, Args flags) {
    Args args = {format,      "-o",        Path(file),     "--model",
                 "llama3-8b", "--cluster", "h100-sxm:1x8", "--global-batch",
                 "64",        "--seq",     "2048"};
    args.insert(args.end(), flags.begin(), flags.end());
    const std::string text = ErrorOf([&] { Run(RunExport, args); });
    EXPECT_FALSE(fs::exists(Path(file)));
    return text;
  };
  EXPECT_EQ(error("megatron", "t.sh", {"--pp", "4", "--schedule", "zb-h1"}),
            "Megatron-LM has no schedule zb-h1, want a plan without it");
  EXPECT_EQ(error("deepspeed", "t.json", {"--pp", "4", "--zero", "2"}),
            "DeepSpeed has no ZeRO 2 with pp 4, want a plan without it");
  EXPECT_EQ(error("torchtitan", "t.toml", {}), "torchtitan has no ZeRO 1, want a plan without it");
  EXPECT_EQ(error("megatron", "t.txt", {}), "-o: got \"" + Path("t.txt") + "\", want a .sh file");
}

TEST(NetworkFileTest, ConfigsReadAsWhatTheyWereMadeFrom) {
  DecoderConfig config = DecoderOfFamily("qwen3");
  config.layers = 4;
  config.hidden = 256;
  config.heads = 4;
  config.ffn = 512;
  config.vocab = 1000;
  config.max_sequence = 128;
  config = Completed(config);
  const auto json = HuggingFaceConfig(config);
  ASSERT_TRUE(json.has_value());
  EXPECT_EQ((*json)["model_type"], "qwen3");
  config.parallel_residual = true;
  EXPECT_FALSE(HuggingFaceConfig(config).has_value());
  EXPECT_NE(NetworkFileText(config, "odd").find("\"kinds\""), std::string::npos);
}

}  // namespace
}  // namespace stagecraft
