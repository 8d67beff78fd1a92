#include "tools/train/train_answer.h"

#include "costmodel/random.h"
#include "search/training/job_simulation.h"
#include "sim/job/job_run.h"

namespace stagecraft {

TrainAnswer Train(const Job& job, int runs, bool compares_balancers) {
  const JobSimulation simulation(job, TrainStates(job));
  TrainAnswer answer;
  answer.states = simulation.states();
  try {
    if (runs > 1) {
      answer.summary = Summarise(SimulateRuns(simulation.spec(), runs, Random(job.seed)));
    } else {
      SimulateRun(simulation.spec(), Random(job.seed), &answer.history.emplace());
    }
    if (compares_balancers) answer.comparison = CompareBalancers(job);
  } catch (const std::exception& error) {
    answer.failure = std::current_exception();
    answer.stopped = error.what();
  }
  return answer;
}

}  // namespace stagecraft
