#include "runtime/exchange_buffers.h"

#include <algorithm>

#include "costmodel/check.h"
#include "costmodel/collectives.h"

namespace stagecraft {
namespace {

// Even a message without contents has to tell its receiver that it has arrived.
constexpr Bytes kLeastMessage(4);

}  // namespace

Bytes ExchangedBytes(const Schedule& schedule, const StreamCommand& command) {
  const OpSequenceId op_sequence = schedule.op_sequence(command.task);
  if (op_sequence < 0 || schedule.ops(op_sequence).empty()) return kLeastMessage;
  return std::max(kLeastMessage, schedule.op(schedule.ops(op_sequence)[command.first]).bytes);
}

const std::vector<int32_t>& MessageEnds(const StreamProgram& program,
                                        const StreamCommand& command) {
  const RankProgram& rank = program.ranks[program.streams[command.stream].rank];
  const int32_t step = rank.StepOf(command.task);
  CHECK(step >= 0);
  return rank.steps[step].peers;
}

std::map<BufferKey, Bytes> ExchangeBuffers(const Schedule& schedule, const StreamProgram& program) {
  std::map<BufferKey, Bytes> buffers;
  const auto need = [&](int32_t stream, int32_t rank, Bytes bytes) {
    Bytes& own = buffers[{stream, rank}];
    own = std::max(own, bytes);
  };
  for (const StreamCommand& command : program.commands) {
    const int32_t rank = program.streams[command.stream].rank;
    switch (command.kind) {
      case CommandKind::kShare: {
        const OpId op = schedule.ops(schedule.op_sequence(command.task))[command.first];
        const int times = CollectiveOf(schedule.op(op).kind).IsExchange() ? 2 : 1;
        need(command.stream, rank, times * ExchangedBytes(schedule, command));
        break;
      }
      case CommandKind::kCopy:
        need(command.stream, MessageEnds(program, command)[1], ExchangedBytes(schedule, command));
        [[fallthrough]];
      case CommandKind::kSend:
      case CommandKind::kReceive:
        need(command.stream, rank, ExchangedBytes(schedule, command));
        break;
      case CommandKind::kSay:
      case CommandKind::kHear:
        need(command.stream, rank, kLeastMessage);
        break;
      default:
        break;
    }
  }
  return buffers;
}

}  // namespace stagecraft
