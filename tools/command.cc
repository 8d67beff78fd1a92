#include "tools/command.h"

#include <exception>
#include <istream>
#include <new>
#include <ostream>
#include <string>

#include "costmodel/check.h"
#include "costmodel/nearest.h"

namespace stagecraft {
namespace {

void PrintHelp(std::ostream& out) {
  out << "stagecraft predicts a distributed training step: time, memory, traffic.\n\n"
         "usage: stagecraft VERB [--flags]\n\n";
  for (const Command& command : Commands()) {
    const std::string name = command.name;
    out << "  " << name << std::string(12 - name.size(), ' ') << command.summary << '\n';
  }
  out << "\nstagecraft VERB --help explains a verb. For example:\n"
         "  stagecraft simulate --model llama3-70b --cluster h100-sxm:8x8 --tp 8 --pp 4 \\\n"
         "      --micro-batch 1 --global-batch 512 --seq 8192\n";
}

// Names out of a file may hold line breaks; an error stays one line.
std::string OneLine(std::string sentence) {
  for (char& c : sentence) {
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  }
  return sentence;
}

int RunVerb(const Command& command, const Args& args, std::istream& in, std::ostream& out,
            std::ostream& err) {
  try {
    const int code = command.run(args, in, out, err);
    out.flush();
    if (!out) {
      err << "stagecraft: the output could not be written\n";
      return kExitInternal;
    }
    return code;
  } catch (const InputError& error) {
    err << "stagecraft " << command.name << ": " << OneLine(error.what()) << '\n';
    return kExitBadInput;
  } catch (const std::bad_alloc&) {
    err << "stagecraft " << command.name << ": not enough memory\n";
  } catch (const std::exception& error) {
    err << "stagecraft " << command.name << ": " << OneLine(error.what()) << '\n';
  }
  return kExitInternal;
}

}  // namespace

const std::vector<Command>& Commands() {
  static const std::vector<Command> commands = {
      {"simulate", "one plan on one cluster: step time, breakdown, memory, trace", RunSimulate},
      {"explain", "what a step waits for, why devices idle; two plans: their difference",
       RunExplain},
      {"search", "best plans for a workload on a cluster", RunSearch},
      {"partition", "an operator graph cut into stages, as published planners do it",
       RunPartition},
      {"fit", "measured samples to a cost model, or one calibrated for a site", RunFit},
      {"evaluate", "cost models against held-out measured samples: error tables", RunEvaluate},
      {"compare", "a measured step, or network, against what was predicted", RunCompare},
      {"run", "a plan's step on real processors: its measured timeline", RunRun},
      {"validate", "published or own measurements against predictions", RunValidate},
      {"import", "cluster files from what other tools print", RunImport},
      {"export", "the schedule of a plan for other programs, or all of the plan", RunExport},
      {"catalogue", "the GPUs, nodes and models that names stand for", RunCatalogue},
      {"check", "whether a file is one of ours, and sound", RunCheck},
  };
  return commands;
}

int RunCommandLine(const Args& words, std::istream& in, std::ostream& out, std::ostream& err) {
  if (words.empty() || words[0] == "--help" || words[0] == "-h" || words[0] == "help") {
    PrintHelp(words.empty() ? err : out);
    return words.empty() ? kExitBadInput : kExitOk;
  }
  if (words[0] == "--version") {
    out << "stagecraft " << kToolVersion << '\n';
    return kExitOk;
  }
  std::vector<std::string> names;
  for (const Command& command : Commands()) {
    if (words[0] == command.name) {
      return RunVerb(command, Args(words.begin() + 1, words.end()), in, out, err);
    }
    names.push_back(command.name);
  }
  err << "stagecraft: unknown verb \"" << words[0] << "\"; " << NearestNames(words[0], names)
      << '\n';
  return kExitBadInput;
}

}  // namespace stagecraft
