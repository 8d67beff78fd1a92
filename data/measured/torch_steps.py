"""Measures training steps of PyTorch in eager mode on the first GPU.

usage: torch_steps.py STEPS.csv KERNELS.csv SECONDS

Writes a row for each case, and one for each kernel of a step under the profiler. Begins no case
after SECONDS - 6. Needs PyTorch, torchvision, Transformers and pynvml.
"""

import csv
import gc
import statistics
import sys
import time

import pynvml
import torch
import torchvision
import transformers
from torch.profiler import ProfilerActivity, profile

BF16, FP16, FP32 = torch.bfloat16, torch.float16, torch.float32
GPU = "cuda"
SECONDS_OF_A_CASE = 6  # more than any took

# The kinds of kernels, by words in their names. The first line with any of a name's words counts.
# Convolutions that run as plain GEMMs count as such.
KINDS = [
    ("copies", ["memcpy", "memset"]),
    ("attention", ["flash", "fmha", "sdpa"]),
    ("optimizer", ["multi_tensor", "foreach"]),
    ("convolution", ["dgrad", "wgrad", "fprop"]),
    ("gemm", ["gemm", "nvjet", "splitk"]),
    ("convolution", ["conv", "winograd"]),
    ("gemm", ["cutlass", "xmma"]),
    ("norm", ["bn_", "batch_norm", "batchnorm", "layer_norm", "layernorm", "gammabeta"]),
    ("softmax", ["softmax", "nll"]),
]
COLUMNS = ["gemm", "convolution", "attention", "norm", "softmax", "elementwise", "optimizer", "copies"]


def kind_of(kernel):
    name = kernel.lower()
    for kind, words in KINDS:
        if any(word in name for word in words):
            return kind
    return "elementwise"


def made_on_gpu(make, dtype=FP32):
    torch.set_default_dtype(dtype)
    with torch.device(GPU):
        network = make()
    torch.set_default_dtype(FP32)
    return network


# Each of the next functions returns a network, and a function that computes its loss.


def decoder(network, vocabulary, samples, tokens, autocast=None, recompute=False):
    if recompute:
        network.gradient_checkpointing_enable()
    network.train()
    ids = torch.randint(0, vocabulary, (samples, tokens), device=GPU)

    def loss():
        with torch.autocast(GPU, dtype=autocast, enabled=autocast is not None):
            return network(input_ids=ids, labels=ids).loss

    return network, loss


def gpt2(samples, autocast=None, size=(24, 1024, 16), vocabulary=50257, attention="sdpa", dtype=FP32,
         recompute=False):
    layers, hidden, heads = size
    config = transformers.GPT2Config(n_layer=layers, n_embd=hidden, n_head=heads, vocab_size=vocabulary,
                                     n_positions=1024, use_cache=False)
    config._attn_implementation = attention
    network = made_on_gpu(lambda: transformers.GPT2LMHeadModel(config), dtype)
    return decoder(network, vocabulary, samples, 1024, autocast, recompute)


def llama(samples, tokens, dtype, autocast=None, recompute=False):
    config = transformers.LlamaConfig(
        vocab_size=128256, hidden_size=4096, intermediate_size=14336, num_hidden_layers=8,
        num_attention_heads=32, num_key_value_heads=8, max_position_embeddings=8192, use_cache=False,
        tie_word_embeddings=False)
    config._attn_implementation = "sdpa"
    network = made_on_gpu(lambda: transformers.LlamaForCausalLM(config), dtype)
    return decoder(network, 128256, samples, tokens, autocast, recompute)


def bert(samples, tokens):
    config = transformers.BertConfig(vocab_size=30522, hidden_size=1024, num_hidden_layers=24,
                                     num_attention_heads=16, intermediate_size=4096)
    config._attn_implementation = "sdpa"
    network = made_on_gpu(lambda: transformers.BertForPreTraining(config)).train()
    ids = torch.randint(0, 30522, (samples, tokens), device=GPU)
    is_next = torch.zeros(samples, dtype=torch.long, device=GPU)

    def loss():
        with torch.autocast(GPU, dtype=FP16):
            return network(input_ids=ids, labels=ids, next_sentence_label=is_next).loss

    return network, loss


def images(name, samples, autocast=None, channels_last=False):
    network = made_on_gpu(getattr(torchvision.models, name)).train()
    batch = torch.randn(samples, 3, 224, 224, device=GPU)
    classes = torch.randint(0, 1000, (samples,), device=GPU)
    if channels_last:
        network = network.to(memory_format=torch.channels_last)
        batch = batch.to(memory_format=torch.channels_last)

    def loss():
        with torch.autocast(GPU, dtype=autocast, enabled=autocast is not None):
            return torch.nn.functional.cross_entropy(network(batch), classes)

    return network, loss


CASES = {
    "gpt2-medium-amp-8": lambda: gpt2(8, BF16),
    "resnet50-amp-256-channels-last": lambda: images("resnet50", 256, FP16, channels_last=True),
    "llama-8-bf16-2x2048": lambda: llama(2, 2048, BF16),
    "gpt2-medium-bf16-8": lambda: gpt2(8, dtype=BF16),
    "resnet50-tf32-128": lambda: images("resnet50", 128),
    "bert-large-amp-32x128": lambda: bert(32, 128),
    "gpt2-medium-amp-8-padded": lambda: gpt2(8, BF16, vocabulary=50304),
    "gpt2-medium-amp-1": lambda: gpt2(1, BF16),
    "gpt2-medium-amp-8-recompute": lambda: gpt2(8, BF16, recompute=True),
    "gpt2-medium-amp-4-unfused": lambda: gpt2(4, BF16, attention="eager"),
    "gpt2-medium-tf32-4": lambda: gpt2(4),
    "resnet50-amp-256": lambda: images("resnet50", 256, FP16),
    "llama-8-amp-2x2048": lambda: llama(2, 2048, FP32, BF16),
    "bert-large-amp-8x512": lambda: bert(8, 512),
    "resnet50-fp32-64": lambda: images("resnet50", 64),
    "gpt2-xl-amp-4": lambda: gpt2(4, BF16, size=(48, 1600, 25)),
    "llama-8-bf16-1x8192-recompute": lambda: llama(1, 8192, BF16, recompute=True),
    "vgg16-amp-64": lambda: images("vgg16", 64, FP16),
    "vgg16-tf32-64": lambda: images("vgg16", 64),
    "resnet18-amp-256": lambda: images("resnet18", 256, FP16),
}


def kernels_of(step):
    """Returns, by name, how often each kernel of a step ran, and its microseconds together."""
    with profile(activities=[ProfilerActivity.CUDA]) as profiled:
        step()
        torch.cuda.synchronize()
    kernels = {}
    for event in profiled.events():
        if str(event.device_type).endswith("CUDA"):
            kernel = kernels.setdefault(event.name[:160], [0, 0.0])
            kernel[0] += 1
            kernel[1] += event.time_range.elapsed_us()
    return kernels


def measure(name, gpu):
    """Returns the row of a case, and its kernels."""
    torch.backends.cuda.matmul.allow_tf32 = "tf32" in name
    torch.backends.cudnn.allow_tf32 = "fp32" not in name
    torch.cuda.reset_peak_memory_stats()
    network, loss = CASES[name]()
    is_of_images = name.startswith(("resnet", "vgg"))
    if is_of_images:
        optimizer = torch.optim.SGD(network.parameters(), 0.01, momentum=0.9)
    else:
        optimizer = torch.optim.AdamW(network.parameters(), 1e-4)
    is_fp16 = "amp" in name and (is_of_images or name.startswith("bert"))
    scaler = torch.amp.GradScaler(GPU, enabled=is_fp16)

    def step():
        scaler.scale(loss()).backward()
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad(set_to_none=True)

    for _ in range(3):
        step()
    torch.cuda.synchronize()
    begin = time.time()
    step()
    torch.cuda.synchronize()
    steps = max(4, min(20, int(1.5 / (time.time() - begin))))
    events = [torch.cuda.Event(enable_timing=True) for _ in range(steps + 1)]
    events[0].record()
    begin = time.time()
    for event in events[1:]:
        step()
        event.record()
    host_ms = 1e3 * (time.time() - begin) / steps
    clock = pynvml.nvmlDeviceGetClockInfo(gpu, pynvml.NVML_CLOCK_SM)
    watts = pynvml.nvmlDeviceGetPowerUsage(gpu) / 1e3
    torch.cuda.synchronize()
    step_ms = statistics.median(a.elapsed_time(b) for a, b in zip(events, events[1:]))
    allocated, reserved = torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved()

    kernels = kernels_of(step)
    ms = dict.fromkeys(COLUMNS, 0.0)
    for kernel, (_, us) in kernels.items():
        ms[kind_of(kernel)] += us / 1e3
    row = [name, sum(p.numel() for p in network.parameters()), round(step_ms, 3), round(host_ms, 3),
           sum(launches for launches, _ in kernels.values()), round(sum(ms.values()), 3)]
    row += [round(ms[column], 3) for column in COLUMNS]
    return row + [allocated, reserved, clock, round(watts)], kernels


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    begin = time.time()
    transformers.logging.set_verbosity_error()
    pynvml.nvmlInit()
    gpu = pynvml.nvmlDeviceGetHandleByIndex(0)
    with open(sys.argv[1], "w", newline="") as steps, open(sys.argv[2], "w", newline="") as kernels:
        step_rows = csv.writer(steps, lineterminator="\n")
        step_rows.writerow(["case", "parameters", "step_ms", "host_ms", "kernels", "kernel_ms"] +
                           [column + "_ms" for column in COLUMNS] +
                           ["peak_allocated_bytes", "peak_reserved_bytes", "clock_mhz", "watts"])
        kernel_rows = csv.writer(kernels, lineterminator="\n")
        kernel_rows.writerow(["case", "kernel", "launches", "total_us"])
        for name in CASES:
            if time.time() - begin > float(sys.argv[3]) - SECONDS_OF_A_CASE:
                print("the time is up before", name, file=sys.stderr)
                break
            row, of_case = measure(name, gpu)
            step_rows.writerow(row)
            steps.flush()
            for kernel, (launches, us) in sorted(of_case.items(), key=lambda item: -item[1][1]):
                kernel_rows.writerow([name, kernel, launches, round(us, 1)])
            print(f"{name}: {row[2]:.2f} ms", flush=True)
            gc.collect()
            torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
