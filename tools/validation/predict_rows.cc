#include "tools/validation/predict_rows.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>

namespace stagecraft {

// Rows are independent: threads take one after another, and results keep the places of their rows.
void PredictRows(std::vector<ValidatedRow>& rows, const PredictionBasis& basis,
                 const RowProgress& progress) {
  std::atomic<size_t> next = 0;
  std::mutex mutex;
  std::exception_ptr failure;  // such as lack of memory; exceptions must not leave a thread
  const auto work = [&](bool reports) {
    try {
      for (size_t i = next++; i < rows.size(); i = next++) {
        rows[i].prediction = PredictRow(rows[i].measured, basis);
        if (!reports) continue;
        progress(static_cast<int64_t>(i) + 1, static_cast<int64_t>(rows.size()));
      }
    } catch (...) {
      const std::lock_guard lock(mutex);
      failure = std::current_exception();
    }
  };
  const unsigned count = std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::jthread> threads;
  for (unsigned thread = 1; thread < count && thread < rows.size(); ++thread) {
    threads.emplace_back(work, false);
  }
  work(static_cast<bool>(progress));
  threads.clear();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace stagecraft
