// Prints how well a policy that was trained on other networks does on unseen ones, next to one that
// starts from scratch: policy_transfer <folder with network/graph.txt> [evaluations] [training
// rounds] [policy width].

#include <fmt/core.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "costmodel/units.h"
#include "search/partition/stages/stage_exact.h"
#include "search/partition/stages/stage_policy.h"
#include "search/partition/stages/stage_ppo.h"
#include "search/partition/stages/transformer_graph.h"
#include "search/partition/timed_graph.h"
#include "sim/workload/readers/graph_txt.h"

namespace stagecraft {
namespace {

// The problems of the training set have other numbers of devices than the unseen ones.
StageProblem Problem(TimedGraph graph, int slow, int fast) {
  return {std::move(graph), {{slow, 1}, {fast, 2}}, Bandwidth(1e10)};
}

TimedGraph Profile(const std::string& folder, const std::string& network) {
  const std::string path = folder + "/" + network + "/graph.txt";
  return ToTimedGraph(ReadProfiledGraph(path), network);
}

std::vector<StageProblem> TrainingSet(const std::string& folder) {
  std::vector<StageProblem> seen;
  for (const char* network : {"vgg16", "alexnet", "squeezenet1_0", "resnet18"}) {
    seen.push_back(Problem(Profile(folder, network), 4, 4));
    seen.push_back(Problem(Profile(folder, network), 6, 2));
  }
  for (const int layers : {2, 4, 6}) {
    const TransformerSize size{"transformer", layers, 512, 30000, 4096};
    seen.push_back(Problem(TransformerGraph::Make(size), 4, 4));
    seen.push_back(Problem(TransformerGraph::Make(size), 2, 6));
  }
  return seen;
}

double BestAfter(const std::vector<CurvePoint>& curve, int64_t evaluations) {
  double best = 0;
  for (const CurvePoint& point : curve) {
    if (point.evaluations <= evaluations) best = point.score;
  }
  return best;
}

void PrintCurve(const std::string& title, const StageProblem& problem, StagePolicy policy,
                double exact, int64_t evaluations) {
  StageTrials trials({.evaluations = evaluations});
  SearchByPolicy(problem, {}, policy, trials);
  fmt::print("  {:13}", title);
  for (int64_t at = 32; at <= evaluations; at *= 4) {
    const double best = BestAfter(trials.curve(), at);
    fmt::print("{:>8}:{:>7.1f}%", at, 100 * (best / exact - 1));
  }
  fmt::print("\n");
  std::fflush(stdout);
}

void Study(const std::string& folder, int64_t evaluations, int rounds, int width) {
  StagePolicy trained({width}, 1);
  TrainPolicy(TrainingSet(folder), rounds, {}, trained);
  std::vector<StageProblem> unseen = {
      Problem(Profile(folder, "resnet50"), 8, 8),
      Problem(TransformerGraph::Make({"BERT-large", 24, 1024, 30522, 16384}), 8, 8),
      Problem(TransformerGraph::Make({"GPT-2 1.5B", 48, 1600, 50257, 8192}), 8, 8)};
  for (const StageProblem& problem : unseen) {
    const double exact = SolveStagesExactly(problem)->score;
    fmt::print("{}: {} operators, gap to the exact {:.3f} ms after evaluations\n",
               problem.graph.name, problem.graph.nodes.size(), exact * 1e3);
    PrintCurve("fine-tuned", problem, StagePolicy::Read(trained.Write(), "trained"), exact,
               evaluations);
    PrintCurve("from scratch", problem, StagePolicy({width}, 1), exact, evaluations);
  }
}

}  // namespace
}  // namespace stagecraft

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  stagecraft::Study(argv[1], argc > 2 ? std::atoi(argv[2]) : 2048,
                    argc > 3 ? std::atoi(argv[3]) : 20, argc > 4 ? std::atoi(argv[4]) : 16);
  return 0;
}
