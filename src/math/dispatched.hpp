// TS_DISPATCHED before a function: one version per instruction set, chosen when the program starts. Without fused
// multiply-add (-ffp-contract=off) all versions round alike. Sanitizer runtimes do not survive the dispatch. A call
// costs one indirect jump. Functions called in the loop must be inline, with TS_INLINE if the compiler might decide
// otherwise: a function that is not inlined is compiled only once, for the oldest instruction set.
#pragma once

#if defined(__x86_64__) && defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && \
    !defined(__clang__)
#define TS_DISPATCHED __attribute__((target_clones("arch=x86-64-v4", "avx2", "default")))
#else
#define TS_DISPATCHED
#endif

#if defined(__GNUC__)
#define TS_INLINE inline __attribute__((always_inline))
#else
#define TS_INLINE inline
#endif

// Stands before a loop in which no iteration reads what an earlier one wrote.
#if defined(__clang__)
#define TS_INDEPENDENT_ROUNDS _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define TS_INDEPENDENT_ROUNDS _Pragma("GCC ivdep")
#else
#define TS_INDEPENDENT_ROUNDS
#endif
