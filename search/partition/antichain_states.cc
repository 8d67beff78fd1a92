#include "search/partition/antichain_states.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <utility>

#include "costmodel/check.h"

namespace stagecraft {
namespace {

using Antichain = std::vector<int>;  // ascending

class StateFinder {
 public:
  StateFinder(const TimedGraph& graph, int most, const StopSign& stop)
      : graph_(graph),
        most_(most),
        stop_(stop),
        before_(Ancestors(graph.dag)),
        after_(Descendants(graph.dag)) {}

  AntichainStates Find() {
    const auto first = std::find_if(graph_.dag.order.begin(), graph_.dag.order.end(),
                                    [&](int node) { return graph_.dag.producers[node].empty(); });
    NumberOf({*first});
    for (size_t next = 0; next < antichains_.size(); ++next) {
      stop_.Check();
      const Antichain antichain = antichains_[next];
      for (Antichain& later : Next(antichain)) {
        const int number = NumberOf(std::move(later));
        later_[next].push_back(number);
      }
    }
    return Sorted();
  }

 private:
  int NumberOf(Antichain antichain) {
    const auto [found, is_new] =
        numbers_.emplace(std::move(antichain), static_cast<int>(antichains_.size()));
    if (is_new) {
      if (static_cast<int>(antichains_.size()) >= most_) {
        throw InputError(
            fmt::format("{}: has more than {} antichain states, want fewer or shorter branches",
                        graph_.name, most_));
      }
      antichains_.push_back(found->first);
      later_.emplace_back();
    }
    return found->second;
  }

  // Returns the antichain with the earlier nodes whose output is needed beyond it.
  Antichain Augment(const Antichain& antichain) const {
    NodeSet members(graph_.dag.size());
    for (const int member : antichain) {
      members.set(member);
      const NodeSet& before = before_[member];
      for (size_t node = before.find_first(); node != NodeSet::npos;
           node = before.find_next(node)) {
        for (const int consumer : graph_.dag.consumers[node]) {
          if (consumer != member && !before.test(consumer)) members.set(node);
        }
      }
    }
    return Members(members);
  }

  // Returns the members from which no path leads to another member.
  Antichain LastOnly(const NodeSet& members) const {
    Antichain last;
    for (const int member : Members(members)) {
      if (!after_[member].intersects(members)) last.push_back(member);
    }
    return last;
  }

  std::vector<Antichain> Next(const Antichain& antichain) const {
    const Antichain augmented = Augment(antichain);
    NodeSet members(graph_.dag.size());
    for (const int member : augmented) members.set(member);
    std::vector<Antichain> next;
    for (const int member : augmented) {
      for (const int consumer : graph_.dag.consumers[member]) {
        if (std::binary_search(antichain.begin(), antichain.end(), consumer)) continue;
        if (after_[consumer].intersects(members)) continue;
        NodeSet replaced = members;
        replaced.reset(member);
        replaced.set(consumer);
        next.push_back(LastOnly(replaced));
      }
    }
    return next;
  }

  AntichainState StateOf(const Antichain& antichain) const {
    AntichainState state;
    state.done = NodeSet(graph_.dag.size());
    for (const int member : antichain) {
      state.done |= before_[member];
      state.done.set(member);
    }
    for (const int node : Members(state.done)) {
      state.compute += graph_.nodes[node].compute();
      state.activations += graph_.nodes[node].activation;
      state.parameters += graph_.nodes[node].parameters;
    }
    for (const int node : Augment(antichain)) state.output += graph_.nodes[node].activation;
    return state;
  }

  // Returns the states, those with fewer operators done first, so that every path leads to a later
  // state.
  AntichainStates Sorted() const {
    std::vector<AntichainState> states;
    for (const Antichain& antichain : antichains_) {
      stop_.Check();
      states.push_back(StateOf(antichain));
    }
    std::vector<int> order(states.size());
    std::vector<size_t> done(states.size());
    for (size_t s = 0; s < states.size(); ++s) {
      order[s] = static_cast<int>(s);
      done[s] = states[s].done.count();
    }
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return done[a] < done[b]; });
    std::vector<int> place(states.size());
    for (size_t s = 0; s < order.size(); ++s) place[order[s]] = static_cast<int>(s);
    AntichainStates sorted;
    for (const int old : order) {
      sorted.states.push_back(std::move(states[old]));
      sorted.states.back().earlier = NodeSet(order.size());
    }
    for (size_t s = 0; s < order.size(); ++s) {
      for (const int later : later_[order[s]]) {
        CHECK(place[later] > static_cast<int>(s));
        NodeSet& earlier = sorted.states[place[later]].earlier;
        earlier |= sorted.states[s].earlier;
        earlier.set(s);
      }
    }
    return sorted;
  }

  const TimedGraph& graph_;
  const int most_;
  const StopSign& stop_;
  const std::vector<NodeSet> before_;
  const std::vector<NodeSet> after_;
  std::map<Antichain, int> numbers_;
  std::vector<Antichain> antichains_;
  std::vector<std::vector<int>> later_;  // by number, unsorted
};

}  // namespace

AntichainStates FindAntichainStates(const TimedGraph& graph, int most, const StopSign& stop) {
  return StateFinder(graph, most, stop).Find();
}

}  // namespace stagecraft
