// The networks of classics.h, one function for each architecture. `size` is the side of a square
// image.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "sim/workload/workload.h"

namespace stagecraft {

// Simonyan, Zisserman 2014, configuration D, as in torchvision.
Workload BuildVgg16(const std::string& name, int64_t size);

// Krizhevsky 2014 ("One weird trick"), as in torchvision.
Workload BuildAlexNet(const std::string& name, int64_t size);

// He et al. 2015. With bottlenecks the stride is in the 3x3 convolution, which is called v1.5.
struct ResNetConfig {
  std::array<int, 4> blocks = {};
  bool has_bottlenecks = false;
  bool is_cifar = false;  // 3x3 stem without pooling, ten classes
};
Workload BuildResNet(const std::string& name, const ResNetConfig& config, int64_t size);

// Liu et al. 2016 on a ResNet-50 up to its third group, which keeps its resolution, as in NVIDIA's
// DeepLearningExamples.
Workload BuildSsd300(const std::string& name, int64_t size);

// Redmon, Farhadi 2018, as in Darknet's yolov3.cfg: Darknet-53 without its classifier, and three
// boxes for every pixel of three maps.
Workload BuildYoloV3(const std::string& name, int64_t classes, int64_t size);

// Szegedy et al. 2015, as in torchvision, without the auxiliary head.
Workload BuildInceptionV3(const std::string& name, int64_t size);

// torchgpipe's simplified U-Net: five levels of `convolutions` each.
struct UNetConfig {
  int convolutions = 5;
  int64_t channels = 64;  // of the first level
};
Workload BuildUNet(const std::string& name, const UNetConfig& config, int64_t size);

// Real et al. 2018, as in torchgpipe: a third of `cells` in each of three groups; filters / 4
// channels after the stem, doubled by each of four reductions.
struct AmoebaNetConfig {
  int cells = 18;
  int64_t filters = 256;
};
Workload BuildAmoebaNetD(const std::string& name, const AmoebaNetConfig& config, int64_t size);

// Wu et al. 2016, as in NVIDIA's DeepLearningExamples (GNMT v2): `layers_per_side` LSTM layers of
// 1024 on each side, with attention in the decoder's first. `shares_embedding`: encoder and decoder
// have one table.
Workload BuildGnmt(const std::string& name, int layers_per_side, bool shares_embedding);

// Amodei et al. 2016 for English: two 2-D convolutions over the spectrogram (channels, windows and
// strides of the row "2-layer 2D" in its table of convolutions), bidirectional GRU layers whose
// directions are added, and CTC. The paper has 1 to 7 recurrent layers; number and width are the
// defaults of TensorFlow's model garden (deep_speech.py: rnn_hidden_layers, rnn_hidden_size).
struct DeepSpeech2Config {
  int recurrent_layers = 5;
  int64_t hidden = 800;  // of each direction
};
// `frames`: columns of the spectrogram, one every 10 ms.
Workload BuildDeepSpeech2(const std::string& name, const DeepSpeech2Config& config, int64_t frames);

// Dai et al. 2019 on WikiText-103, as in NVIDIA's DeepLearningExamples. The plan's sequence is
// `segment`; attention also reaches as many tokens before it.
struct TransformerXlConfig {
  int layers = 0;
  int64_t hidden = 0;
  int64_t heads = 0;
  int64_t segment = 0;
  int64_t width_divisor = 1;  // divides the embedding's width from cluster to cluster
};
Workload BuildTransformerXl(const std::string& name, const TransformerXlConfig& config);

// Vaswani et al. 2017, as in fairseq: six layers on each side, one table for all embeddings.
Workload BuildTranslationTransformer(const std::string& name, int64_t hidden, int64_t heads,
                                     AttentionBackend attention);

}  // namespace stagecraft
