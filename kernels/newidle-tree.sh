#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# newidle-tree.sh: makes the founding experiment's git repository, kernels/trees/newidle, out of
# Debian's kernel source package:
#
#   tag newidle-baseline      the source without proportional new-idle balancing
#   tag newidle-proportional  its child: the source as shipped
#
# The commits have fixed authors and dates, so that one version of the package gives the same ids
# everywhere. Done once for a version of the package and of this recipe; a newer version adds its
# commits and moves the tags, and older ones stay under refs/tags/NAME-VERSION. The repository is
# bare: `git -C kernels/trees/newidle show newidle-proportional` shows what the experiment is about.
set -euo pipefail
export LC_ALL=C

package=linux-source-6.12
archive=/usr/src/$package.tar.xz
recipe=1 # raise it when this script makes other commits out of the same package
here=$(cd "$(dirname "$0")" && pwd)
patch=$here/patches/newidle-without-proportional.patch
repo=$here/trees/newidle

say() { echo "newidle-tree: $*" >&2; }
fail() {
	say "$*"
	exit 3
}

# Git must not depend on the person's settings: they could change what is committed.
export GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null GIT_DIR=$repo
# One sync at the end instead of thousands.
export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=core.fsync GIT_CONFIG_VALUE_0=none
unset GIT_WORK_TREE GIT_INDEX_FILE GIT_OBJECT_DIRECTORY GIT_ALTERNATE_OBJECT_DIRECTORIES

# Empty when it is not: dpkg-query fails for a package it has never heard of.
installed_version() {
	{ dpkg-query -W -f '${db:Status-Status} ${Version}' $package 2>/dev/null || true; } |
		sed -n 's/^installed //p'
}

install_package() {
	local as_root=()
	[ "$(id -u)" -eq 0 ] || as_root=(sudo)
	command -v apt-get >/dev/null ||
		fail "this needs Debian's package $package; this is not a Debian system"
	say "installing $package (145 MiB)"
	"${as_root[@]}" apt-get -qq update || true
	"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
		apt-get -qq install -y --no-install-recommends $package >&2 ||
		fail "apt-get could not install $package: see its message above. Debian 12 has it in" \
			"bookworm-security: is 'deb http://deb.debian.org/debian-security" \
			"bookworm-security main' among the sources?"
}

version=$(installed_version)
if [ -z "$version" ]; then
	install_package
	version=$(installed_version)
fi
[ -r "$archive" ] || fail "$package is installed, but $archive is missing: apt-get install --reinstall $package"

# A lock of our own: two makes at once must not write one repository.
mkdir -p "$here/trees"
exec 9>"$here/trees/newidle.lock"
flock 9

stamp="$package $version, recipe $recipe, patch $(sha256sum <"$patch" | cut -d' ' -f1)"
if [ "$(cat "$repo/kbracket-made-from" 2>/dev/null)" = "$stamp" ] &&
	git rev-parse --quiet --verify 'newidle-baseline^{commit}' >/dev/null &&
	git rev-parse --quiet --verify 'newidle-proportional^{commit}' >/dev/null; then
	exit 0
fi

scratch=$(mktemp -d "$here/trees/newidle.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
export GIT_INDEX_FILE=$scratch/index

say "unpacking $package $version"
mkdir "$scratch/source"
tar -xf "$archive" -C "$scratch/source" --strip-components=1 --no-same-owner
# The day of the package's own Makefile is the day of the commits.
seconds=$(stat -c %Y "$scratch/source/Makefile")

[ -d "$repo" ] || git init -q --bare --object-format=sha1 --initial-branch=main "$repo"

# Objects go straight into one pack (that is what the threshold does), since 87,000 loose files take
# far longer; -f, because the package's top-level .gitignore ignores everything.
say "adding 87,000 files to $repo (about a minute)"
git -c core.bigFileThreshold=1 -c core.compression=1 -c core.autocrlf=false -c core.fileMode=true \
	-c core.symlinks=true --work-tree="$scratch/source" add -f -A "$scratch/source"
proportional_tree=$(git write-tree)
git cat-file -p "$proportional_tree:kernel/sched/features.h" | grep -q 'SCHED_FEAT(NI_RANDOM' ||
	fail "$package $version has no proportional new-idle balancing (no feature NI_RANDOM in kernel/sched/features.h): a newer version of the package is needed"

# A newer point release may have moved lines or changed neighbours: one line of context is enough
# to find the place, and the check after it makes sure that nothing was left.
without_proportional() {
	git apply --cached --whitespace=nowarn "$patch" 2>/dev/null ||
		git apply --cached --whitespace=nowarn -C1 "$patch"
}
without_proportional ||
	fail "$patch does not apply to $package $version (see above): the code it takes out was changed by that point release. Rewrite the patch for it, or install 6.12.117-1~deb12u1"
if left=$(git grep --cached -n -e 'newidle_\(call\|success\|ratio\)\b' -e NI_RANDOM -e sched_rng -- kernel/sched include/linux/sched); then
	fail "$package $version: $patch leaves traces of proportional new-idle balancing: $(head -n 1 <<<"$left")"
fi
baseline_tree=$(git write-tree)

commit() { # tree, seconds after the package's date, message, commit-tree options
	local tree=$1 date="$((seconds + $2)) +0000" message=$3
	shift 3
	GIT_AUTHOR_NAME=kbracket GIT_AUTHOR_EMAIL=kbracket@localhost GIT_AUTHOR_DATE=$date \
		GIT_COMMITTER_NAME=kbracket GIT_COMMITTER_EMAIL=kbracket@localhost GIT_COMMITTER_DATE=$date \
		git commit-tree "$@" -m "$message" "$tree"
}
baseline=$(commit "$baseline_tree" 0 "Linux source without proportional new-idle balancing

Debian's $package $version with
kernels/patches/newidle-without-proportional.patch applied.")
proportional=$(commit "$proportional_tree" 1 "sched/fair: Proportional newidle balance

Debian's $package $version as shipped. In mainline this
is commit 33cf66d88306; the 6.12 stable series has it, too." -p "$baseline")

# "~" and ":" may be in a version but not in the name of a tag.
tag=$(tr -c 'A-Za-z0-9.+\n-' _ <<<"$version")
git update-ref --stdin <<-END
	update refs/tags/newidle-baseline $baseline
	update refs/tags/newidle-proportional $proportional
	update refs/tags/newidle-baseline-$tag $baseline
	update refs/tags/newidle-proportional-$tag $proportional
	update refs/heads/main $proportional
END
sync -f "$repo"
echo "$stamp" >"$repo/kbracket-made-from.new"
mv "$repo/kbracket-made-from.new" "$repo/kbracket-made-from"
say "$repo: newidle-baseline $baseline, newidle-proportional $proportional"
