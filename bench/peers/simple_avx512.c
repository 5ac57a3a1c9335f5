// A simple AVX-512 C program for SDDMM and SpMM: the yardstick that this module is held against. It reads
// a matrix that "sddmm bench --export" wrote (the format is documented at bench.Export) and prints
// records that "sddmm bench compare" reads.
//
//   gcc -O3 -march=native -fopenmp simple_avx512.c -o simple_avx512 -lm
//   ./simple_avx512 FILE K[,K…] THREADS [SECONDS [sddmm|spmm]]
//
// Rows are shared among threads in blocks drawn as they are needed. SDDMM keeps the row of A in registers
// (for K = 16, 32, 64, 128 and 256) and sums each dot product horizontally; SpMM keeps the row of C in
// registers, 128 columns at a time. K is a multiple of 16. Nothing is prefetched or tiled.
#include <immintrin.h>
#include <math.h>
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BLOCK = 64, MAX_SAMPLES = 10000 };

struct header { char magic[8]; int64_t rows, cols, nnz; uint64_t hash, seed; char name[256]; };
struct matrix { struct header h; int64_t *ptr; int32_t *col; float *val; };

static void die(const char *what) { fprintf(stderr, "simple_avx512: %s\n", what); exit(1); }

static void *take(size_t bytes) {
    void *p = aligned_alloc(64, (bytes + 63) / 64 * 64 + 64);
    if (!p) die("out of memory");
    return p;
}

static void *load(FILE *f, size_t bytes) {
    void *p = take(bytes);
    if (fread(p, 1, bytes, f) != bytes) die("the file ends early; want one that sddmm bench --export wrote");
    return p;
}

static uint64_t mix(uint64_t x) {
    x += 0x9e3779b97f4a7c15;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
}

static float *operand(int64_t rows, int k, uint64_t o, uint64_t seed) {
    float *m = take(rows * k * sizeof *m);
#pragma omp parallel for
    for (int64_t e = 0; e < rows * k; e++) m[e] = (float)(0.5 + (double)(mix(seed + (o << 56) + e) >> 41) * 0x1p-23);
    return m;
}

// p = s ∘ (A·Bᵀ): V registers hold the row of A.
#define SDDMM(V) \
    static void sddmm##V(const struct matrix *s, const float *a, const float *b, int k, float *p) { \
        _Pragma("omp parallel for schedule(dynamic, BLOCK)") for (int64_t i = 0; i < s->h.rows; i++) { \
            __m512 x[V]; \
            for (int v = 0; v < V; v++) x[v] = _mm512_loadu_ps(a + i * k + 16 * v); \
            for (int64_t z = s->ptr[i]; z < s->ptr[i + 1]; z++) { \
                const float *y = b + (int64_t)s->col[z] * k; \
                __m512 t = _mm512_mul_ps(x[0], _mm512_loadu_ps(y)); \
                for (int v = 1; v < V; v++) t = _mm512_fmadd_ps(x[v], _mm512_loadu_ps(y + 16 * v), t); \
                p[z] = s->val[z] * _mm512_reduce_add_ps(t); \
            } \
        } \
    }
SDDMM(1) SDDMM(2) SDDMM(4) SDDMM(8) SDDMM(16)

// The same for any K: the row of A comes from the cache.
static void sddmm0(const struct matrix *s, const float *a, const float *b, int k, float *p) {
#pragma omp parallel for schedule(dynamic, BLOCK)
    for (int64_t i = 0; i < s->h.rows; i++)
        for (int64_t z = s->ptr[i]; z < s->ptr[i + 1]; z++) {
            const float *x = a + i * k, *y = b + (int64_t)s->col[z] * k;
            __m512 t = _mm512_setzero_ps();
            for (int j = 0; j < k; j += 16) t = _mm512_fmadd_ps(_mm512_loadu_ps(x + j), _mm512_loadu_ps(y + j), t);
            p[z] = s->val[z] * _mm512_reduce_add_ps(t);
        }
}

static void sddmm(const struct matrix *s, const float *a, const float *b, int k, float *p) {
    switch (k) {
    case 16: sddmm1(s, a, b, k, p); break;
    case 32: sddmm2(s, a, b, k, p); break;
    case 64: sddmm4(s, a, b, k, p); break;
    case 128: sddmm8(s, a, b, k, p); break;
    case 256: sddmm16(s, a, b, k, p); break;
    default: sddmm0(s, a, b, k, p);
    }
}

// V registers of row i of C, from column j on.
#define SPMM(V) \
    static void spmm##V(const struct matrix *s, int64_t i, int j, const float *b, int k, float *c) { \
        __m512 x[V]; \
        for (int v = 0; v < V; v++) x[v] = _mm512_setzero_ps(); \
        for (int64_t z = s->ptr[i]; z < s->ptr[i + 1]; z++) { \
            const float *y = b + (int64_t)s->col[z] * k + j; \
            const __m512 f = _mm512_set1_ps(s->val[z]); \
            for (int v = 0; v < V; v++) x[v] = _mm512_fmadd_ps(f, _mm512_loadu_ps(y + 16 * v), x[v]); \
        } \
        for (int v = 0; v < V; v++) _mm512_storeu_ps(c + i * k + j + 16 * v, x[v]); \
    }
SPMM(1) SPMM(2) SPMM(4) SPMM(8)

static void spmm(const struct matrix *s, const float *b, int k, float *c) {
#pragma omp parallel for schedule(dynamic, BLOCK)
    for (int64_t i = 0; i < s->h.rows; i++) {
        int j = 0;
        for (; k - j >= 128; j += 128) spmm8(s, i, j, b, k, c);
        for (; k - j >= 64; j += 64) spmm4(s, i, j, b, k, c);
        for (; k - j >= 32; j += 32) spmm2(s, i, j, b, k, c);
        for (; k - j >= 16; j += 16) spmm1(s, i, j, b, k, c);
    }
}

// wrong compares some rows with a plain loop in double; it returns the largest error as a share of the
// bound γ_n·Σ|terms| and stops the program above 1. *error is relative to the terms.
static double wrong(const struct matrix *s, const float *a, const float *b, int k, const float *out, double *error, int64_t *checked) {
    double worst = 0;
    int64_t step = s->h.rows / 200 + 1;
    *error = 0, *checked = 0;
    for (int64_t i = 0; i < s->h.rows; i += step) {
        int64_t lo = s->ptr[i], hi = s->ptr[i + 1], n = a ? hi - lo : k;
        for (int64_t e = 0; e < n; e++) {
            double want = 0, size = 0, got = a ? out[lo + e] : out[i * k + e];
            for (int64_t t = 0; t < (a ? k : hi - lo); t++) {
                double x = a ? (double)s->val[lo + e] * a[i * k + t] * b[(int64_t)s->col[lo + e] * k + t]
                             : (double)s->val[lo + t] * b[(int64_t)s->col[lo + t] * k + e];
                want += x, size += fabs(x);
            }
            double u = ((a ? k : hi - lo) + 4) * 0x1p-24, bound = u / (1 - u) * size * (1 + 0x1p-29);
            if (!(fabs(got - want) <= bound)) die("a result is wrong; no time is reported");
            if (size > 0) worst = fmax(worst, fabs(got - want) / bound), *error = fmax(*error, fabs(got - want) / size);
            ++*checked;
        }
    }
    return worst;
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

static void quoted(const char *s) {
    putchar('"');
    for (; *s; s++) {
        if (*s == '"' || *s == '\\') putchar('\\');
        putchar((unsigned char)*s < 32 ? '?' : *s);
    }
    putchar('"');
}

static int byvalue(const void *x, const void *y) { return (*(double *)x > *(double *)y) - (*(double *)x < *(double *)y); }

static void measure(const struct matrix *s, int k, int op, double seconds, int threads) {
    static double samples[MAX_SAMPLES], sorted[MAX_SAMPLES];
    const struct header *h = &s->h;
    int64_t n = op ? h->rows * k : h->nnz;
    float *a = op ? NULL : operand(h->rows, k, 1, h->seed), *b = operand(h->cols, k, 2, h->seed), *out = take(n * sizeof *out);
    memset(out, 0xff, n * sizeof *out); // NaN
    double total = 0, error = 0, share = 0, sum = 0;
    int64_t checked = 0;
    int taken = 0, calls = 1;
    for (int run = -3; taken < MAX_SAMPLES && (taken < 10 || total < seconds); run++) {
        double start = now();
        for (int c = 0; c < calls; c++) {
            if (op) spmm(s, b, k, out);
            else sddmm(s, a, b, k, out);
        }
        double took = now() - start;
        if (run == -3) share = wrong(s, a, b, k, out, &error, &checked);
        if (run == -1) calls = took < 2e-3 ? (int)(2e-3 / took) + 1 : 1;
        if (run >= 0) samples[taken++] = took / calls, total += took;
    }
    for (int64_t e = 0; e < n; e++) sum += out[e];
    memcpy(sorted, samples, taken * sizeof *samples);
    qsort(sorted, taken, sizeof *sorted, byvalue);
    double median = (sorted[(taken - 1) / 2] + sorted[taken / 2]) / 2;
    int64_t flops = 2 * h->nnz * k, active = 0;
    for (int64_t i = 0; i < h->rows; i++) active += op || s->ptr[i] < s->ptr[i + 1];
    int64_t bytes = 4 * k * (h->nnz + active) + h->nnz * (op ? 8 : 12) + 8 * (h->rows + 1);
    printf("{\"event\":\"result\",\"implementation\":\"simple AVX-512 C\",\"op\":\"%s\",%s\"matrix\":",
           op ? "spmm" : "sddmm", op ? "" : "\"epilogue\":\"scale\",");
    quoted(h->name);
    printf(",\"rows\":%ld,\"cols\":%ld,\"nnz\":%ld,"
           "\"data_hash\":\"%016lx\",\"seed\":%lu,\"k\":%d,\"type\":\"float32\",\"device\":\"cpu\",\"threads\":%d,\"tile\":\"none\",\"tile_by\":\"none\","
           "\"gflops\":%.6g,\"gb_per_s\":%.6g,\"seconds_median\":%.9g,\"seconds_min\":%.9g,\"samples\":%d,\"warmups\":3,\"calls_per_sample\":%d,\"timing\":\"host\","
           "\"error\":%.4g,\"error_bound_share\":%.4g,\"error_checked\":%ld,\"checksum\":%.17g,\"flops\":%ld,\"bytes\":%ld,\"seconds\":[",
           (long)h->rows, (long)h->cols, (long)h->nnz, (unsigned long)h->hash,
           (unsigned long)h->seed, k, threads, flops / median / 1e9, bytes / median / 1e9, median, sorted[0], taken, calls, error, share, (long)checked, sum, (long)flops, (long)bytes);
    for (int i = 0; i < taken; i++) printf("%s%.9g", i ? "," : "", samples[i]);
    printf("]}\n");
    fflush(stdout);
    free(a);
    free(b);
    free(out);
}

int main(int argc, char **argv) {
    if (argc < 4) die("usage: simple_avx512 FILE K[,K...] THREADS [SECONDS [sddmm|spmm]]");
    struct matrix s;
    FILE *f = fopen(argv[1], "rb");
    if (!f || fread(&s.h, sizeof s.h, 1, f) != 1 || memcmp(s.h.magic, "SDDMMKT\1", 8)) die("want a file that sddmm bench --export wrote");
    int threads = atoi(argv[3]);
    if (threads < 1) die("want at least one thread");
    omp_set_num_threads(threads);
    s.ptr = load(f, (s.h.rows + 1) * sizeof *s.ptr);
    s.col = load(f, s.h.nnz * sizeof *s.col);
    s.val = load(f, s.h.nnz * sizeof *s.val);
    fclose(f);
    for (char *p = strtok(argv[2], ","); p; p = strtok(NULL, ",")) {
        int k = atoi(p);
        if (k < 16 || k % 16) die("K: want multiples of 16");
        for (int op = 0; op < 2; op++)
            if (argc < 6 || !strcmp(argv[5], op ? "spmm" : "sddmm")) measure(&s, k, op, argc > 4 ? atof(argv[4]) : 0.5, threads);
    }
}
