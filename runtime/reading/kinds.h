/* kinds.h - recognises files that are not weights but were given as such. */
#pragma once

/* Returns the end of a sentence about a file, by its first bytes: "is an ONNX model, ...". It says what to
 * give instead. Returns NULL if the kind is not known, or the file cannot be read. */
const char *attn2c_kind_said(const char *path);

/* True if the file begins like a JSON object. */
int attn2c_kind_is_json(const char *path);
