/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "backend/builder.h"

const struct builder *builder_for(const struct variant *variant)
{
	return variant->is_prebuilt ? &builder_prebuilt : &builder_kbuild;
}
