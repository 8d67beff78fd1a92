N=2
A=(--num-layers 4 --hidden-size 64 --num-attention-heads 4)
A+=(--seq-length 128 --vocab-size 512 --micro-batch-size 1)
B="--global-batch-size $((N * 8)) --pipeline-model-parallel-size 2"
if [ -z "$X" ]; then echo none; fi
torchrun --nnodes $N --nproc-per-node 8 pretrain_gpt.py "${A[@]}" $B ${C:-} --bf16 \
  --pipeline-model-parallel-layout 'Et*2|(t)*2,L' --recompute-granularity full \
  --recompute-method block --recompute-num-layers 1
