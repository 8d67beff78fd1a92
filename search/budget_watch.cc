#include "search/budget_watch.h"

#include "costmodel/hash.h"
#include "search/packing.h"
#include "search/team.h"

namespace stagecraft {
namespace {

// An exchange takes some 0.1 ms, which is also about the time between two calls of a search.
constexpr int kCallsBetweenExchanges = 32;

}  // namespace

void BudgetWatch::Hear(const Opinion& opinion) {
  agreed_.is_late = agreed_.is_late || opinion.is_late;
  agreed_.is_stopped = agreed_.is_stopped || opinion.is_stopped;
  calls_ = 0;
}

void BudgetWatch::Ask() {
  if (++calls_ < kCallsBetweenExchanges) return;
  Packer own;
  own(Own());
  const uint64_t subject = Hash().Add("opinion").value();
  for (const std::string& bytes : ExchangeAbout(*budget_.team, subject, own.Take())) {
    Opinion opinion;
    Unpacker unpacker(bytes);
    unpacker(opinion);
    Hear(opinion);
  }
}

bool BudgetWatch::IsSpent(int64_t evaluated) {
  if (budget_.team == nullptr) return IsSpentHere(evaluated);
  Ask();
  return agreed_.is_late || agreed_.is_stopped ||
         (budget_.evaluations > 0 && evaluated >= budget_.evaluations);
}

bool BudgetWatch::IsStopped() {
  if (budget_.team == nullptr) return IsStoppedHere();
  Ask();
  return agreed_.is_stopped;
}

}  // namespace stagecraft
