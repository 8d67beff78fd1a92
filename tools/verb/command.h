// Command: one verb of the command line.
#pragma once

#include <iosfwd>
#include <span>
#include <string>
#include <vector>

namespace stagecraft {

inline constexpr const char* kToolVersion = "0.1.0";

// The words after the verb.
using Args = std::vector<std::string>;

// Runs a verb. Results go to `out`, progress and timings to `err`. Returns the exit code; throws
// InputError for what a user can correct (RunOneOf() prints it and returns kExitBadInput).
using CommandFunction = int (*)(const Args& args, std::istream& in, std::ostream& out,
                                std::ostream& err);

struct Command {
  const char* group;  // heading in the help; commands of a group are adjacent
  const char* name;
  const char* summary;
  CommandFunction run;
};

// Exit codes (docs/cli.md).
inline constexpr int kExitOk = 0;
inline constexpr int kExitInternal = 1;
inline constexpr int kExitBadInput = 2;
inline constexpr int kExitInfeasible = 3;
inline constexpr int kExitThreshold = 4;
inline constexpr int kExitInterrupted = 130;

int RunSimulate(const Args& args, std::istream& in, std::ostream& out, std::ostream& err);
int RunTrain(const Args& args, std::istream& in, std::ostream& out, std::ostream& err);
int RunExplain(const Args& args, std::istream& in, std::ostream& out, std::ostream& err);
int RunWhatIf(const Args& args, std::istream& in, std::ostream& out, std::ostream& err);
int RunSearch(const Args& args, std::istream& in, std::ostream& out, std::ostream& err);
int RunSweep(const Args& args, std::istream& in, std::ostream& out, std::ostream& err);
int RunMerge(const Args& args, std::istream& in, std::ostream& out, std::ostream& err);
int RunPartition(const Args& args, std::istream& in, std::ostream& out, std::ostream& err);
int RunProfile(const Args& args, std::istream& in, std::ostream& out, std::ostream& err);
int RunFit(const Args& args, std::istream& in, std::ostream& out, std::ostream& err);
int RunEvaluate(const Args& args, std::istream& in, std::ostream& out, std::ostream& err);
int RunCompare(const Args& args, std::istream& in, std::ostream& out, std::ostream& err);
int RunValidate(const Args& args, std::istream& in, std::ostream& out, std::ostream& err);
int RunRun(const Args& args, std::istream& in, std::ostream& out, std::ostream& err);
int RunCheck(const Args& args, std::istream& in, std::ostream& out, std::ostream& err);
int RunImport(const Args& args, std::istream& in, std::ostream& out, std::ostream& err);
int RunExport(const Args& args, std::istream& in, std::ostream& out, std::ostream& err);
int RunCatalogue(const Args& args, std::istream& in, std::ostream& out, std::ostream& err);
int RunReport(const Args& args, std::istream& in, std::ostream& out, std::ostream& err);
int RunCompletion(const Args& args, std::istream& in, std::ostream& out, std::ostream& err);

// All verbs, in the order of the help text.
const std::vector<Command>& Commands();

// Finds the verb among `commands` and runs it; prints help and version. Errors become one line on
// `err` and an exit code. The help ends with `example`, whose lines are indented by two spaces.
int RunOneOf(std::span<const Command> commands, const char* example, const Args& words,
             std::istream& in, std::ostream& out, std::ostream& err);

// The same for all verbs.
int RunCommandLine(const Args& words, std::istream& in, std::ostream& out, std::ostream& err);

}  // namespace stagecraft
