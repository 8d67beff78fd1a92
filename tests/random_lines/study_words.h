// Random words for the verbs that study many steps, and for files of other programs: databases of
// sweeps, runs over time, launch files of frameworks, traces of profilers.
#pragma once

#include "tests/random_lines/word_source.h"

namespace stagecraft::random_lines {

void AddSweep(WordSource& words);
void AddMerge(WordSource& words);
void AddTrain(WordSource& words);
void AddReport(WordSource& words);

// What follows the verb `import`: a launch file, or traces.
void AddTrainingImport(WordSource& words);
void AddTraceImport(WordSource& words);

// `export` for a framework, and what `search` needs to write its launch file.
void AddFrameworkFormat(WordSource& words);
void AddLaunch(WordSource& words);

}  // namespace stagecraft::random_lines
