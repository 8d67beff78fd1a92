#include "tools/trace/perfetto_writer.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl.h>

#include <algorithm>
#include <cstdint>
#include <queue>
#include <tuple>
#include <utility>
#include <vector>

#include "costmodel/check.h"
#include "proto/perfetto_trace.pb.h"

namespace stagecraft {
namespace {

using perfetto::protos::CounterDescriptor;
using perfetto::protos::InternedData;
using perfetto::protos::TracePacket;
using perfetto::protos::TrackDescriptor;
using perfetto::protos::TrackEvent;

constexpr uint32_t kPacketTag = 1 << 3 | 2;  // Trace.packet, length-delimited
constexpr uint32_t kSequence = 1;
constexpr uint32_t kBootTimeClock = 6;  // BUILTIN_CLOCK_BOOTTIME

// Ids in the file start at 1, indices in the view at 0.
uint64_t Uuid(int64_t track) { return static_cast<uint64_t>(track) + 1; }
uint64_t Iid(int64_t index) { return static_cast<uint64_t>(index) + 1; }

CounterDescriptor::Unit UnitOf(const TraceTrack& counter) {
  switch (counter.unit) {
    case TraceTrack::Unit::kNanoseconds:
      return CounterDescriptor::UNIT_TIME_NS;
    case TraceTrack::Unit::kCount:
      return CounterDescriptor::UNIT_COUNT;
    case TraceTrack::Unit::kBytes:
      break;
  }
  return CounterDescriptor::UNIT_SIZE_BYTES;
}

// The slice at one end of each flow, with the flow's id; sorted.
using FlowEnds = std::vector<std::pair<int64_t, uint64_t>>;

FlowEnds SortedEnds(const std::vector<TraceFlow>& flows, int64_t TraceFlow::*end) {
  FlowEnds ends;
  ends.reserve(flows.size());
  for (const TraceFlow& flow : flows) ends.emplace_back(flow.*end, ends.size() + 1);
  std::sort(ends.begin(), ends.end());
  return ends;
}

template <typename Visit>
void ForFlowsAt(const FlowEnds& ends, int64_t slice, Visit visit) {
  for (auto end = std::lower_bound(ends.begin(), ends.end(), std::pair(slice, uint64_t{0}));
       end != ends.end() && end->first == slice; ++end) {
    visit(end->second);
  }
}

class Writer {
 public:
  Writer(const TraceView& view, std::ostream& out)
      : view_(view),
        file_(&out),
        coded_(&file_),
        outgoing_(SortedEnds(view.flows, &TraceFlow::from)),
        incoming_(SortedEnds(view.flows, &TraceFlow::to)) {}

  void Write() {
    WriteHeader();
    for (size_t track = 0; track < view_.tracks.size(); ++track) WriteTrack(track);
    WriteEvents();
  }

 private:
  // How far a track is written: the next slice or point to begin, and the slices that have begun
  // but not ended, the innermost last.
  struct Cursor {
    int64_t next = 0;
    std::vector<int64_t> open;
  };

  // The next event of a track. An event that ends a flow is written after all others of its
  // instant, among them the one that starts the flow: readers drop arrows whose head comes first.
  struct Event {
    Duration time;
    bool ends_flow = false;
    int32_t track = 0;

    friend bool operator>(const Event& a, const Event& b) {
      return std::tie(a.time, a.ends_flow, a.track) > std::tie(b.time, b.ends_flow, b.track);
    }
  };

  void WritePacket() {
    packet_.set_trusted_packet_sequence_id(kSequence);
    packet_.set_sequence_flags(is_first_ ? TracePacket::SEQ_INCREMENTAL_STATE_CLEARED
                                         : TracePacket::SEQ_NEEDS_INCREMENTAL_STATE);
    is_first_ = false;
    coded_.WriteTag(kPacketTag);
    coded_.WriteVarint32(static_cast<uint32_t>(packet_.ByteSizeLong()));
    packet_.SerializeWithCachedSizes(&coded_);
    packet_.Clear();
  }

  // Writes all strings at once: they are few, and no id may be used before it is defined.
  void WriteHeader() {
    packet_.mutable_trace_packet_defaults()->set_timestamp_clock_id(kBootTimeClock);
    InternedData* data = packet_.mutable_interned_data();
    const auto add = [](auto* entry, size_t index, const std::string& name) {
      entry->set_iid(Iid(static_cast<int64_t>(index)));
      entry->set_name(name);
    };
    for (size_t i = 0; i < view_.categories.size(); ++i) {
      add(data->add_event_categories(), i, view_.categories[i]);
    }
    for (size_t i = 0; i < view_.names.size(); ++i) {
      add(data->add_event_names(), i, view_.names[i]);
    }
    for (size_t i = 0; i < view_.keys.size(); ++i) {
      add(data->add_debug_annotation_names(), i, view_.keys[i]);
    }
    for (size_t i = 0; i < view_.texts.size(); ++i) {
      auto* entry = data->add_debug_annotation_string_values();
      entry->set_iid(Iid(static_cast<int64_t>(i)));
      entry->set_str(view_.texts[i]);
    }
    WritePacket();
  }

  void WriteTrack(size_t index) {
    const TraceTrack& track = view_.tracks[index];
    TrackDescriptor* descriptor = packet_.mutable_track_descriptor();
    descriptor->set_uuid(Uuid(static_cast<int64_t>(index)));
    descriptor->set_name(track.name);
    // Readers would merge siblings of one name into one track.
    descriptor->set_sibling_merge_behavior(TrackDescriptor::SIBLING_MERGE_BEHAVIOR_NONE);
    if (track.parent >= 0) {
      descriptor->set_parent_uuid(Uuid(track.parent));
      descriptor->set_sibling_order_rank(track.order);
    } else {
      for (const auto& [key, value] : view_.facts) {
        descriptor->mutable_description()->append(key + ": " + value + "\n");
      }
    }
    if (track.kind == TraceTrack::Kind::kGroup) {
      descriptor->set_child_ordering(TrackDescriptor::EXPLICIT);
    } else if (track.kind == TraceTrack::Kind::kCounter) {
      descriptor->mutable_counter()->set_unit(UnitOf(track));
    }
    WritePacket();
  }

  // Merges the tracks, each in its own order, by time.
  void WriteEvents() {
    cursors_.resize(view_.tracks.size());
    for (size_t track = 0; track < view_.tracks.size(); ++track) {
      cursors_[track].next = view_.tracks[track].begin;
      Enqueue(static_cast<int32_t>(track));
    }
    while (!events_.empty()) {
      const int32_t track = events_.top().track;
      packet_.set_timestamp(static_cast<uint64_t>(events_.top().time.ns()));
      events_.pop();
      if (view_.tracks[track].kind == TraceTrack::Kind::kCounter) {
        WritePoint(track);
      } else if (BeginsNext(track)) {
        WriteBegin(track);
      } else {
        WriteEnd(track);
      }
      Enqueue(track);
    }
  }

  // Whether the track goes on with the start of a slice, not the end of one.
  bool BeginsNext(int32_t track) const {
    const Cursor& cursor = cursors_[track];
    if (cursor.next == view_.tracks[track].end) return false;
    return cursor.open.empty() ||
           view_.slices[cursor.next].depth > view_.slices[cursor.open.back()].depth;
  }

  void Enqueue(int32_t track) {
    const Cursor& cursor = cursors_[track];
    if (view_.tracks[track].kind == TraceTrack::Kind::kCounter) {
      if (cursor.next == view_.tracks[track].end) return;
      events_.push({view_.points[cursor.next].time, false, track});
    } else if (BeginsNext(track)) {
      bool ends_flow = false;
      ForFlowsAt(incoming_, cursor.next, [&](uint64_t) { ends_flow = true; });
      events_.push({view_.slices[cursor.next].start, ends_flow, track});
    } else if (!cursor.open.empty()) {
      events_.push({view_.slices[cursor.open.back()].end, false, track});
    }
  }

  void WriteBegin(int32_t track) {
    const int64_t index = cursors_[track].next++;
    cursors_[track].open.push_back(index);
    const TraceSlice& slice = view_.slices[index];
    TrackEvent* event = packet_.mutable_track_event();
    event->set_type(TrackEvent::TYPE_SLICE_BEGIN);
    event->set_track_uuid(Uuid(track));
    event->set_name_iid(Iid(slice.name));
    event->add_category_iids(Iid(slice.category));
    ForFlowsAt(outgoing_, index, [&](uint64_t flow) { event->add_flow_ids(flow); });
    ForFlowsAt(incoming_, index, [&](uint64_t flow) { event->add_terminating_flow_ids(flow); });
    for (int64_t i = slice.arguments_begin; i < slice.arguments_end; ++i) {
      const TraceArgument& argument = view_.arguments[i];
      auto* annotation = event->add_debug_annotations();
      annotation->set_name_iid(Iid(argument.key));
      if (argument.is_text) {
        annotation->set_string_value_iid(Iid(argument.value));
      } else {
        annotation->set_int_value(argument.value);
      }
    }
    WritePacket();
  }

  void WriteEnd(int32_t track) {
    CHECK(!cursors_[track].open.empty());
    cursors_[track].open.pop_back();
    TrackEvent* event = packet_.mutable_track_event();
    event->set_type(TrackEvent::TYPE_SLICE_END);
    event->set_track_uuid(Uuid(track));
    WritePacket();
  }

  void WritePoint(int32_t track) {
    TrackEvent* event = packet_.mutable_track_event();
    event->set_type(TrackEvent::TYPE_COUNTER);
    event->set_track_uuid(Uuid(track));
    event->set_counter_value(view_.points[cursors_[track].next++].value);
    WritePacket();
  }

  const TraceView& view_;
  google::protobuf::io::OstreamOutputStream file_;
  google::protobuf::io::CodedOutputStream coded_;
  const FlowEnds outgoing_, incoming_;
  TracePacket packet_;  // reused to avoid allocations
  bool is_first_ = true;
  std::vector<Cursor> cursors_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
};

}  // namespace

void WritePerfetto(const TraceView& view, std::ostream& out) { Writer(view, out).Write(); }

}  // namespace stagecraft
