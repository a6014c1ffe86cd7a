/* kinds.h - recognises files that are given as weights by mistake. */
#ifndef ATTN2C_KINDS_H
#define ATTN2C_KINDS_H

/* What a file is by its first bytes and what to give instead, as the end of a sentence: "is a GGUF model,
 * ...". NULL: it is nothing that is known, or cannot be read. */
const char *attn2c_kind_said(const char *path);

/* Whether PyTorch's pickle wrote it: a zip, or in old files the pickle itself. */
int attn2c_kind_is_pickle(const char *path);

/* Whether it begins as an object of JSON does. */
int attn2c_kind_is_json(const char *path);

#endif
