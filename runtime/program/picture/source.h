/* source.h - the pictures that --image names: files, all pictures of a folder, the standard input. */
#pragma once

#include "picture/picture.h"
#include "program/media/command.h"

extern const attn2c_path_kind attn2c_picture_paths;

/* Writes the input that the bytes of a file become. Returns ATTN2C_OK, _FORMAT or _MEMORY, with the reason.
 */
int attn2c_picture_source_bytes(const attn2c_picture_facts *facts, const uint8_t *bytes, size_t size,
                                float *image, int32_t shape[2], char fault[ATTN2C_PICTURE_FAULT]);

/* Reads a picture, and writes the input that it becomes. */
int attn2c_picture_source_image(const attn2c_paths *paths, int number, const attn2c_picture_facts *facts,
                                float *image, int32_t shape[2], attn2c_message *message);
