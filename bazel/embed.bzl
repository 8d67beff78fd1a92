"""embed_files and embed_messages: files as bytes of the binary."""

def embed_files(files):
    """Makes SYMBOL.o for each SYMBOL: FILE of `files`, to be among the srcs of a cc_library.

    C++ finds the bytes from `stagecraft_SYMBOL_begin` to `stagecraft_SYMBOL_end`, which are
    `extern "C" const char[]`. As string literals large files would take minutes to compile.
    """
    for symbol, file in files.items():
        native.genrule(
            name = symbol,
            srcs = [file],
            outs = [symbol + ".o"],
            cmd = """
                {
                  printf '.section .rodata\\n.balign 16\\n'
                  printf '.globl stagecraft_%s_begin\\nstagecraft_%s_begin:\\n'
                  printf '.incbin "%%s"\\n' "$<"
                  printf '.globl stagecraft_%s_end\\nstagecraft_%s_end:\\n'
                  printf '.section .note.GNU-stack,"",@progbits\\n'
                } | as -o $@ -
            """ % (symbol, symbol, symbol, symbol),
        )

def embed_messages(files):
    """Makes SYMBOL.o for each SYMBOL: FILE.textproto, as embed_files does, of the file as a message.

    A message is read in a tenth of the time of its text. The head of the file names its type.
    """
    for symbol, file in files.items():
        native.genrule(
            name = symbol + "_message",
            srcs = [
                file,
                "//proto:sources",
            ],
            outs = [symbol + ".pb"],
            cmd = """
                head() { sed -n "s/^# proto-$$1: //p" $(location %s); }
                /usr/bin/protoc -I. --encode="$$(head message)" "$$(head file)" < $(location %s) > $@
            """ % (file, file),
        )
    embed_files({symbol: symbol + ".pb" for symbol in files})
