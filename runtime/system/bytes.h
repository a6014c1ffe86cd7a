/* bytes.h - puts the bytes of files among the constants of an object, as NAME and NAME_end. */
#pragma once

/* The lines of assembly before and after the bytes: symbols have a _ in front on macOS. align: bytes, as a
 * string. */
#ifdef __APPLE__
#define ATTN2C_BYTES_BEGIN(name, align)                                                                      \
  ".section __TEXT,__const\n.balign " align "\n.globl _" name ", _" name "_end\n.private_extern _" name      \
  "\n.private_extern _" name "_end\n_" name ":\n"
#define ATTN2C_BYTES_END(name) "_" name "_end:\n.text\n"
#elif defined(_WIN32)
#define ATTN2C_BYTES_BEGIN(name, align)                                                                      \
  ".section .rdata,\"dr\"\n.balign " align "\n.globl " name ", " name "_end\n" name ":\n"
#define ATTN2C_BYTES_END(name) name "_end:\n.text\n"
#else
#define ATTN2C_BYTES_BEGIN(name, align)                                                                      \
  ".pushsection .rodata." name ", \"a\", %progbits\n.balign " align "\n.globl " name ", " name               \
  "_end\n.hidden " name ", " name "_end\n" name ":\n"
#define ATTN2C_BYTES_END(name) name "_end:\n.popsection\n"
#endif

#define ATTN2C_BYTES_SYMBOLS(name)                                                                           \
  extern const unsigned char name[] __attribute__((visibility("hidden")));                                   \
  extern const unsigned char name##_end[] __attribute__((visibility("hidden")))

/* file: its name, as a string. The bytes begin at a page. */
#define ATTN2C_BYTES(name, file)                                                                             \
  __asm__(ATTN2C_BYTES_BEGIN(#name, "4096") ".incbin \"" file "\"\n" ATTN2C_BYTES_END(#name));               \
  ATTN2C_BYTES_SYMBOLS(name)
