#!/bin/bash
# A launch script for Megatron-LM: a Llama-3-70B on 2 nodes of 8 GPUs.
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=1

export CUDA_DEVICE_MAX_CONNECTIONS=1
GPUS_PER_NODE=8
NNODES=${SLURM_NNODES:-8}
TP=4
PP=4
MICRO_BATCH=1
ACCUMULATION=64
GLOBAL_BATCH=$((MICRO_BATCH * ACCUMULATION * GPUS_PER_NODE * NNODES / (TP * PP)))
CHECKPOINTS=${1:-/checkpoints/llama3}

NETWORK_ARGS=(
  --num-layers 80
  --hidden-size 8192
  --ffn-hidden-size 28672
  --num-attention-heads 64
  --group-query-attention
  --num-query-groups 8
  --seq-length 8192
  --max-position-embeddings 8192
  --position-embedding-type rope
  --rotary-base 500000
  --normalization RMSNorm
  --swiglu
  --disable-bias-linear
  --untie-embeddings-and-output-weights
  --attention-dropout 0.0
  --hidden-dropout 0.0
  --vocab-size 128256
)

PARALLEL_ARGS="--tensor-model-parallel-size $TP --pipeline-model-parallel-size $PP \
  --num-layers-per-virtual-pipeline-stage 5 --sequence-parallel \
  --use-distributed-optimizer --overlap-grad-reduce --overlap-param-gather"

torchrun --nproc_per_node $GPUS_PER_NODE --nnodes $NNODES \
  --node_rank $SLURM_NODEID --master_addr $MASTER_ADDR --master_port 6000 \
  pretrain_gpt.py \
  "${NETWORK_ARGS[@]}" $PARALLEL_ARGS \
  --micro-batch-size $MICRO_BATCH --global-batch-size $GLOBAL_BATCH \
  --bf16 --use-flash-attn --cross-entropy-loss-fusion \
  --recompute-granularity selective \
  --lr 1.5e-4 --min-lr 1e-5 --train-iters 100000 --clip-grad 1.0 \
  --tokenizer-type HuggingFaceTokenizer --tokenizer-model /data/tokenizer \
  --data-path "$DATA" --save "$CHECKPOINTS" --save-interval 1000 \
  --eval-iters 10 --log-interval 10 --our-own-flag 3
