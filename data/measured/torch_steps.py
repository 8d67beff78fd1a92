import json, sys, time, statistics as st
import torch, torch.nn as nn, torch.nn.functional as F
t0 = time.time()
limit = float(sys.argv[2])
out = open(sys.argv[1], 'a')
import torchvision, transformers
from transformers import GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM, BertConfig, BertForPreTraining
transformers.logging.set_verbosity_error()
import pynvml
pynvml.nvmlInit(); H = pynvml.nvmlDeviceGetHandleByIndex(0)
dev = 'cuda'

def gpt2(layers, hidden, heads, vocab=50257, attn='sdpa', dtype=torch.float32, ckpt=False):
    c = GPT2Config(n_layer=layers, n_embd=hidden, n_head=heads, vocab_size=vocab, n_positions=1024, use_cache=False)
    c._attn_implementation = attn
    torch.set_default_dtype(dtype)
    with torch.device(dev): m = GPT2LMHeadModel(c)
    torch.set_default_dtype(torch.float32)
    if ckpt: m.gradient_checkpointing_enable()
    return m, vocab
def llama(dtype, ckpt=False, layers=8):
    c = LlamaConfig(vocab_size=128256, hidden_size=4096, intermediate_size=14336, num_hidden_layers=layers, num_attention_heads=32,
                    num_key_value_heads=8, max_position_embeddings=8192, use_cache=False, tie_word_embeddings=False)
    c._attn_implementation = 'sdpa'
    torch.set_default_dtype(dtype)
    with torch.device(dev): m = LlamaForCausalLM(c)
    torch.set_default_dtype(torch.float32)
    if ckpt: m.gradient_checkpointing_enable()
    return m, 128256
def lm(build, mb, seq, amp=None):
    m, vocab = build(); m.train()
    x = torch.randint(0, vocab, (mb, seq), device=dev)
    def loss():
        with torch.autocast('cuda', dtype=amp, enabled=amp is not None): return m(input_ids=x, labels=x).loss
    return m, loss
def bert(mb, seq, amp):
    c = BertConfig(vocab_size=30522, hidden_size=1024, num_hidden_layers=24, num_attention_heads=16, intermediate_size=4096)
    c._attn_implementation = 'sdpa'
    with torch.device(dev): m = BertForPreTraining(c)
    m.train()
    x = torch.randint(0, 30522, (mb, seq), device=dev); y = torch.zeros(mb, dtype=torch.long, device=dev)
    def loss():
        with torch.autocast('cuda', dtype=amp, enabled=amp is not None): return m(input_ids=x, labels=x, next_sentence_label=y).loss
    return m, loss
def vision(name, bs, amp, last=False):
    with torch.device(dev): m = getattr(torchvision.models, name)()
    m.train()
    x = torch.randn(bs, 3, 224, 224, device=dev); y = torch.randint(0, 1000, (bs,), device=dev)
    if last: m = m.to(memory_format=torch.channels_last); x = x.to(memory_format=torch.channels_last)
    def loss():
        with torch.autocast('cuda', dtype=amp, enabled=amp is not None): return F.cross_entropy(m(x), y)
    return m, loss

b16, f16, f32 = torch.bfloat16, torch.float16, torch.float32
M = (24, 1024, 16)
cases = {
 'gpt2-medium-amp-8': lambda: lm(lambda: gpt2(*M), 8, 1024, b16),
 'resnet50-amp-256-channels-last': lambda: vision('resnet50', 256, f16, True),
 'llama-8-bf16-2x2048': lambda: lm(lambda: llama(b16), 2, 2048),
 'gpt2-medium-bf16-8': lambda: lm(lambda: gpt2(*M, dtype=b16), 8, 1024),
 'resnet50-tf32-128': lambda: vision('resnet50', 128, None),
 'bert-large-amp-32x128': lambda: bert(32, 128, f16),
 'gpt2-medium-amp-8-padded': lambda: lm(lambda: gpt2(*M, vocab=50304), 8, 1024, b16),
 'gpt2-medium-amp-1': lambda: lm(lambda: gpt2(*M), 1, 1024, b16),
 'gpt2-medium-amp-8-recompute': lambda: lm(lambda: gpt2(*M, ckpt=True), 8, 1024, b16),
 'gpt2-medium-amp-4-unfused': lambda: lm(lambda: gpt2(*M, attn='eager'), 4, 1024, b16),
 'gpt2-medium-tf32-4': lambda: lm(lambda: gpt2(*M), 4, 1024),
 'resnet50-amp-256': lambda: vision('resnet50', 256, f16),
 'llama-8-amp-2x2048': lambda: lm(lambda: llama(f32), 2, 2048, b16),
 'bert-large-amp-8x512': lambda: bert(8, 512, f16),
 'resnet50-fp32-64': lambda: vision('resnet50', 64, None),
 'gpt2-xl-amp-4': lambda: lm(lambda: gpt2(48, 1600, 25), 4, 1024, b16),
 'llama-8-bf16-1x8192-recompute': lambda: lm(lambda: llama(b16, ckpt=True), 1, 8192),
 'vgg16-amp-64': lambda: vision('vgg16', 64, f16),
 'vgg16-tf32-64': lambda: vision('vgg16', 64, None),
 'resnet18-amp-256': lambda: vision('resnet18', 256, f16),
}
for name, make in cases.items():
    if time.time() - t0 > limit - 6: print('stopped before', name, flush=True); break
    begin = time.time()
    try:
        tf32 = not ('fp32' in name)
        torch.backends.cuda.matmul.allow_tf32 = 'tf32' in name; torch.backends.cudnn.allow_tf32 = tf32
        torch.cuda.reset_peak_memory_stats()
        m, loss = make()
        if 'resnet' in name or 'vgg' in name: opt = torch.optim.SGD(m.parameters(), 0.01, momentum=0.9)
        else: opt = torch.optim.AdamW(m.parameters(), 1e-4)
        scaler = torch.amp.GradScaler('cuda', enabled=(f16 in (b16,)) or 'amp' in name and ('bert' in name or 'resnet' in name or 'vgg' in name))
        def step():
            scaler.scale(loss()).backward()
            scaler.step(opt); scaler.update(); opt.zero_grad(set_to_none=True)
        for _ in range(3): step()
        torch.cuda.synchronize()
        w = time.time(); step(); torch.cuda.synchronize(); w = time.time() - w
        n = max(4, min(20, int(1.5 / w)))
        ev = [torch.cuda.Event(enable_timing=True) for _ in range(n + 1)]
        ev[0].record(); h = time.time()
        for i in range(n): step(); ev[i + 1].record()
        h = (time.time() - h) / n
        clock = pynvml.nvmlDeviceGetClockInfo(H, pynvml.NVML_CLOCK_SM); watts = pynvml.nvmlDeviceGetPowerUsage(H) / 1e3
        torch.cuda.synchronize()
        ms = [ev[i].elapsed_time(ev[i + 1]) for i in range(n)]
        mem = dict(allocated=torch.cuda.max_memory_allocated(), reserved=torch.cuda.max_memory_reserved(), held=torch.cuda.memory_allocated())
        from torch.profiler import profile, ProfilerActivity
        with profile(activities=[ProfilerActivity.CUDA]) as p:
            step(); torch.cuda.synchronize()
        kernels = {}
        for e in p.events():
            if str(e.device_type).endswith('CUDA'):
                k = kernels.setdefault(e.name[:160], [0, 0.0]); k[0] += 1; k[1] += e.time_range.elapsed_us()
        total = sum(k[1] for k in kernels.values()); count = sum(k[0] for k in kernels.values())
        r = dict(name=name, ms=st.median(ms), all_ms=ms, host_ms=1e3 * h, clock=clock, watts=watts, memory=mem, kernels=count, kernel_ms=total / 1e3,
                 parameters=sum(q.numel() for q in m.parameters()), by_kernel=sorted(([k, *v] for k, v in kernels.items()), key=lambda v: -v[2]))
        out.write(json.dumps(r) + '\n'); out.flush()
        print(f"{name}: {r['ms']:.2f} ms, host {1e3*h:.2f} ms, {count} kernels {total/1e3:.2f} ms, {mem['allocated']/2**30:.2f}/{mem['reserved']/2**30:.2f} GiB, {clock} MHz {watts:.0f} W, took {time.time()-begin:.1f} s", flush=True)
    except Exception as e:
        print(name, 'failed', repr(e)[:300], flush=True)
    m = loss = opt = scaler = p = step = None
    import gc; gc.collect(); torch.cuda.empty_cache()
print('torch', torch.__version__, 'cudnn', torch.backends.cudnn.version(), 'total', time.time() - t0)
