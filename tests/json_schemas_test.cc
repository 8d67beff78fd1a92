// Tests that docs/schema is up to date, and that files and outputs are as its schemas say.
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "costmodel/json_to_proto.h"
#include "costmodel/proto_file.h"
#include "tests/bad_input.h"
#include "tools/schema/all_schemas.h"
#include "tools/schema/schema_validator.h"

namespace stagecraft {
namespace {

namespace fs = std::filesystem;
using bad_input::Result;
using bad_input::RunLine;

const std::map<std::string, std::string>& Schemas() {
  static const std::map<std::string, std::string> schemas = AllSchemas("tools/schema/outputs");
  return schemas;
}

nlohmann::json SchemaOf(const std::string& name) {
  return nlohmann::json::parse(Schemas().at(name));
}

TEST(JsonSchemasTest, DocsHaveAllSchemasAndNoOthers) {
  std::set<std::string> files;
  for (const auto& entry : fs::directory_iterator("docs/schema")) {
    files.insert(entry.path().stem().string());
  }
  for (const auto& [name, text] : Schemas()) {
    ASSERT_TRUE(files.contains(name)) << "docs/schema/" << name << ".json is missing";
    EXPECT_EQ(ReadFile("docs/schema/" + name + ".json"), text)
        << "docs/schema/" << name << ".json is out of date (tools/schema/README.md)";
    files.erase(name);
  }
  EXPECT_TRUE(files.empty()) << *files.begin();
}

// Our own examples, by the name of their schema.
TEST(JsonSchemasTest, ExamplesAreAsTheirSchemasSay) {
  const std::pair<const char*, const char*> examples[] = {
      {"cluster.yaml", "cluster"}, {"own_gpu.yaml", "cluster"},
      {"plan.yaml", "plan"},       {"stages.yaml", "plan"},
      {"order.yaml", "plan"},      {"layer_state.yaml", "layer-states"},
      {"prune.yaml", "dynamics"},  {"faults.yaml", "cluster-events"},
      {"run.yaml", "job"},         {"grid.yaml", "grid"},
      {"best_plans.yaml", "grid"},
  };
  for (const auto& [file, name] : examples) {
    const std::string path = std::string("examples/") + file;
    const auto errors = FindSchemaErrors(ParseYaml(ReadFile(path), path), SchemaOf(name));
    EXPECT_TRUE(errors.empty()) << path << ": " << errors[0];
  }
}

TEST(JsonSchemasTest, AMistakeInAFileIsNotAsItsSchemaSays) {
  const auto errors = [](const char* yaml, const char* name) {
    return FindSchemaErrors(ParseYaml(yaml, "test"), SchemaOf(name)).size();
  };
  EXPECT_EQ(errors("degrees: {tp: 8}\nmicro_batch: 1\norder: GPIPE\n", "plan"), 0u);
  EXPECT_EQ(errors("micro_batch: \"12\"\n", "plan"), 0u);  // as protobuf writes 64 bits
  EXPECT_EQ(errors("degrees: {tq: 8}\n", "plan"), 1u);
  EXPECT_EQ(errors("degrees: {tp: x}\n", "plan"), 1u);
  EXPECT_EQ(errors("degrees: {tp: 3000000000}\n", "plan"), 1u);
  EXPECT_EQ(errors("order: GPIP\n", "plan"), 1u);
  EXPECT_EQ(errors("micro_batch: a\n", "plan"), 1u);
  EXPECT_EQ(errors("stages: {}\n", "plan"), 1u);
}

class OutputsTest : public bad_input::FolderTest {
 protected:
  // Runs the command line, whose first word is the verb, with --json.
  void ExpectAsSchema(const std::string& line, int code = 0) {
    const std::string verb = line.substr(0, line.find(' '));
    const Result result = RunLine(Expand(line) + " --json");
    ASSERT_EQ(result.code, code) << line << "\n" << result.err;
    const auto errors =
        FindSchemaErrors(nlohmann::json::parse(result.out), SchemaOf(verb + "-output"));
    EXPECT_TRUE(errors.empty()) << line << ": " << errors[0];
  }
};

TEST_F(OutputsTest, StepsAreAsTheirSchemasSay) {
  const std::string job = " --model llama3-8b --cluster h100-sxm:2x8 --global-batch 64 ";
  for (const std::string& line : std::vector<std::string>{
           "simulate" + job + "--tp 4 --pp 2 --slow node0=0.8",
           "simulate" + job + "--tp 1 --zero 0",  // does not fit
           "simulate" + job + "--pp 2 --recompute full --recompute-num-layers 2",
           "simulate" + job + "--stack megatron-core --tp 4",
           "simulate" + job + "--zero 0 --gradient-sync rolling-server",
           "simulate --model gpt2-medium --cluster h100-sxm:1x8 --pp 4 --schedule pipedream-2bw "
           "--global-batch 64",
           "simulate --model mixtral-8x7b --cluster h100-sxm:2x8 --ep 8 --global-batch 64 --seq "
           "2048 --network flow",
           "simulate --model examples/graph.txt --cluster v100-sxm2-16gb:1x4 --pp 2",
           "simulate --model examples/config.json --cluster a100-sxm4-80gb:1x8 --layer-state "
           "examples/layer_state.yaml --global-batch 64 --seq 2048",
           "simulate" + job + "--tp 4 --pp 2 --measured 5s",
           "simulate" + job + "--tp 4 --pp 2 --tokens 1T --price h100-sxm=2.9",
           "explain" + job + "--tp 4 --pp 2",
           "explain examples/plan.yaml examples/plan.yaml --model gpt2-medium --cluster "
           "h100-sxm:2x8"}) {
    ExpectAsSchema(line);
  }
}

TEST_F(OutputsTest, ChangesAreAsTheirSchemaSays) {
  const std::string job = " --model gpt2-medium --cluster h100-sxm:1x4 --global-batch 16 ";
  ExpectAsSchema("whatif" + job +
                 "--pp 2 --change tp=2 --change network=0.5x --change nodes=2x --pairs");
  ExpectAsSchema("whatif --best" + job + "--tokens 1B --price h100-sxm=2 --change memory=0.5x");
}

TEST_F(OutputsTest, SweepsAreAsTheirSchemasSay) {
  // A degree of 3 divides nothing.
  Write("grid.yaml",
        "flags: {model: gpt2-medium, cluster: 'h100-sxm:1x4', global-batch: 16, tp: [1, 2, 3]}");
  ExpectAsSchema("sweep $T/grid.yaml -o $T/all.db --quiet");
  ExpectAsSchema("sweep --list $T/all.db");
  for (const std::string shard : {"0", "1"}) {
    const Result result = RunLine(Expand("sweep $T/grid.yaml -o $T/" + shard +
                                         ".db --quiet --shard " + shard + "/2"));
    ASSERT_EQ(result.code, 0) << result.err;
  }
  ExpectAsSchema("merge $T/0.db $T/1.db -o $T/both.db --quiet");
}

TEST_F(OutputsTest, PagesAreAsTheirSchemaSays) {
  const Result result = RunLine(Expand(
      "simulate --model gpt2 --cluster h100-sxm:1x4 --global-batch 16 --pp 2 --quiet --timeline "
      "$T/step.pb --json"));
  ASSERT_EQ(result.code, 0) << result.err;
  Write("answer.json", result.out);
  ExpectAsSchema("report $T/answer.json $T/step.pb -o $T/page.html");
}

TEST_F(OutputsTest, SearchesAreAsTheirSchemasSay) {
  const std::string mixed =
      " --model examples/config.json --cluster h100-sxm:1x4+a100-sxm4-80gb:1x4 --global-batch 16 "
      "--seq 2048 --budget 100evals ";
  const std::string plain =
      "search --model examples/config.json --cluster h100-sxm:1x4 --global-batch 16 --seq 2048 ";
  ExpectAsSchema(plain);
  ExpectAsSchema(plain + "--objective pareto");
  ExpectAsSchema(plain + "--objective memory --no-explain");
  ExpectAsSchema(plain + "--compare-algorithms --budget 60evals");
  ExpectAsSchema("search" + mixed);
  ExpectAsSchema("search" + mixed + "--objective cost --price h100-sxm=2,a100-sxm4-80gb=1");
  ExpectAsSchema("search --model llama3-70b --cluster h100-sxm:1x8 --global-batch 64 --seq 8192",
                 3);
  ExpectAsSchema(
      "partition --graph examples/graph.txt --algorithm pipedream --machines 2,2 --bandwidth "
      "10e9,1.25e9");
  ExpectAsSchema(
      "partition --graph examples/graph.txt --compare-algorithms --device-speeds 2x1,2x2 "
      "--bandwidth 1e10 --budget 64evals");
}

TEST_F(OutputsTest, RunsOverTimeAreAsTheirSchemaSays) {
  ExpectAsSchema("train --job examples/run.yaml --runs 3");
  ExpectAsSchema("train --job examples/run.yaml");
  ExpectAsSchema("train --job examples/run.yaml --compare-balancers");
  ExpectAsSchema(
      "train --model megatron:24x1024x16 --cluster a100-sxm4-40gb:1x8 --pp 8 --micro-batch 2 "
      "--global-batch 64 --seq 2048 --steps 1000 --dynamics examples/prune.yaml --balance "
      "diffusion");
}

TEST_F(OutputsTest, MeasurementsAreAsTheirSchemasSay) {
  const std::string log = "examples/nccl_tests_16.log --cluster dgx-a100:2 ";
  ExpectAsSchema("compare --network " + log);
  ExpectAsSchema("evaluate --network " + log);
  ExpectAsSchema("evaluate --samples examples/samples.csv");
  ExpectAsSchema("fit --network " + log + "-o $T/site.pb");
  ExpectAsSchema("fit --calibrate examples/samples.csv -o $T/board.pb");
  ExpectAsSchema("fit --steps examples/h200_steps.csv -o $T/steps.pb");
  ExpectAsSchema("validate --against examples/h200_steps.csv");
  const std::string job = " --model gpt2 --cluster h100-sxm:1x4 --global-batch 16 --pp 2 --quiet ";
  ASSERT_EQ(RunLine(Expand("simulate" + job + "--timeline $T/a.pb")).code, 0);
  ASSERT_EQ(RunLine(Expand("simulate" + job + "--clock 0.7 --timeline $T/b.pb")).code, 0);
  ExpectAsSchema("compare $T/a.pb $T/b.pb");
}

TEST_F(OutputsTest, TracesAreAsTheirSchemasSay) {
  ExpectAsSchema("import kineto examples/kineto_rank0.json examples/kineto_rank1.json -o $T/k.pb");
  const Result result = RunLine(Expand(
      "simulate --model gpt2 --cluster h100-sxm:1x4 --global-batch 16 --pp 2 --quiet --unfold "
      "--timeline $T/a.pb"));
  ASSERT_EQ(result.code, 0) << result.err;
  ExpectAsSchema("export kineto $T/a.pb -o $T/a.json");
  ExpectAsSchema("import kineto $T/a.json -o $T/b.pb");
  ExpectAsSchema("compare $T/a.pb $T/b.pb");
}

TEST_F(OutputsTest, ListsAndFilesAreAsTheirSchemasSay) {
  for (const char* list : {"gpus", "nodes", "models", "stacks"}) {
    ExpectAsSchema(std::string("catalogue ") + list);
  }
  ExpectAsSchema("check examples/cluster.yaml examples/plan.yaml examples/samples.csv");
  ExpectAsSchema("import k8s examples/kubernetes_nodes.json -o $T/c.yaml");
  ExpectAsSchema(
      "import smi-topo examples/nvidia_smi_topology.txt --gpu a100-sxm4-40gb -o $T/n.yaml");
  ExpectAsSchema(
      "import megatron examples/megatron_llama3_70b.sh --cluster h100-sxm:8x8 -o $T/m.yaml");
  const std::string job = "--model gpt2-medium --cluster h100-sxm:1x4 --pp 4 --global-batch 16 ";
  ExpectAsSchema("export plan " + job + "-o $T/p.yaml");
  ExpectAsSchema("export schedule-csv " + job + "-o $T/p.csv");
  ExpectAsSchema("export megatron " + job + "-o $T/m.sh");
}

}  // namespace
}  // namespace stagecraft
