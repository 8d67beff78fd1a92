// OwnWords: finds phases and kinds of lanes by the words that traces of this program hold.
#pragma once

#include <optional>
#include <string_view>

#include "sim/schedule/task_tag.h"

namespace stagecraft {

std::optional<Phase> FindPhase(std::string_view name);
std::optional<LaneKind> FindLaneKind(std::string_view name);

}  // namespace stagecraft
