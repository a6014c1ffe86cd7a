/* differences.h - the characters whose properties differ between Hugging Face's tokenizers and utf8proc.
 * tokenizers 0.23.3 has tables of Unicode 8, 9 and 17, by component, and utf8proc 2.8 has tables of
 * Unicode 15. tests/text/differences.py writes this file. */
#pragma once

#include <stdint.h>

/* clang-format off */
/* The properties for which utf8proc's answer is negated. */
enum {
    DIFFERS_CONTROL = 1, DIFFERS_NONSPACING = 2, DIFFERS_PUNCTUATION = 4, DIFFERS_MARK = 8,
    DIFFERS_NUMBER = 16, DIFFERS_INERT = 32,
};
/* The first character of a range, how many it has, and in what they differ. */
static const struct { uint32_t first, count, properties; } differences[] = {
    {0x061D, 1, 4}, {0x07FD, 1, 42}, {0x0890, 2, 1}, {0x0898, 8, 42}, {0x08CA, 10, 42}, {0x08D4, 14, 2},
    {0x08E2, 1, 1}, {0x09FD, 1, 4}, {0x09FE, 1, 42}, {0x0A76, 1, 4}, {0x0AFA, 6, 10}, {0x0B55, 1, 10},
    {0x0C04, 1, 10}, {0x0C3C, 1, 42}, {0x0C77, 1, 4}, {0x0C84, 1, 4}, {0x0CF3, 1, 8}, {0x0D00, 1, 10},
    {0x0D3B, 2, 42}, {0x0D81, 1, 10}, {0x0EBA, 1, 42}, {0x0ECE, 1, 10}, {0x166D, 1, 4}, {0x1715, 1, 40},
    {0x1734, 1, 2}, {0x180F, 1, 10}, {0x1885, 2, 2}, {0x1ABF, 16, 42}, {0x1B7D, 2, 4}, {0x1CF2, 2, 8},
    {0x1CF7, 1, 8}, {0x1DF6, 5, 42}, {0x1DFB, 1, 2}, {0x2E43, 13, 4}, {0x2E52, 12, 4}, {0x32FF, 1, 32},
    {0xA7F2, 3, 32}, {0xA82C, 1, 42}, {0xA8C5, 1, 2}, {0xA8FF, 1, 10}, {0xA9BD, 1, 2}, {0xAB69, 1, 32},
    {0x10781, 5, 32}, {0x10787, 42, 32}, {0x107B2, 9, 32}, {0x10D24, 4, 42}, {0x10D40, 10, 16}, {0x10EAB, 2, 42},
    {0x10EAD, 1, 4}, {0x10EFD, 3, 42}, {0x10F46, 11, 42}, {0x10F55, 5, 4}, {0x10F82, 4, 42}, {0x10F86, 4, 4},
    {0x11070, 1, 42}, {0x11073, 2, 10}, {0x110C2, 1, 10}, {0x110CD, 1, 1}, {0x11145, 2, 8}, {0x111C9, 1, 14},
    {0x111CE, 1, 8}, {0x111CF, 1, 10}, {0x1123E, 1, 2}, {0x11241, 1, 10}, {0x1133B, 1, 42}, {0x11438, 8, 2},
    {0x11442, 3, 2}, {0x11446, 1, 2}, {0x1144B, 5, 4}, {0x1145A, 2, 4}, {0x1145D, 1, 4}, {0x1145E, 1, 42},
    {0x11660, 13, 4}, {0x116B9, 1, 4}, {0x116D0, 20, 16}, {0x1182C, 3, 8}, {0x1182F, 9, 10}, {0x11838, 1, 8},
    {0x11839, 2, 42}, {0x1183B, 1, 4}, {0x11930, 6, 8}, {0x11937, 1, 8}, {0x11938, 1, 40}, {0x1193B, 2, 10},
    {0x1193D, 1, 40}, {0x1193E, 1, 42}, {0x11940, 1, 8}, {0x11942, 1, 8}, {0x11943, 1, 42}, {0x11944, 3, 4},
    {0x119D1, 3, 8}, {0x119D4, 4, 10}, {0x119DA, 2, 10}, {0x119DC, 4, 8}, {0x119E0, 1, 42}, {0x119E2, 1, 4},
    {0x119E4, 1, 8}, {0x11A01, 10, 10}, {0x11A33, 1, 10}, {0x11A34, 1, 42}, {0x11A35, 4, 10}, {0x11A39, 1, 8},
    {0x11A3B, 4, 10}, {0x11A3F, 8, 4}, {0x11A47, 1, 42}, {0x11A51, 6, 10}, {0x11A57, 2, 8}, {0x11A59, 3, 10},
    {0x11A8A, 13, 10}, {0x11A97, 1, 8}, {0x11A98, 1, 10}, {0x11A99, 1, 42}, {0x11A9A, 3, 4}, {0x11A9E, 5, 4},
    {0x11B00, 10, 4}, {0x11BF0, 10, 16}, {0x11C30, 7, 2}, {0x11C38, 6, 2}, {0x11C3F, 1, 2}, {0x11C41, 5, 4},
    {0x11C70, 2, 4}, {0x11C92, 22, 2}, {0x11CAA, 7, 2}, {0x11CB2, 2, 2}, {0x11CB5, 2, 2}, {0x11D31, 6, 10},
    {0x11D3A, 1, 10}, {0x11D3C, 2, 10}, {0x11D3F, 3, 10}, {0x11D42, 1, 42}, {0x11D43, 1, 10}, {0x11D44, 2, 42},
    {0x11D47, 1, 10}, {0x11D8A, 5, 8}, {0x11D90, 2, 10}, {0x11D93, 2, 8}, {0x11D95, 1, 10}, {0x11D96, 1, 8},
    {0x11D97, 1, 42}, {0x11DE0, 10, 16}, {0x11EF3, 2, 10}, {0x11EF5, 2, 8}, {0x11EF7, 2, 4}, {0x11F00, 2, 10},
    {0x11F03, 1, 8}, {0x11F34, 2, 8}, {0x11F36, 5, 10}, {0x11F3E, 2, 8}, {0x11F40, 1, 10}, {0x11F41, 1, 40},
    {0x11F42, 1, 42}, {0x11F43, 13, 4}, {0x11FFF, 1, 4}, {0x12FF1, 2, 4}, {0x13430, 16, 1}, {0x13440, 1, 10},
    {0x13447, 15, 10}, {0x16130, 10, 16}, {0x16D70, 10, 16}, {0x16E97, 4, 4}, {0x16F4F, 1, 10}, {0x16F7F, 9, 8},
    {0x16FE2, 1, 4}, {0x16FE4, 1, 10}, {0x16FF0, 2, 40}, {0x16FF4, 3, 16}, {0x1CCF0, 10, 16}, {0x1CF00, 46, 10},
    {0x1CF30, 23, 10}, {0x1E000, 7, 2}, {0x1E008, 17, 2}, {0x1E01B, 7, 2}, {0x1E023, 2, 2}, {0x1E026, 5, 2},
    {0x1E030, 62, 32}, {0x1E08F, 1, 42}, {0x1E130, 7, 42}, {0x1E2AE, 1, 42}, {0x1E2EC, 4, 42}, {0x1E4EC, 4, 42},
    {0x1E5F1, 10, 16}, {0x1E944, 7, 2}, {0x1E95E, 2, 4}, {0x1F16C, 1, 32}, {0x1FBF0, 10, 32},
};
/* Letters: the first of a range, how many it has, and the distance of their lower case. */
static const struct { uint32_t first, count; int32_t distance; } differences_lower[] = {
    {0x1C89, 1, 1}, {0xA7CB, 1, -42343}, {0xA7CC, 1, 1}, {0xA7CE, 1, 1}, {0xA7D2, 1, 1},
    {0xA7D4, 1, 1}, {0xA7DA, 1, 1}, {0xA7DC, 1, -42561}, {0x10D50, 22, 32}, {0x16EA0, 25, 27},
};
/* clang-format on */
