#include <google/protobuf/stubs/logging.h>

#include <exception>
#include <istream>
#include <new>
#include <ostream>
#include <string>
#include <string_view>

#include "costmodel/check.h"
#include "costmodel/nearest.h"
#include "tools/verb/command.h"
#include "tools/verb/output_files.h"

namespace stagecraft {
namespace {

// Several processes may run this verb together (tools/ranks/run_on_ranks.h); the first of them
// checks the output files.
constexpr std::string_view kSharedVerb = "search";

void PrintHelp(std::span<const Command> commands, const char* example, std::ostream& out) {
  out << "stagecraft predicts a distributed training step: its time, memory and traffic.\n\n"
         "Usage: stagecraft VERB [flags]\n";
  std::string group;
  for (const Command& command : commands) {
    if (command.group != group) out << '\n' << command.group << ":\n";
    group = command.group;
    const std::string name = command.name;
    out << "  " << name << std::string(12 - name.size(), ' ') << command.summary << '\n';
  }
  out << "\nstagecraft VERB --help explains a verb; --help-all adds its rarer flags.\n\n"
         "Examples:\n"
      << example;
}

// Replaces line breaks, which names from a file may contain: an error is one line.
std::string OneLine(std::string sentence) {
  for (char& c : sentence) {
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  }
  return sentence;
}

// Writes the error in one piece, because several processes may write to one terminal.
void Complain(const Command& command, const std::string& sentence, std::ostream& err) {
  err << "stagecraft " + std::string(command.name) + ": " + OneLine(sentence) + "\n";
}

// Returns `code` if all output could be written; otherwise reports that it could not.
int Printed(int code, std::ostream& out, std::ostream& err) {
  out.flush();
  if (out) return code;
  err << "stagecraft: the output could not be written\n";
  return kExitInternal;
}

int RunVerb(const Command& command, const Args& args, std::istream& in, std::ostream& out,
            std::ostream& err) {
  // Our readers report in a sentence with the file's name what protobuf would print.
  const google::protobuf::LogSilencer silent_protobuf;
  try {
    if (command.name != kSharedVerb) CheckOutputFiles(args);
    return Printed(command.run(args, in, out, err), out, err);
  } catch (const InputError& error) {
    Complain(command, error.what(), err);
    return kExitBadInput;
  } catch (const std::bad_alloc&) {
    Complain(command, "not enough memory", err);
  } catch (const std::exception& error) {
    Complain(command, error.what(), err);
  }
  return kExitInternal;
}

}  // namespace

int RunOneOf(std::span<const Command> commands, const char* example, const Args& words,
             std::istream& in, std::ostream& out, std::ostream& err) {
  if (words.empty() || words[0] == "--help" || words[0] == "-h" || words[0] == "help") {
    PrintHelp(commands, example, words.empty() ? err : out);
    return words.empty() ? kExitBadInput : Printed(kExitOk, out, err);
  }
  if (words[0] == "--version" || words[0] == "version") {
    out << "stagecraft " << kToolVersion << '\n';
    return Printed(kExitOk, out, err);
  }
  std::vector<std::string> names;
  for (const Command& command : commands) {
    if (words[0] == command.name) {
      return RunVerb(command, Args(words.begin() + 1, words.end()), in, out, err);
    }
    names.push_back(command.name);
  }
  err << OneLine("stagecraft: unknown verb \"" + words[0] + "\"; " + NearestNames(words[0], names) +
                 "; stagecraft --help lists them")
      << '\n';
  return kExitBadInput;
}

}  // namespace stagecraft
