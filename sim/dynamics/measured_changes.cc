#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "costmodel/check.h"
#include "costmodel/csv_records.h"
#include "costmodel/text.h"
#include "sim/dynamics/dynamics_proto.h"
#include "sim/workload/early_exit.h"

namespace stagecraft {
namespace {

enum Column {
  kStep,
  kLayer,
  kTrained,
  kCached,
  kTokenShare,
  kWeightDensity,
  kStorage,
  kAttentionDensity,
  kExpertRows,
  kDetached,
  kExitHead,
  kColumns
};
constexpr std::array<std::string_view, kColumns> kNames = {
    "step",        "layer",          "trained",  "cached",
    "token_share", "weight_density", "storage",  "attention_density",
    "expert_rows", "detached",       "exit_head"};

class StateTable {
 public:
  StateTable(const std::string& text, const std::string& name, const Workload& workload)
      : records_(text, name), workload_(workload) {}

  std::vector<NetworkChange> Read() {
    ReadHeader();
    std::vector<NetworkChange> changes;
    std::vector<LayerState> states(workload_.layers.size());
    while (records_.Next()) {
      if (records_.is_blank()) continue;
      if (records_.fields().size() != fields_) {
        throw InputError(fmt::format("{}: got {} fields, want {}, as the header has",
                                     records_.Place(), records_.fields().size(), fields_));
      }
      const auto step = Whole(kStep, 0, std::numeric_limits<int64_t>::max());
      if (changes.empty() || step > changes.back().step) {
        changes.push_back({step, states, "as measured"});
      } else if (step < changes.back().step) {
        Fail(kStep, fmt::format("{} or more, as steps ascend", changes.back().step));
      }
      const auto layer = static_cast<size_t>(Whole(kLayer, 0, workload_.layer_count() - 1));
      states[layer] = State();
      changes.back().states = states;
    }
    if (changes.empty()) throw InputError(records_.name() + ": got no rows, want one or more");
    return changes;
  }

 private:
  void ReadHeader() {
    column_.fill(-1);
    if (records_.Next()) {
      fields_ = records_.fields().size();
      for (size_t i = 0; i < fields_; ++i) {
        const std::string_view word = records_.fields()[i];
        const auto found = std::find(kNames.begin(), kNames.end(), word);
        if (found == kNames.end()) {
          throw InputError(fmt::format("{}: got a column \"{}\", want {}", records_.Place(), word,
                                       fmt::format("{}",
                                                   "step, layer, trained, cached, "
                                                   "token_share, weight_density, storage, "
                                                   "attention_density, expert_rows, "
                                                   "detached or exit_head")));
        }
        int& column = column_[static_cast<size_t>(found - kNames.begin())];
        if (column >= 0) {
          throw InputError(
              fmt::format("{}: got the column \"{}\" twice, want it once", records_.Place(), word));
        }
        column = static_cast<int>(i);
      }
    }
    if (column_[kStep] < 0 || column_[kLayer] < 0) {
      throw InputError(records_.name() +
                       ": got a table without the columns step and layer, want "
                       "both");
    }
  }

  std::string_view Text(Column column) const {
    return column_[column] < 0 ? std::string_view() : records_.fields()[column_[column]];
  }
  [[noreturn]] void Fail(Column column, const std::string& want) const {
    throw InputError(fmt::format("{}: {}: got \"{}\", want {}", records_.Place(), kNames[column],
                                 Text(column), want));
  }
  int64_t Whole(Column column, int64_t low, int64_t high) const {
    const auto value = ParseNumber<int64_t>(Text(column));
    if (!value || *value < low || *value > high) {
      Fail(column, high == std::numeric_limits<int64_t>::max()
                       ? fmt::format("a whole number of {} or more", low)
                       : fmt::format("a whole number from {} to {}", low, high));
    }
    return *value;
  }
  bool IsYes(Column column, bool usual) const {
    const std::string_view text = Text(column);
    if (text.empty()) return usual;
    if (text != "yes" && text != "no") Fail(column, "yes or no");
    return text == "yes";
  }
  double Share(Column column) const {
    if (Text(column).empty()) return 1;
    const auto share = ParseNumber<double>(Text(column));
    if (!share || !(*share >= 0 && *share <= 1)) Fail(column, "a number from 0 to 1");
    return *share;
  }
  LayerState State() const {
    LayerState state;
    state.is_detached = IsYes(kDetached, false);
    state.is_trained = IsYes(kTrained, true) && !state.is_detached;
    state.is_cached = IsYes(kCached, false);
    state.token_share = Share(kTokenShare);
    state.weight_density = Share(kWeightDensity);
    state.attention_density = Share(kAttentionDensity);
    const std::string_view storage = Text(kStorage);
    if (!storage.empty() && storage != "csr" && storage != "masked") {
      Fail(kStorage, "csr or masked");
    }
    if (storage == "csr") state.storage = WeightStorage::kCsr;
    const std::string_view head = Text(kExitHead);
    for (const ExitHead kind : {ExitHead::kNone, ExitHead::kOwn, ExitHead::kTied}) {
      if (head == Name(kind)) state.exit_head = kind;
    }
    if (!head.empty() && head != Name(state.exit_head)) Fail(kExitHead, "none, own or tied");
    std::string_view rows = Text(kExpertRows);
    while (!rows.empty()) {
      const size_t end = std::min(rows.find(' '), rows.size());
      const auto value = ParseNumber<double>(rows.substr(0, end));
      if (!value || !(*value >= 0)) Fail(kExpertRows, "numbers of 0 or more with blanks between");
      state.expert_rows.push_back(*value);
      rows.remove_prefix(std::min(end + 1, rows.size()));
    }
    return state;
  }

  CsvRecords records_;
  const Workload& workload_;
  size_t fields_ = 0;
  std::array<int, kColumns> column_;
};

}  // namespace

std::vector<NetworkChange> MeasuredChanges(const std::string& text, const std::string& name,
                                           const Workload& workload) {
  return StateTable(text, name, workload).Read();
}

}  // namespace stagecraft
