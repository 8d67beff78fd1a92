// Buffers that what a StreamProgram exchanges lies in.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "costmodel/units.h"
#include "runtime/stream_program.h"
#include "sim/schedule/schedule.h"

namespace stagecraft {

// A stream's own: what it sends, receives or shares. In one process the receiver of what a
// stream copies has another one for that stream.
using BufferKey = std::pair<int32_t, int32_t>;  // stream, rank in whose memory it is

// How large they are: as the largest that they exchange, one after another. An all-to-all has
// what it sends and what it gets behind one another.
std::map<BufferKey, Bytes> ExchangeBuffers(const Schedule& schedule, const StreamProgram& program);

// What a message or a collective among the ops of a task is long.
Bytes ExchangedBytes(const Schedule& schedule, const Command& command);

// Of a message, its sender and receiver.
const std::vector<int32_t>& MessageEnds(const StreamProgram& program, const Command& command);

}  // namespace stagecraft
