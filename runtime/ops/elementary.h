/* elementary.h - exp, erf, tanh and activations for floats, without branches: loops with them vectorise. NaN
 * and infinity give the results of the equation in IEEE arithmetic. Results never depend on inlining. */
#pragma once

#include <stdint.h>
#include <string.h>

/* Inlining adapts a body to the sizes of its call. Without optimisation it only costs. */
#ifdef __OPTIMIZE__
#define ATTN2C_INLINE static inline __attribute__((always_inline))
#else
#define ATTN2C_INLINE static inline
#endif

/* a*b + c, with one rounding if the target has the instruction, else two. */
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
#define ATTN2C_FMA(a, b, c) __builtin_fmaf((a), (b), (c))
#else
#define ATTN2C_FMA(a, b, c) ((a) * (b) + (c))
#endif

/* a*b + c where the product nearly cancels c, which needs all bits of the product on every target. */
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
#define ATTN2C_FMA_EXACT(a, b, c) __builtin_fmaf((a), (b), (c))
#else
#define ATTN2C_FMA_EXACT(a, b, c) ((float)((double)(a) * (double)(b) + (double)(c)))
#endif

/* log2(e) as the sum of two floats. */
#define ATTN2C_LOG2E_HIGH 1.44269502f
#define ATTN2C_LOG2E_LOW  1.92596303e-08f

/* 1.5 * 2^23 + 127. For |x| < 2^22, x + ATTN2C_ROUNDER has round(x) + 127, the exponent of 2^round(x), in its
 * lowest bits, by the addition's own rounding. ATTN2C_EVEN_ROUNDER rounds to even numbers and has half of
 * them there. */
#define ATTN2C_ROUNDER      12583039.0f
#define ATTN2C_EVEN_ROUNDER 25166078.0f

ATTN2C_INLINE uint32_t attn2c_bits(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

ATTN2C_INLINE float attn2c_from_bits(uint32_t bits) {
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

/* Returns min(x, limit) for a positive limit; the result for NaN may be limit. An integer minimum is one
 * instruction; a float minimum that keeps NaN is two. The caller restores NaN by another operand. */
ATTN2C_INLINE float attn2c_least(float x, float limit) {
  int32_t a = (int32_t)attn2c_bits(x), b = (int32_t)attn2c_bits(limit);
  return attn2c_from_bits((uint32_t)(a < b ? a : b));
}

/* Returns min(|x|, limit), and limit for NaN. */
ATTN2C_INLINE float attn2c_magnitude(float x, float limit) {
  return attn2c_least(attn2c_from_bits(attn2c_bits(x) & 0x7fffffffu), limit);
}

/* Returns magnitude with the sign bit of x; magnitude must have a clear sign bit or be NaN. */
ATTN2C_INLINE float attn2c_with_sign(float magnitude, float x) {
  return attn2c_from_bits(attn2c_bits(magnitude) | (attn2c_bits(x) & 0x80000000u));
}

/* Returns 2^n for rounded = n + ATTN2C_ROUNDER or 2n + ATTN2C_EVEN_ROUNDER. |n| <= 127; -127 gives 0. */
ATTN2C_INLINE float attn2c_power(float rounded) { return attn2c_from_bits(attn2c_bits(rounded) << 23); }

/* Returns (2^r - 1) / r for |r| <= 1/2 with relative error 2.1e-8. So 2^r = 1 + r P(r) is exact at 0 and 2^r
 * - 1 does not cancel. All polynomials here are relative minimax fits by tests/bench/fit.py. */
ATTN2C_INLINE float attn2c_exp2_slope(float r) {
  float p = 0.000154035122f;
  p = ATTN2C_FMA(p, r, 0.00133907353f);
  p = ATTN2C_FMA(p, r, 0.00961823761f);
  p = ATTN2C_FMA(p, r, 0.0555035733f);
  p = ATTN2C_FMA(p, r, 0.240226492f);
  return ATTN2C_FMA(p, r, 0.693147182f);
}

/* Returns 2^r for |r| <= 1/2, exact at 0. Its error may be two ulp. The shorter polynomial uses one of them;
 * without fused multiply-adds roundings need that one, too. */
ATTN2C_INLINE float attn2c_exp2_reduced(float r) {
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
  float p = 0.00131916488f;
  p = ATTN2C_FMA(p, r, 0.00967152882f);
  p = ATTN2C_FMA(p, r, 0.0555099435f);
  p = ATTN2C_FMA(p, r, 0.240222409f);
  p = ATTN2C_FMA(p, r, 0.693146765f);
#else
  const float p = attn2c_exp2_slope(r);
#endif
  return ATTN2C_FMA(p, r, 1.0f);
}

/* Returns 2^(x * (c + c_low)) for x * c <= 0 and 1e-30 <= c <= 1e30. Results below 2^-126.5 are 0; NaN stays
 * NaN, -inf gives 0. x*c = n + r with an integer n; the result is 2^n * 2^r. Choosing between the result and
 * 0 at the end is cheaper than limiting x. */
ATTN2C_INLINE float attn2c_exp2_nonpositive(float x, float c, float c_low) {
  const float limit = -127.0f / c;
  float rounded = ATTN2C_FMA(x, c, ATTN2C_ROUNDER);
  float n = rounded - ATTN2C_ROUNDER;
  float r = ATTN2C_FMA(x, c_low, ATTN2C_FMA_EXACT(x, c, -n));
  float result = attn2c_exp2_reduced(r) * attn2c_power(rounded);
  return x < limit ? 0.0f : result;
}

/* Returns e^x, at most 2 ulp. It overflows to inf and underflows gradually to denormals (1 denormal step) and
 * 0, like IEEE. x log2(e) = 2n + r, |r| <= 1. 2^2n, wider than a float's exponent, is 2^n twice. */
ATTN2C_INLINE float attn2c_exp(float x) {
  float rounded = ATTN2C_FMA(x, ATTN2C_LOG2E_HIGH, ATTN2C_EVEN_ROUNDER);
  /* 2n is 130 at most: r then makes the result infinite, or is NaN, which an integer minimum loses */
  rounded = attn2c_least(rounded, ATTN2C_EVEN_ROUNDER + 130.0f);
  float n = rounded - ATTN2C_EVEN_ROUNDER;
  float r = ATTN2C_FMA(x, ATTN2C_LOG2E_LOW, ATTN2C_FMA_EXACT(x, ATTN2C_LOG2E_HIGH, -n));
  /* 2^r, 0.2 ulp */
  float p = 1.50707638e-05f;
  p = ATTN2C_FMA(p, r, 0.000156441078f);
  p = ATTN2C_FMA(p, r, 0.00133393984f);
  p = ATTN2C_FMA(p, r, 0.00961685367f);
  p = ATTN2C_FMA(p, r, 0.0555037409f);
  p = ATTN2C_FMA(p, r, 0.240226686f);
  p = ATTN2C_FMA(p, r, 0.693147242f);
  p = ATTN2C_FMA(p, r, 1.0f);
  float power = attn2c_power(rounded);
  float result = p * power * power;
  return x < -104.0f ? 0.0f : result;
}

/* Returns e^x for x <= 0 (-inf included) or NaN, more cheaply. At most 2 ulp for results of at least 2^-126;
 * smaller results may be 0. */
ATTN2C_INLINE float attn2c_exp_nonpositive(float x) {
  return attn2c_exp2_nonpositive(x, ATTN2C_LOG2E_HIGH, ATTN2C_LOG2E_LOW);
}

/* Returns erf(x) = 2/sqrt(pi) * integral of e^(-t^2) from 0 to x. The relative error is at most 5e-7, also
 * near 0. |erf| = 1 - 2^-g, g = |x| G(|x|); 2^-g - 1 is computed as 2^n (2^r - 1) + (2^n - 1), which does not
 * cancel. */
ATTN2C_INLINE float attn2c_erf(float x) {
  float a = attn2c_from_bits(attn2c_bits(x) & 0x7fffffffu);
  a = a > 4.0f ? 4.0f : a;
  float g = 5.87290742e-05f;
  g = ATTN2C_FMA(g, a, -0.000549667573f);
  g = ATTN2C_FMA(g, a, 0.00180588884f);
  g = ATTN2C_FMA(g, a, 0.000296784565f);
  g = ATTN2C_FMA(g, a, -0.0278753433f);
  g = ATTN2C_FMA(g, a, 0.148329839f);
  g = ATTN2C_FMA(g, a, 0.918443441f);
  g = ATTN2C_FMA(g, a, 1.62790704f) * a;
  float rounded = ATTN2C_ROUNDER - g;
  float n = rounded - ATTN2C_ROUNDER;
  float r = g + n; /* -r of the equation, exact */
  float power = attn2c_power(rounded);
  float magnitude = ATTN2C_FMA(power, r * attn2c_exp2_slope(-r), 1.0f - power);
  return attn2c_with_sign(magnitude, x);
}

/* Returns tanh(x) = (e^(2x) - 1) / (e^(2x) + 1), at most 4 ulp, also near 0. e^(2|x|) - 1 is computed as in
 * attn2c_erf. */
ATTN2C_INLINE float attn2c_tanh(float x) {
  float a = attn2c_from_bits(attn2c_bits(x) & 0x7fffffffu);
  a = a > 9.02f ? 9.02f : a; /* tanh is 1 for larger arguments */
  float rounded = ATTN2C_FMA(a, 2.0f * ATTN2C_LOG2E_HIGH, ATTN2C_ROUNDER);
  float n = rounded - ATTN2C_ROUNDER;
  float r = ATTN2C_FMA_EXACT(a, 2.0f * ATTN2C_LOG2E_HIGH, -n);
  float power = attn2c_power(rounded);
  float e = ATTN2C_FMA(power, r * attn2c_exp2_slope(r), power - 1.0f);
  return attn2c_with_sign(e / (e + 2.0f), x);
}

/* Returns x * sigmoid(2 y ln 2 (c + c_low)). With h = 2^(-|y| c) it is x / (1 + h^2) for y >= 0, x h^2 / (1 +
 * h^2) for y < 0. h is the root of the smallest factor, so the result underflows before h does. */
ATTN2C_INLINE float attn2c_gate(float x, float y, float c, float c_low) {
  float h = attn2c_exp2_nonpositive(attn2c_from_bits(attn2c_bits(y) | 0x80000000u), c, c_low);
  float g = y < 0.0f ? h : 1.0f;
  return x * g * g / ATTN2C_FMA(h, h, 1.0f);
}

/* Returns 1 / (1 + e^-x). Relative error: at most 7e-7 of normal results; others underflow. */
ATTN2C_INLINE float attn2c_sigmoid(float x) {
  return attn2c_gate(1.0f, x, 0.5f * ATTN2C_LOG2E_HIGH, 0.5f * ATTN2C_LOG2E_LOW);
}

/* Returns x * sigmoid(x) = x / (1 + e^-x). Relative error: at most 7e-7 of normal results; -inf gives NaN. */
ATTN2C_INLINE float attn2c_silu(float x) {
  return attn2c_gate(x, x, 0.5f * ATTN2C_LOG2E_HIGH, 0.5f * ATTN2C_LOG2E_LOW);
}

/* Returns x * sigmoid(1.702 x). Relative error: at most 7e-7 of normal results; -inf gives NaN. */
ATTN2C_INLINE float attn2c_quick_gelu(float x) {
  return attn2c_gate(x, x, 1.22773349f, -1.30547493e-08f); /* 1.702 log2(e) / 2 */
}

/* Returns x/2 * (1 + tanh(u)) = x * sigmoid(2u), u = sqrt(2/pi) (x + 0.044715 x^3). The relative error of
 * normal results is at most 2e-5 (from the rounding of a large u), and 1e-6 for x > -4; -inf gives NaN. */
ATTN2C_INLINE float attn2c_gelu_tanh(float x) {
  /* y = u log2(e) */
  float y = x * ATTN2C_FMA(x * x, 0.0514716208f, 1.15110409f);
  return attn2c_gate(x, y, 1.0f, 0.0f);
}

/* Returns x * x. */
ATTN2C_INLINE float attn2c_square(float x) { return x * x; }

/* Returns log(x) of a normal x > 0, at most 3 ulp of 1 + |log(x)|. Infinity stays; 0 and NaN give NaN. x =
 * 2^n m with m in [sqrt(1/2), sqrt(2)); log(m) = 2 artanh(f), f = (m - 1) / (m + 1), |f| < 0.172, by its
 * series up to f^9; the remainder is below 1e-9 of it. */
ATTN2C_INLINE float attn2c_log(float x) {
  const uint32_t from_root = attn2c_bits(x) - 0x3f3504f3u; /* the bits of sqrt(1/2) */
  const int n = (int)((int32_t)from_root >> 23);
  const float m = attn2c_from_bits((from_root & 0x007fffffu) + 0x3f3504f3u);
  const float f = (m - 1.0f) / (m + 1.0f), square = f * f;
  float p = 2.0f / 9.0f;
  p = ATTN2C_FMA(p, square, 2.0f / 7.0f);
  p = ATTN2C_FMA(p, square, 2.0f / 5.0f);
  p = ATTN2C_FMA(p, square, 2.0f / 3.0f);
  p = ATTN2C_FMA(p, square, 2.0f);
  /* n log(2) in two floats, the first exact for every n */
  const float low = ATTN2C_FMA((float)n, -2.12194440e-4f, p * f);
  const float result = ATTN2C_FMA((float)n, 0.693359375f, low);
  return x > 0.0f ? (x < __builtin_inff() ? result : x) : __builtin_nanf("");
}

/* Returns max(x, 0); NaN stays NaN. */
ATTN2C_INLINE float attn2c_relu(float x) { return x < 0.0f ? 0.0f : x; }

/* Returns log(1 + max(x, 0)) (Formal et al. 2021, SPLADE); NaN stays NaN. With u the float next to 1 + x it
 * is log(u) x / (u - 1), so that the rounding of u cancels; if u is 1, it is x. */
ATTN2C_INLINE float attn2c_log_relu(float x) {
  const float r = attn2c_relu(x), u = 1.0f + r, d = u - 1.0f;
  const float log_u = attn2c_log(u), gain = d < 16777216.0f ? r / d : 1.0f;
  return d > 0.0f ? log_u * gain : r;
}

/* Returns x * Phi(x) = x/2 * (1 + erf(x / sqrt 2)). The relative error is at most 2e-6 if the result is a
 * normal float, also in the tail of negative x; -inf gives NaN. x Phi(x) = max(x, 0) - a Phi(-a), a = |x|,
 * and a Phi(-a) = 2^(-c a^2) w Q(w), w = a / (a + 3.75), c = log2(e)/2. */
ATTN2C_INLINE float attn2c_gelu(float x) {
  const float c = 0.5f * ATTN2C_LOG2E_HIGH;   /* Q compensates for the rounding error of this float */
  float a = attn2c_magnitude(x, 13.2687372f); /* c a^2 = 127, where the power becomes 0 */
  float square = a * a;
  float square_low = ATTN2C_FMA_EXACT(a, a, -square);
  float rounded = ATTN2C_FMA(square, -c, ATTN2C_ROUNDER);
  float n = rounded - ATTN2C_ROUNDER;
  float r = ATTN2C_FMA(square_low, -c, ATTN2C_FMA_EXACT(square, -c, -n));
  const float p = attn2c_exp2_reduced(r);
  /* Q, relative error 8.4e-7 */
  float w = a / (a + 3.75f);
  float q = -0.245325297f;
  q = ATTN2C_FMA(q, w, 0.787704706f);
  q = ATTN2C_FMA(q, w, -0.450849503f);
  q = ATTN2C_FMA(q, w, -1.66720581f);
  q = ATTN2C_FMA(q, w, 3.83424211f);
  q = ATTN2C_FMA(q, w, -3.73493814f);
  q = ATTN2C_FMA(q, w, 1.87499857f);
  /* x * 0 keeps the sign of -0, turns -inf into NaN, and keeps NaN */
  float positive = x > 0.0f ? x : x * 0.0f;
  return ATTN2C_FMA(-(w * q * p), attn2c_power(rounded), positive);
}

/* Returns x * Phi(x) for results that are only rounded to bf16 or int8. The relative error is at most 1.1e-4
 * for x >= -5.5; below it is -5.5 Phi(-5.5) = -1e-7, which is less than half an ulp of x from the result.
 * -inf gives NaN. Phi(-a) = 2^L(a), a polynomial, of which 2.5e-5 of 2^L is the error. The integer part of L
 * is added to the exponent of 2^r. */
ATTN2C_INLINE float attn2c_gelu_rounded(float x) {
  const float rounder = 12582912.0f; /* 1.5 * 2^23 */
  float a = attn2c_magnitude(x, 5.5f);
  float l = 2.61537625e-05f;
  l = ATTN2C_FMA(l, a, -0.000660981401f);
  l = ATTN2C_FMA(l, a, 0.0074883108f);
  l = ATTN2C_FMA(l, a, -0.0519704074f);
  l = ATTN2C_FMA(l, a, -0.460329473f);
  l = ATTN2C_FMA(l, a, -1.15058398f);
  l = ATTN2C_FMA(l, a, -1.00003612f);
  float rounded = l + rounder;
  float r = l - (rounded - rounder);
  /* 2^r, relative error 7.5e-5 */
  float p = 0.0551716685f;
  p = ATTN2C_FMA(p, r, 0.242611125f);
  p = ATTN2C_FMA(p, r, 0.693260968f);
  p = ATTN2C_FMA(p, r, 0.999928057f);
  float phi = attn2c_from_bits(attn2c_bits(p) + (attn2c_bits(rounded) << 23));
  /* x * 0 keeps the sign of -0, turns -inf into NaN, and keeps NaN */
  float positive = x > 0.0f ? x : x * 0.0f;
  return ATTN2C_FMA(-a, phi, positive);
}
