/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * wave: shallow water on a 2-D grid, advanced in time by N threads with a sleeping barrier a step.
 *
 * The conservative shallow-water equations (height h, momenta p and q) on a doubly periodic grid,
 * by the Lax-Friedrichs scheme: R. J. LeVeque, Finite Volume Methods for Hyperbolic Problems,
 * 2002, section 4.6 (scheme) and 13.1 (equations). A hump of water in the middle spreads. Each
 * thread owns a band of rows. A step reads one field and writes the other, so a cell's value does
 * not depend on who computes it: the checksum of the final field is the same for any N.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "native.h"

#define GRAVITY 9.81
#define DEPTH 10.0 /* of the water at rest; wave speed is about sqrt(98 + a bit) = 10 */
#define HUMP 1.0
#define DT_OVER_DX 0.04 /* Courant number 0.04 * (10.4 + 0.5) < 0.5, stable in 2-D */

struct field {
	double *h, *p, *q;
};

struct band {
	int64_t first, end; /* rows [first, end) */
	int64_t extra;
	pthread_t thread;
};

static int64_t workers = 1, steps = 200, grid = 96, slow_mpct;
static struct field fields[2];
static pthread_barrier_t barrier;

static struct native_opt opts[] = {
	{"workers", NATIVE_COUNT, &workers, 1, NATIVE_MAX_WORKERS, "threads, at most one per row",
		false},
	{"steps", NATIVE_COUNT, &steps, 1, 1000000000, "time steps", false},
	{"grid", NATIVE_COUNT, &grid, 3, 8192, "rows, and columns, of the grid", false},
	{"slow-pct", NATIVE_PERCENT, &slow_mpct, 0, 10 * NATIVE_FULL_MPCT,
		"known slowdown: P steps done twice for each 100", false},
	{NULL, NATIVE_COUNT, NULL, 0, 0, NULL, false},
};

static void make_field(struct field *f)
{
	size_t cells = (size_t)(grid * grid);

	f->h = native_alloc(cells, sizeof(double));
	f->p = native_alloc(cells, sizeof(double));
	f->q = native_alloc(cells, sizeof(double));
}

/* A smooth hump of polynomial shape: no library function whose last bit might differ. */
static void raise_hump(struct field *f)
{
	double half = (double)grid / 2;

	for (int64_t y = 0; y < grid; y++)
		for (int64_t x = 0; x < grid; x++) {
			double dy = ((double)y - half) / half, dx = ((double)x - half) / half;
			double r2 = 4 * (dx * dx + dy * dy);

			f->h[y * grid + x] = DEPTH + (r2 < 1 ? HUMP * (1 - r2) * (1 - r2) : 0);
		}
}

/* One cell from its neighbours: w(est) e(ast) along x with momentum p, n(orth) s(outh) along y. */
static void step_cell(const struct field *a, const struct field *b, int64_t at, int64_t w,
	int64_t e, int64_t n, int64_t s)
{
	double uw = a->p[w] / a->h[w], ue = a->p[e] / a->h[e];
	double vn = a->q[n] / a->h[n], vs = a->q[s] / a->h[s];
	double c = DT_OVER_DX / 2, g = GRAVITY / 2;

	b->h[at] = (a->h[w] + a->h[e] + a->h[n] + a->h[s]) / 4 - c * (a->p[e] - a->p[w]) -
		   c * (a->q[s] - a->q[n]);
	b->p[at] =
		(a->p[w] + a->p[e] + a->p[n] + a->p[s]) / 4 -
		c * (a->p[e] * ue + g * a->h[e] * a->h[e] - a->p[w] * uw - g * a->h[w] * a->h[w]) -
		c * (a->p[s] * vs - a->p[n] * vn);
	b->q[at] =
		(a->q[w] + a->q[e] + a->q[n] + a->q[s]) / 4 - c * (a->q[e] * ue - a->q[w] * uw) -
		c * (a->q[s] * vs + g * a->h[s] * a->h[s] - a->q[n] * vn - g * a->h[n] * a->h[n]);
}

static void step_band(const struct field *from, const struct field *to, int64_t first, int64_t end)
{
	for (int64_t y = first; y < end; y++) {
		int64_t row = y * grid, north = (y ? y - 1 : grid - 1) * grid;
		int64_t south = (y + 1 < grid ? y + 1 : 0) * grid;

		step_cell(from, to, row, row + grid - 1, row + 1, north, south);
		for (int64_t x = 1; x < grid - 1; x++)
			step_cell(
				from, to, row + x, row + x - 1, row + x + 1, north + x, south + x);
		step_cell(from, to, row + grid - 1, row + grid - 2, row, north + grid - 1,
			south + grid - 1);
	}
}

/*
 * Every thread counts for itself which steps are extra, and comes to the same answer. An extra
 * step computes the next field once more from the same one, so it cannot change the result.
 */
static void *band_body(void *arg)
{
	struct native_slow slow = {.mpct = slow_mpct};
	struct band *band = arg;
	int64_t done = 0;

	pthread_barrier_wait(&barrier);
	while (done < steps || native_owes(&slow)) {
		bool counts = native_counts(&slow);
		int64_t from = counts ? done : done - 1;

		step_band(&fields[from & 1], &fields[(from + 1) & 1], band->first, band->end);
		pthread_barrier_wait(&barrier);
		if (counts)
			done++;
		else
			band->extra++;
	}
	return NULL;
}

/* FNV-1a over the bits of the field; ends the program when the field is no longer finite. */
static uint64_t checksum(const struct field *f)
{
	const double *parts[] = {f->h, f->p, f->q};
	uint64_t sum = 0xcbf29ce484222325, bits;

	for (int part = 0; part < 3; part++)
		for (int64_t i = 0; i < grid * grid; i++) {
			if (!isfinite(parts[part][i]))
				native_die("the field is not finite at cell %" PRId64, i);
			memcpy(&bits, &parts[part][i], sizeof(bits));
			for (int byte = 0; byte < 8; byte++, bits >>= 8)
				sum = (sum ^ (bits & 0xff)) * 0x100000001b3;
		}
	return sum;
}

int main(int argc, char **argv)
{
	struct band *bands;
	int64_t begin, elapsed_ns;
	double seconds;

	native_parse("wave", "shallow-water time steps by threads with a barrier a step", opts,
		argc, argv);
	if (workers > grid)
		native_usage("--workers %" PRId64 " is more than the rows of --grid %" PRId64,
			workers, grid);
	make_field(&fields[0]);
	make_field(&fields[1]);
	raise_hump(&fields[0]);
	bands = native_alloc((size_t)workers, sizeof(*bands));
	native_barrier_init(&barrier, workers);
	for (int64_t i = 0; i < workers; i++) {
		bands[i].first = grid * i / workers;
		bands[i].end = grid * (i + 1) / workers;
		if (i > 0)
			bands[i].thread = native_thread(band_body, &bands[i], -1);
	}
	begin = native_now_ns();
	band_body(&bands[0]);
	elapsed_ns = native_now_ns() - begin;
	for (int64_t i = 1; i < workers; i++)
		native_join(bands[i].thread);
	seconds = (double)elapsed_ns / NATIVE_NS_PER_S;
	return native_result(seconds, "seconds",
		"steps=%" PRId64 " extra=%" PRId64 " seconds=%.9f workers=%" PRId64 " grid=%" PRId64
		" slow-pct=%.3f checksum=%016" PRIx64,
		steps, bands[0].extra, seconds, workers, grid, (double)slow_mpct / 1000,
		checksum(&fields[steps & 1]));
}
