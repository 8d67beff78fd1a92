torchrun --nnodes 2 --nproc-per-node 8 -m torchtitan.train --model.name llama3 --model.flavor 8B \
  --training.seq_len 512 --parallelism.tensor_parallel_degree=2 \
  --parallelism.pipeline_parallel_degree 2 --parallelism.pipeline_parallel_schedule GPipe
