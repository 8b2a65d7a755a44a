/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <errno.h>
#include <fts.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "backend/cpio.h"
#include "backend/guest_image.h"
#include "sys/compress.h"

enum { MODULE_MAX_BYTES = 64 << 20 };

/* What a guest needs for its network and its disk, in the order of loading. A kernel that has one
 * of them built in has no such file. */
static const char *const wanted[] = {"failover", "net_failover", "virtio_ring", "virtio",
	"virtio_pci_legacy_dev", "virtio_pci_modern_dev", "virtio_pci", "virtio_net", "virtio_blk"};

/* "virtio_net.ko.xz" is virtio_net; -1 for a module that guests do not need. */
static int wanted_index(const char *file_name)
{
	const char *end = strstr(file_name, ".ko");

	for (size_t i = 0; end && i < ARRAY_SIZE(wanted); i++)
		if (strlen(wanted[i]) == (size_t)(end - file_name) &&
			strncmp(wanted[i], file_name, (size_t)(end - file_name)) == 0)
			return (int)i;
	return -1;
}

static int add_module(struct cpio *cpio, int index, const char *from, struct err *err)
{
	struct str packed = STR_INIT, module = STR_INIT;
	char *to = xasprintf("kb/modules/%02d-%s.ko", index, wanted[index]);
	enum compress_format format;
	int ret = file_read(from, MODULE_MAX_BYTES, &packed, err);

	if (ret == 0) {
		format = compress_detect(packed.text, packed.len);
		if (format == COMPRESS_NONE)
			cpio_add_bytes(cpio, to, 0644, packed.text, packed.len);
		else
			ret = compress_unpack(
				format, packed.text, packed.len, MODULE_MAX_BYTES, &module, err);
		if (ret == 0 && format != COMPRESS_NONE)
			cpio_add_bytes(cpio, to, 0644, module.text, module.len);
	}
	str_release(&packed);
	str_release(&module);
	free(to);
	return ret ? err_wrap(err, "module %s", from) : 0;
}

static int by_name(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

/* modules is a folder holding lib/modules/RELEASE. */
static int add_modules(struct cpio *cpio, const char *modules, const char *release, struct err *err)
{
	char *root = xasprintf("%s/lib/modules/%s/kernel", modules, release);
	char *roots[] = {root, NULL};
	FTS *tree = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, by_name);
	FTSENT *entry;
	int ret = tree ? 0 : err_errno(err, ERR_INFRA, errno, "cannot walk %s", root);

	while (ret == 0 && (entry = fts_read(tree))) {
		int index = entry->fts_info == FTS_F ? wanted_index(entry->fts_name) : -1;

		if (index >= 0)
			ret = add_module(cpio, index, entry->fts_path, err);
		else if (entry->fts_info == FTS_DNR || entry->fts_info == FTS_ERR)
			ret = err_errno(err, ERR_INFRA, entry->fts_errno, "cannot read %s",
				entry->fts_path);
	}
	if (tree)
		(void)fts_close(tree);
	free(root);
	return ret;
}

static int write_modules(FILE *file, const char *modules, const char *release, struct err *err)
{
	struct cpio cpio;
	int ret, end;

	cpio_begin(&cpio, file);
	ret = add_modules(&cpio, modules, release, err);
	end = cpio_end(&cpio, ret ? NULL : err);
	return ret ? ret : end;
}

static int copy_image(FILE *file, const char *path, struct err *err)
{
	struct str bytes = STR_INIT;
	int ret = file_read(path, (size_t)1 << 30, &bytes, err);

	if (ret == 0 && bytes.len && fwrite(bytes.text, 1, bytes.len, file) != bytes.len)
		ret = err_errno(err, ERR_INFRA, errno, "cannot write an initramfs");
	str_release(&bytes);
	return ret;
}

int guest_initrd_write(const struct guest_image *image, const char *modules, const char *release,
	const char *path, struct err *err)
{
	FILE *file = fopen(path, "we");
	int ret = file ? 0 : err_errno(err, ERR_INFRA, errno, "cannot write %s", path);

	if (ret == 0)
		ret = copy_image(file, image->path, err);
	if (ret == 0 && modules[0])
		ret = write_modules(file, modules, release, err);
	if (file && fclose(file) != 0 && ret == 0)
		ret = err_errno(err, ERR_INFRA, errno, "cannot write %s", path);
	if (ret)
		(void)unlink(path);
	return ret;
}
