// Puts a predicted and a measured timeline of one schedule into one view.
#pragma once

#include "tools/trace/trace_view.h"

namespace stagecraft {

// Returns a view with every lane of every rank twice, "compute predicted" above "compute measured".
// Measured tasks state the time that was predicted for them; title and facts are those of the
// predicted view. Preconditions: MakeTraceView() made both, for one schedule, without launches and
// memory, and the measured one at TraceLevel::kTask.
TraceView PairTraceViews(const TraceView& predicted, const TraceView& measured);

}  // namespace stagecraft
