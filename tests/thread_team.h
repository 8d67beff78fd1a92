// ThreadTeam: a team whose ranks are threads of one process, for tests.
#pragma once

#include <barrier>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "search/team.h"

namespace stagecraft {

class ThreadTeam {
 public:
  // Calls `run` for every rank, each in a thread of its own, until all have returned. Each must
  // call Exchange() equally often, also if it throws: what the first rank threw is thrown again.
  static void Run(int size, const std::function<void(Team& team)>& run) {
    ThreadTeam team(size);
    std::vector<std::exception_ptr> thrown(static_cast<size_t>(size));
    std::vector<std::thread> threads;
    for (int rank = 0; rank < size; ++rank) {
      threads.emplace_back([&, rank] {
        Rank own(team, rank);
        try {
          run(own);
        } catch (...) {
          thrown[static_cast<size_t>(rank)] = std::current_exception();
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (const std::exception_ptr& one : thrown) {
      if (one) std::rethrow_exception(one);
    }
  }

 private:
  class Rank : public Team {
   public:
    Rank(ThreadTeam& team, int rank) : team_(team), rank_(rank) {}
    int rank() const override { return rank_; }
    int size() const override { return static_cast<int>(team_.messages_.size()); }
    std::vector<std::string> Exchange(const std::string& own) override {
      team_.messages_[static_cast<size_t>(rank_)] = own;
      team_.barrier_.arrive_and_wait();
      std::vector<std::string> all = team_.messages_;
      team_.barrier_.arrive_and_wait();
      return all;
    }

   private:
    ThreadTeam& team_;
    const int rank_;
  };

  explicit ThreadTeam(int size) : messages_(static_cast<size_t>(size)), barrier_(size) {}

  std::vector<std::string> messages_;
  std::barrier<> barrier_;
};

}  // namespace stagecraft
