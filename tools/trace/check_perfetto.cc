#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>

#include "costmodel/check.h"
#include "proto/perfetto_trace.pb.h"
#include "tools/trace/check_trace.h"

namespace stagecraft {
namespace {

using perfetto::protos::InternedData;
using perfetto::protos::Trace;
using perfetto::protos::TracePacket;
using perfetto::protos::TrackDescriptor;
using perfetto::protos::TrackEvent;

// What the packets of one sequence have defined so far.
struct Sequence {
  std::set<uint64_t> names, categories, keys, texts;
  uint64_t default_track = 0;
};

// An open or finished track.
struct Track {
  bool is_described = false;
  bool is_counter = false;
  uint64_t parent = 0;
  int64_t open_slices = 0;
  uint64_t last_ns = 0;
  int first_packet = -1;  // the first with an event on it
  int first_value = -1;   // the first packet with a counter value on it
};

class Checker {
 public:
  explicit Checker(const std::string& file) : file_(file) {}

  std::string Check(const Trace& trace) {
    for (packet_ = 0; packet_ < trace.packet_size(); ++packet_) Read(trace.packet(packet_));
    for (const auto& [uuid, track] : tracks_) CheckAtEnd(uuid, track);
    if (slices_ == 0 && counters_ == 0) {
      throw InputError(file_ + ": got no slices and no counter values, want a Perfetto trace");
    }
    return fmt::format("{} tracks, {} slices, {} counter values", tracks_.size(), slices_,
                       counters_);
  }

 private:
  [[noreturn]] void Fail(const std::string& problem) const {
    throw InputError(fmt::format("{}: packet[{}]: {}", file_, packet_, problem));
  }

  void Read(const TracePacket& packet) {
    Sequence& sequence = sequences_[packet.trusted_packet_sequence_id()];
    if (packet.sequence_flags() & TracePacket::SEQ_INCREMENTAL_STATE_CLEARED) sequence = {};
    if (packet.trace_packet_defaults().track_event_defaults().has_track_uuid()) {
      sequence.default_track = packet.trace_packet_defaults().track_event_defaults().track_uuid();
    }
    Intern(packet.interned_data(), sequence);
    if (packet.has_track_descriptor()) Describe(packet.track_descriptor());
    if (packet.has_track_event()) ReadEvent(packet, sequence);
  }

  static void Intern(const InternedData& data, Sequence& sequence) {
    for (const auto& name : data.event_names()) sequence.names.insert(name.iid());
    for (const auto& category : data.event_categories()) sequence.categories.insert(category.iid());
    for (const auto& key : data.debug_annotation_names()) sequence.keys.insert(key.iid());
    for (const auto& text : data.debug_annotation_string_values()) {
      sequence.texts.insert(text.iid());
    }
  }

  void Describe(const TrackDescriptor& descriptor) {
    Track& track = tracks_[descriptor.uuid()];
    track.is_described = true;
    track.is_counter = descriptor.has_counter();
    track.parent = descriptor.parent_uuid();
  }

  void Known(const std::set<uint64_t>& ids, uint64_t id, const char* field) const {
    if (!ids.contains(id)) {
      Fail(fmt::format("{}: got {}, want an id that this sequence has interned", field, id));
    }
  }

  void CheckIds(const TrackEvent& event, const Sequence& sequence) const {
    if (event.has_name_iid()) Known(sequence.names, event.name_iid(), "name_iid");
    for (const uint64_t id : event.category_iids()) {
      Known(sequence.categories, id, "category_iids");
    }
    for (const auto& annotation : event.debug_annotations()) {
      if (annotation.has_name_iid()) {
        Known(sequence.keys, annotation.name_iid(), "debug_annotations.name_iid");
      }
      if (annotation.has_string_value_iid()) {
        Known(sequence.texts, annotation.string_value_iid(), "debug_annotations.string_value_iid");
      }
    }
  }

  void ReadEvent(const TracePacket& packet, const Sequence& sequence) {
    const TrackEvent& event = packet.track_event();
    CheckIds(event, sequence);
    const uint64_t uuid = event.has_track_uuid() ? event.track_uuid() : sequence.default_track;
    if (!packet.has_timestamp()) Fail("timestamp: got none, want nanoseconds");
    Track& track = tracks_[uuid];
    if (track.first_packet < 0) track.first_packet = packet_;
    if (packet.timestamp() < track.last_ns) {
      Fail(
          fmt::format("timestamp: got {}, want at least {}, that of the event before it on track "
                      "{}",
                      packet.timestamp(), track.last_ns, uuid));
    }
    track.last_ns = packet.timestamp();
    if (event.type() == TrackEvent::TYPE_SLICE_BEGIN) {
      ++track.open_slices;
      ++slices_;
    } else if (event.type() == TrackEvent::TYPE_SLICE_END && --track.open_slices < 0) {
      Fail(fmt::format("type: got the end of a slice, but none is open on track {}", uuid));
    } else if (event.type() == TrackEvent::TYPE_COUNTER) {
      ++counters_;
      if (track.first_value < 0) track.first_value = packet_;
    }
  }

  // What can be checked only at the end, since a track's descriptor may follow its events.
  void CheckAtEnd(uint64_t uuid, const Track& track) const {
    if (track.open_slices > 0) {
      throw InputError(
          fmt::format("{}: track {}: got {} slices that never end, want an end for "
                      "each",
                      file_, uuid, track.open_slices));
    }
    if (!track.is_described && uuid != 0) {
      throw InputError(
          fmt::format("{}: packet[{}]: track_uuid: got {}, want a track that is "
                      "described",
                      file_, track.first_packet, uuid));
    }
    if (track.is_described && !track.is_counter && track.first_value >= 0) {
      throw InputError(
          fmt::format("{}: packet[{}]: track_uuid: got {}, want a counter track for a counter "
                      "value",
                      file_, track.first_value, uuid));
    }
    if (track.parent != 0 && !tracks_.contains(track.parent)) {
      throw InputError(
          fmt::format("{}: track {}: parent_uuid: got {}, want a track that is "
                      "described",
                      file_, uuid, track.parent));
    }
  }

  std::string file_;
  int packet_ = 0;
  std::map<uint32_t, Sequence> sequences_;
  std::map<uint64_t, Track> tracks_;
  int64_t slices_ = 0;
  int64_t counters_ = 0;
};

}  // namespace

std::string CheckPerfettoTrace(const std::string& bytes, const std::string& file) {
  Trace trace;
  if (!trace.ParseFromString(bytes)) {
    throw InputError(
        fmt::format("{}: got {} bytes that are damaged or cut short, want a Perfetto "
                    "trace",
                    file, bytes.size()));
  }
  return Checker(file).Check(trace);
}

}  // namespace stagecraft
