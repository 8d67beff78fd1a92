#include "sim/pipeline/pytorch_csv.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "costmodel/check.h"
#include "costmodel/text.h"
#include "sim/pipeline/order_errors.h"

namespace stagecraft {
namespace {

constexpr std::string_view kBeside = ")OVERLAP_F_B";
constexpr std::array<std::string_view, 7> kCommunication = {
    "UNSHARD", "RESHARD", "SEND_F", "RECV_F", "SEND_B", "RECV_B", "REDUCE_GRAD"};

struct Action {
  int part = 0;
  Phase phase = Phase::kForward;
  int micro_batch = 0;
  bool is_pass = true;  // rather than communication
  bool beside_next = false;
};

std::optional<Phase> PhaseOf(std::string_view op) {
  if (op == "F") return Phase::kForward;
  if (op == "B") return Phase::kBackward;
  if (op == "I") return Phase::kBackwardInput;
  if (op == "W") return Phase::kBackwardWeight;
  return {};
}

std::optional<Action> ParseAction(std::string_view text) {
  Action action;
  const std::optional<int> part = TakeNumber<int>(text);
  if (!part || *part < 0) return {};
  action.part = *part;
  const std::string_view op = text.substr(0, text.find_first_of("0123456789"));
  text.remove_prefix(op.size());
  const std::optional<int> micro_batch = TakeNumber<int>(text);
  if (!text.empty() || micro_batch.value_or(0) < 0) return {};
  if (const std::optional<Phase> phase = PhaseOf(op)) {
    if (!micro_batch) return {};
    action.phase = *phase;
    action.micro_batch = *micro_batch;
    return action;
  }
  action.is_pass = false;
  const bool is_known =
      std::find(kCommunication.begin(), kCommunication.end(), op) != kCommunication.end();
  return is_known ? std::optional(action) : std::nullopt;
}

class Reader {
 public:
  explicit Reader(const std::string& name) : name_(name) {}

  PytorchSchedule Read(std::string_view text) {
    std::vector<std::string_view> lines = SplitAt(text, '\n');
    // A line break at the end of the text begins no further row.
    while (!lines.empty() && Trimmed(lines.back()).empty()) lines.pop_back();
    for (const std::string_view line : lines) ReadRow(line);
    return Build(FindMap());
  }

 private:
  struct Cell {
    Action action;
    size_t column = 0;
  };

  [[noreturn]] void Fail(size_t rank, size_t column, const std::string& what) const {
    throw InputError(fmt::format("{}:{}: column {}: {}", name_, rank + 1, column, what));
  }

  void ReadRow(std::string_view line) {
    rows_.emplace_back();
    const std::vector<std::string_view> cells = SplitAt(line, ',');
    for (size_t i = 0; i < cells.size(); ++i) {
      const std::string_view cell = Trimmed(cells[i]);
      if (!cell.empty() && !ReadCell(cell, i + 1)) {
        Fail(rows_.size() - 1, i + 1,
             fmt::format("got \"{}\", want STAGE{{F|B|I|W}}MICRO_BATCH, two of them as "
                         "(A;B)OVERLAP_F_B, or a lowered communication",
                         cell));
      }
    }
  }

  bool ReadCell(std::string_view cell, size_t column) {
    if (cell.front() != '(') return Add(ParseAction(cell), column);
    if (!cell.ends_with(kBeside)) return false;
    const std::vector<std::string_view> both =
        SplitAt(cell.substr(1, cell.size() - 1 - kBeside.size()), ';');
    if (both.size() != 2) return false;
    std::optional<Action> first = ParseAction(Trimmed(both[0]));
    const std::optional<Action> second = ParseAction(Trimmed(both[1]));
    if (!first || !second || !first->is_pass || !second->is_pass) return false;
    first->beside_next = true;
    return Add(first, column) && Add(second, column);
  }

  bool Add(const std::optional<Action>& action, size_t column) {
    if (!action) return false;
    if (!action->is_pass) return true;
    rows_.back().push_back({*action, column});
    parts_ = std::max(parts_, int64_t{action->part} + 1);
    micro_batches_ = std::max(micro_batches_, int64_t{action->micro_batch} + 1);
    ++passes_;
    return true;
  }

  // Returns the rank of each part; refuses a part that two ranks have, or none.
  std::vector<int> RanksOfParts() const {
    std::vector<int> ranks(static_cast<size_t>(parts_), -1);
    for (size_t rank = 0; rank < rows_.size(); ++rank) {
      for (const Cell& cell : rows_[rank]) {
        int& owner = ranks[cell.action.part];
        if (owner >= 0 && owner != static_cast<int>(rank)) {
          Fail(rank, cell.column,
               fmt::format("stage {} is on rank {} too, want each on one (this format holds no "
                           "pipelines in two directions)",
                           cell.action.part, owner));
        }
        owner = static_cast<int>(rank);
      }
    }
    const auto none = std::find(ranks.begin(), ranks.end(), -1);
    if (none != ranks.end()) {
      throw InputError(
          fmt::format("{}: no rank has stage {} of {}", name_, none - ranks.begin(), parts_));
    }
    return ranks;
  }

  ChunkMap FindMap() const {
    if (passes_ == 0) throw InputError(name_ + ": got no passes, want cells like 0F0 or 3B1");
    if (passes_ < parts_ * micro_batches_) {
      throw InputError(
          fmt::format("{}: got {} passes, want each of {} stages to run each of {} "
                      "micro-batches",
                      name_, passes_, parts_, micro_batches_));
    }
    const std::vector<int> ranks = RanksOfParts();
    const int stages = static_cast<int>(rows_.size());
    if (parts_ % stages != 0) {
      throw InputError(fmt::format("{}: got {} stages on {} ranks, want the same number on each",
                                   name_, parts_, stages));
    }
    const int chunks = static_cast<int>(parts_) / stages;
    const ChunkMap looped = ChunkMap::Looped(stages, chunks);
    const ChunkMap wave = ChunkMap::Wave(stages, chunks);
    const int wrong = std::max(FirstMisfit(looped, ranks), FirstMisfit(wave, ranks));
    if (wrong < parts_) {
      throw InputError(fmt::format("{}: stage {} is on rank {}, want {} (looped) or {} (a wave)",
                                   name_, wrong, ranks[wrong], looped.PlaceOf({0, wrong}).stage,
                                   wave.PlaceOf({0, wrong}).stage));
    }
    return FirstMisfit(looped, ranks) == parts_ ? looped : wave;
  }

  // Returns the first part that is not on the stage where `map` puts it, or the number of parts if
  // there is none.
  static int FirstMisfit(const ChunkMap& map, const std::vector<int>& ranks) {
    int part = 0;
    while (part < map.length() && map.PlaceOf({0, part}).stage == ranks[part]) ++part;
    return part;
  }

  PytorchSchedule Build(const ChunkMap& map) const {
    PytorchSchedule schedule{map, static_cast<int>(micro_batches_), {}};
    bool forward_only = true;
    for (const std::vector<Cell>& row : rows_) {
      PassOrder& order = schedule.orders.emplace_back();
      for (const Cell& cell : row) {
        const Action& action = cell.action;
        const int chunk = map.PlaceOf({0, action.part}).chunk;
        order.push_back(
            {action.phase, static_cast<int16_t>(chunk), action.micro_batch, action.beside_next});
        forward_only = forward_only && action.phase == Phase::kForward;
      }
    }
    const std::optional<std::string> error =
        FindOrderError(map, schedule.orders, schedule.micro_batches, forward_only);
    if (error) throw InputError(name_ + ": " + *error);
    return schedule;
  }

  const std::string& name_;
  std::vector<std::vector<Cell>> rows_;  // by rank
  int64_t parts_ = 0;
  int64_t micro_batches_ = 0;
  int64_t passes_ = 0;
};

}  // namespace

bool IsPytorchCsv(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(", \t\r\n("), text.size()));
  constexpr std::string_view kInitials = "FBIWSRU";  // of passes and of communication
  return TakeNumber<int>(text).value_or(-1) >= 0 && !text.empty() &&
         kInitials.find(text[0]) != kInitials.npos;
}

PytorchSchedule ReadPytorchCsv(std::string_view text, const std::string& name) {
  return Reader(name).Read(text);
}

}  // namespace stagecraft
