// OverlapSlowDown: how much longer passes take while other lanes of their device (messages,
// reductions, copies to the host) are at work, as a timeline shows it.
#pragma once

#include <cstdint>
#include <optional>

#include "sim/schedule/schedule.h"
#include "sim/schedule/timeline.h"

namespace stagecraft {

// A pass runs beside others where they cover at least half of its time, and alone where
// they cover less than a tenth. Compared are passes of one kind of which some run beside
// others and some alone.
struct OverlapSlowDown {
  int64_t beside = 0, alone = 0;  // passes that are compared, each on every rank it holds
  int64_t unmatched = 0;          // passes beside others of whose kind none is alone
  // What passes beside others take over what they would take alone. Nothing where none
  // are compared.
  std::optional<double> ratio;
};

// Passes of one block on one rank are of a kind: as ones that are alone take on average.
OverlapSlowDown FindOverlapSlowDown(const Schedule& schedule, const Timeline& timeline);

// Where no block runs both ways, as those that gradients are reduced beside never do. All
// passes of one phase on one rank are of a kind: those alone take so many times what was
// predicted, those beside others would too. A prediction that knows of the slow-down gives
// what it leaves out.
OverlapSlowDown FindOverlapSlowDown(const Schedule& schedule, const Timeline& measured,
                                    const Timeline& predicted);

}  // namespace stagecraft
