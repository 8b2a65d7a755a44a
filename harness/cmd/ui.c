/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <errno.h>
#include <langinfo.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/num.h"
#include "base/strv.h"
#include "base/utf8.h"
#include "cmd/ui.h"

enum { KEPT_WARNINGS = 50 };
static const int64_t redraw_ns = NS_PER_S / 8;
static const int64_t plain_line_ns = 30 * NS_PER_S;

/* The one terminal there is. */
static struct {
	bool verbose, terminal, stdout_colour, stderr_colour;
	struct str progress; /* on the screen now, or to be drawn */
	bool drawn;
	int64_t drawn_ns;
	struct strv warnings;
	size_t lines_since_warning;
	int write_errno;
} ui;

static bool want_colour(int fd, enum ui_colour colour)
{
	const char *no_colour = getenv("NO_COLOR"), *term = getenv("TERM");

	if (colour != UI_COLOUR_AUTO)
		return colour == UI_COLOUR_ALWAYS;
	return isatty(fd) && !(no_colour && *no_colour) && term && strcmp(term, "dumb") != 0;
}

static int terminal_columns(int fd)
{
	struct winsize size;

	return ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col ? size.ws_col : 80;
}

static void erase(void)
{
	if (ui.drawn)
		(void)fputs("\r\033[K", stderr);
	ui.drawn = false;
}

/* The progress line cut to the terminal: it must not wrap, or it could not be rewritten. */
static void draw(void)
{
	size_t width = (size_t)terminal_columns(STDERR_FILENO) - 1, at = 0, columns = 0;
	const char *text = str_text(&ui.progress);
	uint32_t code;

	if (!*text)
		return;
	while (text[at] && columns < width) {
		size_t used = utf8_decode(text + at, ui.progress.len - at, &code);

		at += used ? used : 1;
		columns++;
	}
	(void)fprintf(stderr, "\r\033[K%.*s", (int)at, text);
	(void)fflush(stderr);
	ui.drawn = true;
	ui.drawn_ns = clock_now_ns();
}

static void show_progress(const char *line)
{
	bool changed = strcmp(line, str_text(&ui.progress)) != 0;
	int64_t now = clock_now_ns();

	str_reset(&ui.progress);
	str_add_safe(&ui.progress, line, strlen(line));
	if (ui.terminal) {
		if (!*line)
			erase();
		else if (now - ui.drawn_ns >= redraw_ns)
			draw();
	} else if (*line && changed && now - ui.drawn_ns >= plain_line_ns) {
		(void)fprintf(stderr, "%s\n", str_text(&ui.progress));
		ui.drawn_ns = now;
	}
}

static void put_line(const char *prefix, const char *line)
{
	struct str safe = STR_INIT;

	str_add_safe(&safe, line, strlen(line));
	(void)fprintf(stderr, "%s%s\n", prefix, str_text(&safe));
	str_release(&safe);
}

static void sink(void *arg KB_UNUSED, enum log_level level, const char *line)
{
	if (level == LOG_DEBUG && !ui.verbose)
		return;
	if (level == LOG_PROGRESS) {
		show_progress(line);
		return;
	}
	erase();
	if (level == LOG_WARN) {
		put_line(ui.stderr_colour ? "\033[33mwarning:\033[0m " : "warning: ", line);
		if (ui.warnings.count < KEPT_WARNINGS && !strv_has(&ui.warnings, line))
			strv_add(&ui.warnings, line);
		ui.lines_since_warning = 0;
	} else {
		put_line("", line);
		ui.lines_since_warning++;
	}
	if (ui.terminal)
		draw();
}

void ui_start(bool verbose, enum ui_colour colour)
{
	ui.verbose = verbose;
	ui.terminal = isatty(STDERR_FILENO);
	ui.stdout_colour = want_colour(STDOUT_FILENO, colour);
	ui.stderr_colour = want_colour(STDERR_FILENO, colour);
	log_set_sink(sink, NULL);
}

void ui_stop(void)
{
	erase();
	if (ui.lines_since_warning > 20)
		for (size_t i = 0; i < ui.warnings.count; i++)
			put_line("warning (again): ", ui.warnings.items[i]);
	log_set_sink(NULL, NULL);
	strv_release(&ui.warnings);
	str_release(&ui.progress);
}

bool ui_stdout_colour(void)
{
	return ui.stdout_colour;
}

bool ui_utf8(void)
{
	return strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

int ui_columns(void)
{
	int columns = isatty(STDOUT_FILENO) ? terminal_columns(STDOUT_FILENO) : 80;

	return columns < 40 ? 40 : columns > 80 ? 80 : columns;
}

void ui_write(const void *bytes, size_t len)
{
	if (!ui.write_errno && fwrite(bytes, 1, len, stdout) != len)
		ui.write_errno = errno ? errno : EIO;
}

void ui_write_text(const struct str *text)
{
	ui_write(str_text(text), text->len);
}

int ui_flush(struct err *err)
{
	if (fflush(stdout) != 0 && !ui.write_errno)
		ui.write_errno = errno ? errno : EIO;
	if (ui.write_errno)
		return err_errno(err, ERR_INFRA, ui.write_errno,
			"the answer could not be written to stdout");
	return 0;
}

/* "14:05", or "Tue 14:05" when that is not today. */
static void add_clock_time(struct str *out, int64_t left_ns)
{
	time_t now = time(NULL), then = now + (time_t)(left_ns / NS_PER_S);
	struct tm today, end;
	char text[32];

	if (!localtime_r(&now, &today) || !localtime_r(&then, &end))
		return;
	(void)strftime(
		text, sizeof(text), today.tm_yday == end.tm_yday ? "%H:%M" : "%a %H:%M", &end);
	str_add(out, text);
}

/* Nobody waits for fractions of a second. */
static void add_wait(struct str *out, int64_t ns)
{
	if (ns < 10 * NS_PER_S)
		str_addf(out, "%lld s", (long long)((ns + NS_PER_S / 2) / NS_PER_S));
	else
		num_add_duration(out, ns);
}

void ui_progress(const struct ui_progress *progress)
{
	struct str line = STR_INIT;

	/* What a narrow terminal cuts is the end: the times come first. */
	str_add_char(&line, '[');
	add_wait(&line, progress->spent_ns);
	if (progress->left_ns >= 0) {
		str_add(&line, progress->guess ? ", perhaps " : ", about ");
		add_wait(&line, progress->left_ns);
		str_add(&line, " left, done at ");
		add_clock_time(&line, progress->left_ns);
	}
	str_addf(&line, "] %s", progress->what);
	log_line(LOG_PROGRESS, "%s", str_text(&line));
	str_release(&line);
}
