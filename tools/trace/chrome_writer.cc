#include "tools/trace/chrome_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace stagecraft {
namespace {

// The text as a JSON string with its quotes; bytes that are not UTF-8 are replaced.
std::string Quote(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::vector<std::string> QuoteAll(const std::vector<std::string>& texts) {
  std::vector<std::string> quoted;
  for (const std::string& text : texts) quoted.push_back(Quote(text));
  return quoted;
}

const char* UnitName(const TraceTrack& counter) {
  switch (counter.unit) {
    case TraceTrack::Unit::kNanoseconds:
      return "ns";
    case TraceTrack::Unit::kCount:
      return "count";
    case TraceTrack::Unit::kBytes:
      break;
  }
  return "bytes";
}

// A time in microseconds, exactly: 1234 ns are 1.234.
struct Microseconds {
  explicit Microseconds(Duration time) : whole(time.ns() / 1000), rest(time.ns() % 1000) {}
  int64_t whole;
  int64_t rest;
};

class Writer {
 public:
  Writer(const TraceView& view, std::ostream& out)
      : view_(view),
        out_(out),
        names_(QuoteAll(view.names)),
        categories_(QuoteAll(view.categories)),
        keys_(QuoteAll(view.keys)),
        texts_(QuoteAll(view.texts)) {
    for (const TraceTrack& track : view.tracks) root_process_ = std::max(root_process_, track.rank);
    ++root_process_;
  }

  void Write() {
    WriteHeader();
    for (const TraceTrack& track : view_.tracks) WriteNames(track);
    for (const TraceSlice& slice : view_.slices) WriteSlice(slice);
    for (size_t i = 0; i < view_.flows.size(); ++i) WriteFlow(i);
    for (const TraceTrack& track : view_.tracks) {
      if (track.kind == TraceTrack::Kind::kCounter) WritePoints(track);
    }
    out_ << "\n]}\n";
  }

 private:
  // The process of a track: its rank, or the one after all ranks for tracks of none.
  int32_t Process(const TraceTrack& track) const {
    return track.rank >= 0 ? track.rank : root_process_;
  }
  static int32_t Thread(const TraceTrack& track) { return track.order + 1; }

  template <typename... Args>
  void Append(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(line_), format, std::forward<Args>(args)...);
  }

  // These append fields of which a trace has millions, without the cost of a format string.
  void AppendText(std::string_view text) { line_.append(text.data(), text.data() + text.size()); }
  void AppendNumber(int64_t value) {
    const fmt::format_int text(value);
    line_.append(text.data(), text.data() + text.size());
  }

  // `opening` is a comma, the key in quotes and a colon.
  void AppendTime(std::string_view opening, Duration time) {
    const Microseconds us(time);
    AppendText(opening);
    AppendNumber(us.whole);
    const char rest[] = {'.', static_cast<char>('0' + us.rest / 100),
                         static_cast<char>('0' + us.rest / 10 % 10),
                         static_cast<char>('0' + us.rest % 10)};
    AppendText({rest, sizeof(rest)});
  }

  void EndEvent() {
    out_ << (is_first_ ? "\n" : ",\n");
    out_.write(line_.data(), static_cast<std::streamsize>(line_.size()));
    line_.clear();
    is_first_ = false;
  }

  void WriteHeader() {
    out_ << "{\"displayTimeUnit\":\"ms\",\"otherData\":{\"title\":" << Quote(view_.tracks[0].name);
    for (const auto& [key, value] : view_.facts) out_ << ',' << Quote(key) << ':' << Quote(value);
    out_ << "},\"traceEvents\":[";
  }

  void WriteNames(const TraceTrack& track) {
    if (track.kind == TraceTrack::Kind::kCounter) return;  // its events name it
    const bool is_process = track.kind == TraceTrack::Kind::kGroup;
    const char* what = is_process ? "process" : "thread";
    const int32_t sort_index = track.parent < 0 ? -1 : track.order;
    std::string place = fmt::format("\"pid\":{}", Process(track));
    if (!is_process) place += fmt::format(",\"tid\":{}", Thread(track));
    Append(R"({{"ph":"M","name":"{}_name",{},"args":{{"name":{}}}}})", what, place,
           Quote(track.name));
    EndEvent();
    Append(R"({{"ph":"M","name":"{}_sort_index",{},"args":{{"sort_index":{}}}}})", what, place,
           sort_index);
    EndEvent();
  }

  void WriteSlice(const TraceSlice& slice) {
    const TraceTrack& track = view_.tracks[slice.track];
    Append(R"({{"ph":"X","name":{},"cat":{},"pid":{},"tid":{})", names_[slice.name],
           categories_[slice.category], Process(track), Thread(track));
    AppendTime(",\"ts\":", slice.start);
    AppendTime(",\"dur\":", slice.end - slice.start);
    if (slice.arguments_begin < slice.arguments_end) {
      const char* before = ",\"args\":{";
      for (int64_t i = slice.arguments_begin; i < slice.arguments_end; ++i) {
        const TraceArgument& argument = view_.arguments[i];
        AppendText(before);
        AppendText(keys_[argument.key]);
        AppendText(":");
        if (argument.is_text) {
          AppendText(texts_[argument.value]);
        } else {
          AppendNumber(argument.value);
        }
        before = ",";
      }
      AppendText("}");
    }
    AppendText("}");
    EndEvent();
  }

  void WriteFlow(size_t index) {
    const TraceFlow& flow = view_.flows[index];
    const TraceSlice& from = view_.slices[flow.from];
    const auto write = [&](const char* phase, const TraceSlice& slice) {
      const TraceTrack& track = view_.tracks[slice.track];
      Append(R"({{"ph":{},"name":{},"cat":{},"id":{},"pid":{},"tid":{})", phase, names_[from.name],
             categories_[from.category], index + 1, Process(track), Thread(track));
      AppendTime(",\"ts\":", slice.start);
      AppendText("}");
      EndEvent();
    };
    write(R"("s")", from);
    write(R"("f","bp":"e")", view_.slices[flow.to]);
  }

  void WritePoints(const TraceTrack& track) {
    const std::string opening =
        fmt::format(R"({{"ph":"C","name":{},"pid":{})", Quote(track.name), Process(track));
    const std::string before_value = fmt::format(R"(,"args":{{"{}":)", UnitName(track));
    for (int64_t i = track.begin; i < track.end; ++i) {
      AppendText(opening);
      AppendTime(",\"ts\":", view_.points[i].time);
      AppendText(before_value);
      AppendNumber(view_.points[i].value);
      AppendText("}}");
      EndEvent();
    }
  }

  const TraceView& view_;
  std::ostream& out_;
  const std::vector<std::string> names_, categories_, keys_, texts_;
  int32_t root_process_ = -1;
  bool is_first_ = true;
  fmt::memory_buffer line_;
};

}  // namespace

void WriteChrome(const TraceView& view, std::ostream& out) { Writer(view, out).Write(); }

}  // namespace stagecraft
