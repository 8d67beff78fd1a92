// Learned policies, and flags that contradict each other, on the command line.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "costmodel/proto_file.h"
#include "tools/partition/partition_testing.h"
#include "tools/verb/command.h"

namespace stagecraft {
namespace {

using nlohmann::json;
using PartitionPolicyTest = PartitionTest;

TEST_F(PartitionPolicyTest, ASavedPolicyDrawsWhatTheTrainedOneDrew) {
  const std::string graph = Write("graph.txt", Diamonds(3));
  const std::string seen = Write("seen.txt", Diamonds(2));
  Args words = Devices(graph);
  words.insert(words.end(), {"--compare-algorithms", "--budget", "200evals"});
  const Args learn = {
      "--train-graphs", seen, "--train-devices", "3x1/1x1,1x2",     "--train-rounds", "2",
      "--policy-width", "8",  "--save-policy",   Path("policy.txt")};
  const json trained = WithoutTimes(Report(words, learn));
  const json read = WithoutTimes(Report(words, {"--policy", Path("policy.txt")}));
  EXPECT_EQ(trained["curves"], read["curves"]);
  EXPECT_EQ(read["algorithms"][5]["algorithm"], "tuned policy");
  EXPECT_NE(read["curves"]["tuned policy"], read["curves"]["policy"]);
  EXPECT_EQ(trained["notes"][0],
            "a policy of width 8, undirected, was trained for 2 rounds on 2 problems");
}

TEST_F(PartitionPolicyTest, APolicyIsTrainedWithoutAGraphToCut) {
  const std::string seen = Write("seen.txt", Diamonds(2));
  Args words = {"--train-graphs", seen, "--device-speeds", "2x1,1x2", "--bandwidth", "1e10",
                "--train-rounds", "1",  "--policy-width",  "4"};
  EXPECT_EQ(Sentence(words), "--save-policy: got nothing, want a file for what is learned");
  words.insert(words.end(), {"--save-policy", Path("policy.txt")});
  const PartitionOutcome outcome = Partition(words);
  EXPECT_EQ(outcome.code, kExitOk);
  EXPECT_NE(outcome.out.find("wrote " + Path("policy.txt")), std::string::npos);
  // Training continues from the saved policy.
  words.insert(words.end(), {"--policy", Path("policy.txt")});
  const std::string before = ReadFile(Path("policy.txt"));
  EXPECT_EQ(Partition(words).code, kExitOk);
  EXPECT_NE(ReadFile(Path("policy.txt")), before);
}

// A batch has 32 plans, and a round is one batch for each problem.
TEST_F(PartitionPolicyTest, ABudgetEndsTrainingWithWhatWasLearned) {
  const Args words = {"--train-graphs", Write("seen.txt", Diamonds(2)),
                      "--policy-width", "4",
                      "--bandwidth",    "1e10",
                      "--devices",      "2"};
  const PartitionOutcome whole =
      Partition(words, {"--train-rounds", "2", "--save-policy", Path("whole.txt")});
  EXPECT_NE(whole.out.find("was trained for 2 rounds on 1 problem\n"), std::string::npos)
      << whole.out;
  const PartitionOutcome ended = Partition(
      words, {"--train-rounds", "9", "--budget", "95evals", "--save-policy", Path("ended.txt")});
  EXPECT_EQ(ended.code, kExitOk) << ended.err;
  EXPECT_NE(ended.out.find("was trained for 2 of 9 rounds on 1 problem: the budget ended\n"),
            std::string::npos)
      << ended.out;
  EXPECT_TRUE(ReadFile(Path("ended.txt")) == ReadFile(Path("whole.txt")));
}

TEST_F(PartitionPolicyTest, ABudgetTooSmallToLearnKeepsTheFileThatIsThere) {
  const std::string graph = Write("graph.txt", Diamonds(2));
  const Args save = {"--policy-width", "4", "--save-policy", Write("policy.txt", "an older one")};
  const std::string sentence = "stagecraft partition: " + Path("policy.txt") +
                               " is not written: the budget ended before the policy was "
                               "trained on a batch of 32 plans\n";
  Args train = Devices(graph);
  train[0] = "--train-graphs";
  train.insert(train.end(), save.begin(), save.end());
  for (const char* budget : {"31evals", "0.000000001s"}) {
    const PartitionOutcome trained = Partition(train, {"--budget", budget});
    EXPECT_EQ(trained.code, kExitInfeasible);
    EXPECT_EQ(trained.err, sentence);
  }
  // A search still has a plan to show; a policy that was read has learned nothing more and is not
  // written either.
  Args search = Devices(graph);
  search.insert(search.end(), {"--algorithm", "policy"});
  Partition(search, {"--budget", "40evals", "--policy-width", "4", "--save-policy", Path("a.txt")});
  search.insert(search.end(), save.begin(), save.end());
  search.insert(search.end(), {"--budget", "5evals", "--json"});
  for (const Args& start : {Args(), Args{"--policy", Path("a.txt")}}) {
    const PartitionOutcome found = Partition(search, start);
    EXPECT_EQ(found.code, kExitOk);
    EXPECT_EQ(found.err, sentence);
    EXPECT_TRUE(json::parse(found.out)["saved_policy"].is_null());
  }
  EXPECT_TRUE(ReadFile(Path("policy.txt")) == "an older one");
}

TEST_F(PartitionPolicyTest, PoliciesOfAnotherShapeOrVersionAreRefused) {
  Args words = Devices(Write("graph.txt", Diamonds(1)));
  words.insert(words.end(), {"--algorithm", "policy", "--budget", "40evals"});
  Partition(words, {"--policy-width", "4", "--save-policy", Path("policy.txt")});
  const std::string text = ReadFile(Path("policy.txt"));
  const auto refusal = [&](const std::string& contents, const Args& more) {
    Args with_policy = words;
    with_policy.insert(with_policy.end(), {"--policy", Write("other.txt", contents)});
    with_policy.insert(with_policy.end(), more.begin(), more.end());
    const std::string sentence = Sentence(with_policy);
    EXPECT_TRUE(sentence.starts_with(Path("other.txt") + ": ")) << sentence;
    return sentence.substr(Path("other.txt").size() + 2);
  };
  EXPECT_EQ(refusal(text, {"--policy-width", "8"}), "got width 4, want 8 as --policy-width says");
  EXPECT_EQ(refusal(text, {"--policy-directed"}),
            "got an undirected policy, want a directed one as --policy-directed says");
  EXPECT_EQ(refusal("stage-policy-9" + text.substr(14), {}),
            "begins with \"stage-policy-9 width 4 undirected\", want \"stage-policy-1 width "
            "<1..1024> directed|undirected\"");
  refusal(text.substr(0, text.size() / 2), {});
  EXPECT_TRUE(refusal("\x1f\x8b zipped", {}).starts_with("begins with \"?? zipped\""));
}

TEST_F(PartitionPolicyTest, FlagsThatContradictEachOtherAreNamed) {
  const std::string graph = Write("graph.txt", Diamonds(1));
  const auto sentence = [&](Args words) {
    words.insert(words.begin(), {"--graph", graph});
    return Sentence(words);
  };
  EXPECT_EQ(Sentence({"--algorithm", "mcmc"}),
            "--graph: got nothing, want a graph to cut, or a workload by --model");
  EXPECT_TRUE(sentence({}).starts_with("--algorithm: got nothing, want one of pipedream, "));
  EXPECT_EQ(sentence({"--compare-algorithms", "--algorithm", "mcmc"}),
            "--compare-algorithms: got it with --algorithm, want one of them");
  EXPECT_EQ(sentence({"--model", "gpt2", "--algorithm", "mcmc"}),
            "--model: got it with --graph, want one of them");
  EXPECT_EQ(sentence({"--algorithm", "mcmc", "--devices", "2"}),
            "--bandwidth: got nothing, want bytes/s between any two devices");
  EXPECT_TRUE(sentence({"--algorithm", "mcmc", "--bandwidth", "1e9"})
                  .starts_with("--device-speeds: got nothing"));
  EXPECT_EQ(sentence({"--algorithm", "mcmc", "--bandwidth", "1e9", "--devices", "2",
                      "--device-speeds", "2x1"}),
            "--device-speeds: got it with --devices, want one of them");
  EXPECT_TRUE(sentence({"--algorithm", "mcmc", "--bandwidth", "1e9", "--device-speeds", "2x1",
                        "--device-memory", "1e9,2e9"})
                  .starts_with("--device-memory: got 2 numbers"));
  for (const char* devices : {"2", "x1", "2x", "0x1", "2x0", "2x1,", "2x-1", "2x1;2x1", "9999x1",
                              "1000x1,1000x2", "2x1/2x2", "2xnan"}) {
    EXPECT_TRUE(sentence({"--algorithm", "mcmc", "--bandwidth", "1e9", "--device-speeds", devices})
                    .starts_with("--device-speeds: got '"))
        << devices;
  }
  EXPECT_EQ(sentence({"--algorithm", "mcmc", "--seq", "512"}),
            "--seq: got it without --model, whose operators it is for");
  EXPECT_EQ(sentence({"--algorithm", "mcmc", "--policy", "p.txt"}),
            "--policy: mcmc takes none, want policy or --compare-algorithms");
  EXPECT_EQ(sentence({"--algorithm", "pipedream", "--report", "p.html"}),
            "--report: pipedream takes none, want exhaustive, mcmc, differentiable, policy or "
            "--compare-algorithms");
  EXPECT_EQ(sentence({"--algorithm", "hetpipe", "--machines", "1,2", "--bandwidth", "1e9,1e9",
                      "--policy", "file.txt"}),
            "--policy: got \"file.txt\", want one of np, ed, hd for hetpipe");
  EXPECT_EQ(sentence({"--compare-algorithms", "--save-policy", "p.txt", "--devices", "2",
                      "--bandwidth", "1e9"}),
            "--save-policy: got it without --train-graphs, want something to learn on");
  EXPECT_TRUE(sentence({"--compare-algorithms", "--report", "p.txt", "--devices", "2",
                        "--bandwidth", "1e9"})
                  .starts_with("--report: got \"p.txt\", want a file that ends in .html"));
}

}  // namespace
}  // namespace stagecraft
