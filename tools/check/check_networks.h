// Networks, operator graphs and learned policies, which are no messages of ours; reports.
#pragma once

#include <optional>
#include <string>

#include "tools/check/check_file.h"

namespace stagecraft {

// Tells ONNX models by their extension, saved policies, PipeDream's graph.txt and HTML pages by
// their first words; nullopt for other files. Throws InputError as the commands that read them
// do, and for HTML pages that stagecraft did not write.
std::optional<FileSummary> CheckNetworkFile(const std::string& bytes, const std::string& path,
                                            const std::string& extension);

// JSON that describes an operator graph: of Piper where operators have "TMPCs", else of
// dnn-partitioning.
bool IsGraphJson(const std::string& text);
FileSummary CheckGraphJson(const std::string& text, const std::string& path);

// An operator graph that was gzipped; nullopt for anything else.
std::optional<FileSummary> CheckUnzippedGraph(const std::string& text, const std::string& path);

}  // namespace stagecraft
