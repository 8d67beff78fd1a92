#!/bin/bash
# Megatron-LM under Slurm: variables with defaults, sums of them, and options in a text.
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=1
export CUDA_DEVICE_MAX_CONNECTIONS=1
GPUS_PER_NODE=8
NNODES=${SLURM_NNODES:-4}
TP=2
PP=2
GLOBAL_BATCH=$((4 * GPUS_PER_NODE * NNODES / (TP * PP)))
SAVE=${1:-/checkpoints}
NETWORK="--num-layers 8 --hidden-size 256 --ffn-hidden-size 512 --num-attention-heads 8 \
  --group-query-attention --num-query-groups 2 --seq-length 256 --max-position-embeddings 256 \
  --position-embedding-type rope --normalization RMSNorm --swiglu --disable-bias-linear \
  --untie-embeddings-and-output-weights --vocab-size 1000"
torchrun --nproc_per_node $GPUS_PER_NODE --nnodes $NNODES --node_rank $SLURM_NODEID \
  pretrain_gpt.py $NETWORK --tensor-model-parallel-size $TP --pipeline-model-parallel-size $PP \
  --num-layers-per-virtual-pipeline-stage 2 --sequence-parallel --use-distributed-optimizer \
  --overlap-grad-reduce --micro-batch-size 1 --global-batch-size $GLOBAL_BATCH --bf16 \
  --recompute-granularity selective --lr 1.5e-4 --save "$SAVE" --our-own-flag 3
