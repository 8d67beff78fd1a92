// TracePair: a predicted and a measured timeline of one schedule in one view.
#pragma once

#include "tools/trace/trace_view.h"

namespace stagecraft {

// Has the tracks of every rank twice, "compute predicted" above "compute measured". Measured tasks
// state what was predicted for them. Both views are MakeTraceView()'s, of one schedule and without
// launches or memory; the measured one at TraceLevel::kTask. Title and facts are those of the
// predicted one.
TraceView PairTraceViews(const TraceView& predicted, const TraceView& measured);

}  // namespace stagecraft
