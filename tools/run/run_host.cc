#include "tools/run/run_host.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <ostream>
#include <stdexcept>
#include <string>

#include "costmodel/check.h"
#include "costmodel/proto_file.h"
#include "proto/timeline.pb.h"
#include "runtime/rank_launcher.h"
#include "sim/schedule_proto.h"
#include "sim/timeline_record_proto.h"

namespace stagecraft {
namespace {

// A folder that goes with the object.
class ScratchFolder {
 public:
  ScratchFolder() {
    // Six characters that mkdtemp() replaces.
    std::string name =
        (std::filesystem::temp_directory_path() / "stagecraft-").string() + std::string(6, 'X');
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no folder can be made: " + name);
    path_ = name;
  }
  ~ScratchFolder() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  std::string File(const char* name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

// The program that processes run: beside this one, or where a test says.
std::string RankProgramFile() {
  const char* told = std::getenv("STAGECRAFT_HOST_RANK");
  if (told != nullptr) return told;
  const std::filesystem::path file =
      std::filesystem::read_symlink("/proc/self/exe").parent_path() / "stagecraft_host_rank";
  std::error_code error;
  if (std::filesystem::exists(file, error)) return file.string();
  throw InputError("run: " + file.string() + " is missing, want it beside stagecraft");
}

}  // namespace

TimelineRecord RunOnHost(const Schedule& schedule, const RunRequest& request, std::ostream& err) {
  const ScratchFolder folder;
  const std::string input = folder.File("schedule.pb"), output = folder.File("timeline.pb");
  WriteFileAtomically(input, ToProto(schedule).SerializeAsString());
  std::string failure;
  const LaunchEnd end = LaunchRanks(static_cast<int>(schedule.ranks().size()),
                                    {RankProgramFile(), input, std::to_string(request.warm_up),
                                     std::to_string(request.steps), output},
                                    [&](const std::string& line) {
                                      if (line.starts_with("step ")) {
                                        if (!request.quiet) err << line << '\n';
                                      } else if (failure.empty()) {
                                        failure = line;
                                      }
                                    });
  if (end.exit_code != 0) {
    std::string why = !failure.empty() ? failure : end.death;
    if (why.empty()) why = fmt::format("mpirun ended with code {}", end.exit_code);
    throw std::runtime_error(why + "; all processes were stopped");
  }
  TimelineProto timeline;
  ReadProtoFile(output, &timeline);
  return TimelineRecordFromProto(timeline, "timeline");
}

}  // namespace stagecraft
