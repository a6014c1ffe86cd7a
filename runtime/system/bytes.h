/* bytes.h - puts the bytes of a file among the constants of an object, as NAME and NAME_end. */
#pragma once

/* The lines of assembly around the bytes: its symbols have a _ in front on macOS. */
#ifdef __APPLE__
#define ATTN2C_BYTES_LINES(name, end, bytes)                                                                 \
  ".section __TEXT,__const\n.balign 4096\n.globl _" name ", _" end "\n.private_extern _" name "\n"           \
  ".private_extern _" end "\n_" name ":\n" bytes "_" end ":\n.text\n"
#elif defined(_WIN32)
#define ATTN2C_BYTES_LINES(name, end, bytes)                                                                 \
  ".section .rdata,\"dr\"\n.balign 4096\n.globl " name ", " end "\n" name ":\n" bytes end ":\n.text\n"
#else
#define ATTN2C_BYTES_LINES(name, end, bytes)                                                                 \
  ".pushsection .rodata." name ", \"a\", %progbits\n.balign 4096\n.globl " name ", " end "\n.hidden " name   \
  ", " end "\n" name ":\n" bytes end ":\n.popsection\n"
#endif

/* file: its name, as a string. The bytes begin at a page. */
#define ATTN2C_BYTES(name, file)                                                                             \
  __asm__(ATTN2C_BYTES_LINES(#name, #name "_end", ".incbin \"" file "\"\n"));                                \
  extern const unsigned char name[] __attribute__((visibility("hidden")));                                   \
  extern const unsigned char name##_end[] __attribute__((visibility("hidden")))
