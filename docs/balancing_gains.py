#!/usr/bin/env python3
"""Prints the table of docs/train.md: what balancing gains for GPTs of 24 to 56 layers on 8 and on 720 A100s.

    docs/balancing_gains.py [./stagecraft]

It takes a few minutes. The published figures are quotes of DynMo (arXiv 2505.14864, abstract), beside which ours stand; nothing is
fitted to them.
"""
import json
import os
import subprocess
import sys
import tempfile

DEPTHS = (24, 32, 40, 48, 56)
HIDDEN = 1024
STEPS = 10000
# Name of the cluster, flags of the plan.
PLATFORMS = (("a100-sxm4-40gb:1x8", "--pp 8 --micro-batch 2 --global-batch 64"),
             ("a100-sxm4-40gb:90x8", "--pp 24 --dp 30 --micro-batch 2 --global-batch 1920"))


def dynamics(layers):
    """Returns what changes, its published gain and its description in YAML, for a network of so many blocks."""
    eighth = layers // 8
    return (
        ("early exit", 4.52, f"early_exit: {{first_block: {2 * eighth}, every: {eighth}, share: 0.4, first_step: 0, "
                             f"end_step: {STEPS // 2}, interval: {STEPS // 10}, head: NONE}}"),
        ("sparse attention", 4.02, f"sparse_attention: {{least_density: 0.1, most_density: 0.9, interval: {STEPS // 10}}}"),
        ("pruning", 3.18, f"pruning: {{final_sparsity: 0.9, first_step: {STEPS // 5}, end_step: {STEPS}, "
                          f"interval: {STEPS // 5}, storage: CSR, width_spread: 0.5}}"),
        ("freezing", 2.23, f"freezing: {{first_step: {STEPS // 10}, interval: {STEPS // 10}, blocks_each: {eighth}, "
                           f"most_blocks: {6 * eighth}}}"),
        ("mixture of experts", 1.23, f"experts: {{concentration: 1, interval: {STEPS // 10}}}"),
        ("mixture of depths", 1.17, "mixture_of_depths: {capacity: 0.125, every: 2}"),
    )


def mixture(layers, folder):
    """Writes a decoder with eight experts in every block, of which each token takes two."""
    path = os.path.join(folder, f"mixture-{layers}.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"model_type": "mixtral", "vocab_size": 51200, "hidden_size": HIDDEN, "intermediate_size": 2 * HIDDEN,
                   "num_hidden_layers": layers, "num_attention_heads": 16, "num_key_value_heads": 16, "hidden_act": "silu",
                   "num_local_experts": 8, "num_experts_per_tok": 2, "rms_norm_eps": 1e-5, "max_position_embeddings": 2048,
                   "tie_word_embeddings": True}, file)
    return path


def compare(tool, model, platform, yaml, folder):
    """Returns the comparison of all balancers, as `train --json` has it."""
    changes = os.path.join(folder, "dynamics.yaml")
    with open(changes, "w", encoding="utf-8") as file:
        file.write(yaml + "\n")
    cluster, plan = platform
    command = [tool, "train", "--model", model, "--cluster", cluster, *plan.split(), "--seq", "2048", "--steps", str(STEPS),
               "--dynamics", changes, "--compare-balancers", "--json", "--quiet"]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)["balancers"]


def between(values, digits=2):
    low, high = f"{min(values):.{digits}f}", f"{max(values):.{digits}f}"
    return low if low == high else f"{low} to {high}"


def main():
    tool = sys.argv[1] if len(sys.argv) > 1 else "./stagecraft"
    columns = ("nobody, by parameters", "partition by param", "diffusion by param", "partition by time", "diffusion by time")
    print("| network | GPUs | " + " | ".join(columns) + " | bound | overhead, % | published, up to |")
    print("|---|---|" + "---|" * (len(columns) + 3))
    with tempfile.TemporaryDirectory() as folder:
        for kind in range(6):
            for platform in PLATFORMS:
                gains = {column: [] for column in columns}
                bounds, overheads = [], []
                for layers in DEPTHS:
                    name, published, yaml = dynamics(layers)[kind]
                    model = mixture(layers, folder) if name == "mixture of experts" else f"megatron:{layers}x{HIDDEN}x16"
                    comparison = compare(tool, model, platform, yaml, folder)
                    rows = {row["name"]: row for row in comparison["rows"]}
                    first = comparison["rows"][0]["time_ns"]
                    for column in columns:
                        gains[column].append(first / rows[column]["time_ns"])
                    bounds.append(comparison["bound"])
                    timed = rows["partition by time"]
                    overheads.append(100 * timed["overhead_ns"] / timed["time_ns"])
                nodes, per_node = platform[0].split(":")[1].split("x")
                cells = [name, str(int(nodes) * int(per_node)), *(between(gains[column]) for column in columns),
                         between(bounds), between(overheads, 3), f"{published:.2f}"]
                print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
