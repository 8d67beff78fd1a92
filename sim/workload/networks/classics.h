// The networks, other than transformers, that papers on distributed training measure: image
// classifiers, U-Net, detectors, translation, and speech.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/workload/workload.h"

namespace stagecraft {

// Returns the workload called `name`, in any letter case; no value if it is none of ClassicNames().
// Vision models take the side of their square input as a suffix, "resnet50@160", and "deepspeech2"
// the length of its spectrogram in frames of 10 ms; one image or one utterance is one token of the
// plan, whose sequence is 1. In networks of sequences a sample is a pair of a source and a target
// sentence, each as long as the plan's sequence. Throws InputError for a suffix that does not fit.
std::optional<Workload> BuildClassic(const std::string& name, AttentionBackend attention);

// Returns the names as written in the catalogue, sorted.
std::vector<std::string> ClassicNames();

}  // namespace stagecraft
