# The fitted cost model, as bytes of the binary.
        .section .rodata
        .balign 16
        .globl stagecraft_cost_model_begin
        .globl stagecraft_cost_model_end
stagecraft_cost_model_begin:
        .incbin "data/cost_models/kernels.pb"
stagecraft_cost_model_end:
        .section .note.GNU-stack,"",@progbits
