// StageState: a plan that changes a little at a time, with its score, of which only what a change
// touches is computed anew.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "search/partition/stages/stage_costs.h"

namespace stagecraft {

// The score is that of StageScorer, bit for bit. Between changes stages may be empty and edges may
// lead backwards; Score() requires a valid plan.
class StageState {
 public:
  // `costs` must outlive this object.
  StageState(const StageCosts& costs, StagePlan plan);

  const StagePlan& plan() const { return plan_; }
  const StageCosts& costs() const { return costs_; }
  int nodes_in(int stage) const { return counts_[stage]; }
  int unused(int kind) const { return unused_[kind]; }  // devices; negative if too many are taken

  // Moves nodes to a stage. O(degree of the nodes * degree of their producers).
  void MoveNodes(std::span<const int> nodes, int to);
  void SetReplicas(int stage, const StageReplicas& on);
  // Inserts an empty stage in front of `stage`, or removes one. O(nodes).
  void InsertStage(int stage, const StageReplicas& on);
  void EraseStage(int stage);

  // Returns the score. O(stages) comparisons; only what was touched is computed anew.
  double Score();
  // The slowest stage of the last Score(), the first among equals.
  int slowest_stage() const { return slowest_stage_; }

  // Undoes all changes since the last Keep().
  void Undo();
  void Keep() { journal_.clear(); }

 private:
  enum class Change { kNode, kReplicas, kInsert, kErase };
  struct Entry {
    Change change;
    int index;  // node or stage
    int stage;  // kNode: where it was
    StageReplicas on;
  };

  void Place(int node, int stage);
  void Insert(int stage, const StageReplicas& on);
  void Erase(int stage);
  void Take(int stage, const StageReplicas& on);
  void AddCrossing(int first, int end, int64_t bytes);
  int LastReader(int node) const;
  void Renumber(int from, int by);

  const StageCosts& costs_;
  StagePlan plan_;
  std::vector<int> last_reader_;   // by node: the latest stage of a consumer; -1: none
  std::vector<int> counts_;        // by stage
  std::vector<StageSizes> sizes_;  // by stage
  std::vector<int64_t> crossing_;  // bytes, by the stage in front of the cut
  std::vector<double> seconds_;    // by stage; below 0: not known
  std::vector<int> unused_;        // by kind
  std::vector<Entry> journal_;
  int slowest_stage_ = 0;
};

}  // namespace stagecraft
