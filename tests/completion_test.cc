// Tests of the scripts that `completion` prints, as shells use them.
#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>

#include "tests/bad_input.h"
#include "tests/command_output.h"
#include "tools/verb/command.h"

namespace stagecraft::bad_input {
namespace {

using nlohmann::json;
using Words = std::set<std::string>;

json FlagsOf(const std::string& verb) {
  return json::parse(RunLine(verb + " --help-json").out)["flags"];
}

class CompletionTest : public FolderTest {
 protected:
  // What bash offers to complete the last of these words, which may be an empty one: "".
  Words Complete(const std::string& words) const {
    Write("stagecraft.bash", RunLine("completion bash").out);
    Write("try.bash",
          Expand("cd $T\nsource ./stagecraft.bash\nCOMP_WORDS=(stagecraft " + words + ")\n") +
              "COMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n_stagecraft\n"
              "printf '%s\\n' \"${COMPREPLY[@]}\"\n");
    std::istringstream lines(OutputOf(Expand("bash $T/try.bash 2>&1")));
    Words offered;
    for (std::string line; std::getline(lines, line);) {
      if (!line.empty()) offered.insert(line);
    }
    return offered;
  }
};

TEST_F(CompletionTest, BashOffersEveryVerb) {
  const Words offered = Complete("\"\"");
  for (const Command& verb : Commands()) EXPECT_TRUE(offered.contains(verb.name)) << verb.name;
  EXPECT_EQ(Complete("sim"), Words{"simulate"});
}

TEST_F(CompletionTest, BashOffersEveryFlagOfEveryVerb) {
  for (const Command& verb : Commands()) {
    const Words offered = Complete(std::string(verb.name) + " --");
    const Words short_ones = Complete(std::string(verb.name) + " -");
    for (const json& flag : FlagsOf(verb.name)) {
      for (const char* key : {"names", "negations"}) {
        for (const json& name : flag[key]) {
          const std::string word = name.get<std::string>();
          if (!word.starts_with('-')) continue;
          EXPECT_TRUE((word.starts_with("--") ? offered : short_ones).contains(word))
              << verb.name << " " << word;
        }
      }
    }
    EXPECT_TRUE(offered.contains("--help-all")) << verb.name;
  }
}

TEST_F(CompletionTest, BashOffersTheNamesThatAValueMayHave) {
  EXPECT_EQ(Complete("simulate --model llama3-8b --schedule zb"),
            (Words{"zb-auto", "zb-h1", "zb-h2", "zb-v"}));
  EXPECT_EQ(Complete("simulate --schedule = 1f"), Words{"1f1b"});
  EXPECT_EQ(Complete("search --schedule 1f1b,inter"), Words{"1f1b,interleaved"});
  EXPECT_EQ(Complete("search --objective \"\""), (Words{"cost", "memory", "pareto", "step-time"}));
  EXPECT_TRUE(Complete("simulate --model llama-3-").contains("llama-3-70b"));
  EXPECT_EQ(Complete("export sch"), Words{"schedule-csv"});
  EXPECT_EQ(Complete("simulate --tp \"\""), Words());
}

TEST_F(CompletionTest, BashOffersFilesElsewhere) {
  Write("cluster.yaml", "");
  Write("two words.yaml", "");
  EXPECT_EQ(Complete("simulate --cluster clu"), Words{"cluster.yaml"});
  EXPECT_EQ(Complete("check two"), Words{"two words.yaml"});
  EXPECT_EQ(Complete("import k8s clu"), Words{"cluster.yaml"});
  EXPECT_EQ(Complete("simulate --cost-model \"\""),
            (Words{"analytical", "cluster.yaml", "learned", "stagecraft.bash", "try.bash",
                   "two words.yaml"}));
}

TEST_F(CompletionTest, ZshsScriptIsOneThatZshCanReadAndNamesEveryFlag) {
  const std::string script = RunLine("completion zsh").out;
  EXPECT_TRUE(script.starts_with("#compdef stagecraft\n"));
  for (const Command& verb : Commands()) {
    const std::string begin = "\n    " + std::string(verb.name) + ")\n";
    ASSERT_NE(script.find(begin), std::string::npos) << verb.name;
    const size_t at = script.find(begin);
    const std::string part = script.substr(at, script.find(";;", at) - at);
    for (const json& flag : FlagsOf(verb.name)) {
      const std::string name = flag["names"][0].get<std::string>();
      EXPECT_NE(part.find(name), std::string::npos) << verb.name << " " << name;
    }
  }
  if (std::system("command -v zsh >/dev/null") != 0) return;
  Write("_stagecraft", script);
  EXPECT_EQ(OutputOf(Expand("zsh -n $T/_stagecraft 2>&1")), "");
}

}  // namespace
}  // namespace stagecraft::bad_input
