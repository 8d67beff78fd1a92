#include "tools/report/search_progress.h"

#include <fmt/core.h>

#include <cmath>

#include "tools/report/cost_report.h"

namespace stagecraft {

std::string SearchProgressText(const SearchProblem& problem, const SearchProgress& progress,
                               double seconds) {
  std::string text = fmt::format("{} plans evaluated", progress.evaluated);
  const double rate = seconds > 0 ? static_cast<double>(progress.evaluated) / seconds : 0;
  if (rate > 0) text += fmt::format(", {:.3g} plans/s", rate);
  text += fmt::format(", at most {} left", progress.left);
  if (rate > 0) text += fmt::format(" ({:.0f} s)", static_cast<double>(progress.left) / rate);
  text += fmt::format("; {}: ", ScoreLabel(problem));
  text += std::isfinite(progress.best)
              ? fmt::format("best {:.4g}", ShownScore(problem, progress.best))
              : "none yet";
  return text + fmt::format(", bound {:.4g}", ShownScore(problem, progress.bound));
}

}  // namespace stagecraft
