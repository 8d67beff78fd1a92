#include "tools/frameworks/shell_script.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "costmodel/error_of.h"
#include "tools/frameworks/shell_arithmetic.h"

namespace stagecraft {
namespace {

std::vector<std::string> WordsOf(const std::string& script, const ShellVariables& given = {}) {
  std::vector<std::string> texts;
  for (const ShellWord& word : ReadLaunchScript(script, "run.sh", given).words) {
    texts.push_back(word.unset.empty() ? word.text : word.text + "?" + word.unset);
  }
  return texts;
}

std::string ScriptError(const std::string& script) {
  return ErrorOf([&] { ReadLaunchScript(script, "run.sh", {}); });
}

using Words = std::vector<std::string>;

TEST(ShellScriptTest, ACommandIsItsWords) {
  EXPECT_EQ(WordsOf("python train.py --lr 1e-4"), (Words{"python", "train.py", "--lr", "1e-4"}));
}

TEST(ShellScriptTest, CommentsQuotesAndContinuedLinesAreRead) {
  EXPECT_EQ(
      WordsOf("#!/bin/bash\necho hello # no\ntorchrun \\\n  train.py 'a b' \"c d\" e\\ f # x\n"),
      (Words{"torchrun", "train.py", "a b", "c d", "e f"}));
}

TEST(ShellScriptTest, UnquotedVariablesAreSplitAndQuotedOnesAreNot) {
  EXPECT_EQ(WordsOf("A=\"--tp 8\n  --pp 4\"\npython t.py $A \"$A\" x${A}y"),
            (Words{"python", "t.py", "--tp", "8", "--pp", "4", "--tp 8\n  --pp 4", "x--tp", "8",
                   "--pp", "4y"}));
}

TEST(ShellScriptTest, ArraysGiveTheirWords) {
  EXPECT_EQ(WordsOf("A=(--tp 8 # degrees\n  'x y')\nA+=(--pp 4)\npython t.py \"${A[@]}\" $A"),
            (Words{"python", "t.py", "--tp", "8", "x y", "--pp", "4", "--tp"}));
}

TEST(ShellScriptTest, DefaultsAndSumsAreComputed) {
  EXPECT_EQ(
      WordsOf("N=${NODES:-4}\nexport G=8\npython t.py $((N * G)) ${N} ${X:=$N}", {{"NODES", "2"}}),
      (Words{"python", "t.py", "16", "2", "2"}));
}

TEST(ShellScriptTest, WhatOnlyAShellKnowsHasNoValue) {
  EXPECT_EQ(WordsOf("H=$(hostname)\npython t.py $H $NODE \"a$1\" `date`"),
            (Words{"python", "t.py", "?$(hostname)", "?$NODE", "a?$1", "?`date`"}));
}

TEST(ShellScriptTest, VariablesSetUnderAConditionHaveNoValue) {
  const Words words =
      WordsOf("A=1\nif [ -z \"$B\" ]; then\n  A=2\nfi\n[ -d x ] && C=3\npython t.py $A $C");
  EXPECT_EQ(words[2], "?$A (set under a condition in line 3)");
  EXPECT_EQ(words[3], "?$C (set under a condition in line 5)");
}

TEST(ShellScriptTest, LaunchesInQuotesAndBehindPipesAreFound) {
  EXPECT_EQ(WordsOf("N=2\nsrun -N 2 bash -c \"torchrun --nnodes $N train.py\" 2>&1 | tee log.txt"),
            (Words{"torchrun", "--nnodes", "2", "train.py"}));
  EXPECT_EQ(WordsOf("torchrun --nnodes 2 -m torchtitan.train --x 1 > out 2> err &"),
            (Words{"torchrun", "--nnodes", "2", "-m", "torchtitan.train", "--x", "1"}));
}

TEST(ShellScriptTest, DocumentsInAScriptAreSkipped) {
  EXPECT_EQ(WordsOf("cat <<EOF > f\npython no.py 'unbalanced\nEOF\npython yes.py"),
            (Words{"python", "yes.py"}));
}

TEST(ShellScriptTest, SlurmSaysHowManyNodesThereAre) {
  const LaunchCommand launch = ReadLaunchScript(
      "#!/bin/bash\n#SBATCH --nodes=16 --time=1:00\n#SBATCH --gpus-per-node 8\n"
      "python t.py $SLURM_NNODES",
      "run.sh", {});
  EXPECT_EQ(launch.words[2].text, "16");
  EXPECT_EQ(launch.slurm.at("gpus-per-node"), "8");
}

TEST(ShellScriptTest, BrokenScriptsAreRefusedByOneSentence) {
  EXPECT_EQ(ScriptError("python t.py \"a"),
            "run.sh: line 1: got \" without a second one, want both");
  EXPECT_EQ(ScriptError("A=(1 2\npython t.py"), "run.sh: line 1: got ( without ), want both");
  EXPECT_EQ(ScriptError("if true; then\npython t.py"),
            "run.sh: line 2: got the end of the script in a branch or loop, want its end");
  EXPECT_EQ(ScriptError("echo hello"),
            "run.sh: got no command that starts a Python program, want one such as torchrun "
            "pretrain_gpt.py");
  EXPECT_EQ(ScriptError("python a.py\npython b.py"),
            "run.sh: got 2 commands that start Python programs, in lines 1 and 2, want one");
}

TEST(ShellScriptTest, WordsThatGrowWithoutEndAreRefused) {
  std::string script = "A=xxxxxxxx\n";
  for (int i = 0; i < 40; ++i) script += "A=\"$A$A\"\n";
  EXPECT_NE(ScriptError(script + "python t.py").find("more than a megabyte"), std::string::npos);
}

TEST(ShellArithmeticTest, SumsAreThoseOfAShell) {
  const auto look_up = [](std::string_view name) {
    return name == "N" ? std::optional<int64_t>(6) : std::nullopt;
  };
  EXPECT_EQ(ShellArithmetic("2 + 3 * (N - 1) / 2 % 4", look_up), 2 + 3 * 5 / 2 % 4);
  EXPECT_EQ(ShellArithmetic("-${N} * $N", look_up), -36);
  EXPECT_EQ(ShellArithmetic("1 / 0", look_up), std::nullopt);
  EXPECT_EQ(ShellArithmetic("9223372036854775807 + 1", look_up), std::nullopt);
  EXPECT_EQ(ShellArithmetic("M + 1", look_up), std::nullopt);
  EXPECT_EQ(ShellArithmetic("1 +", look_up), std::nullopt);
}

}  // namespace
}  // namespace stagecraft
