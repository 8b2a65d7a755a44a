#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Installs the Debian packages that are missing, after printing which and what for. On a terminal it
# asks first (YES=1 skips that). On other distributions it names what is missing and ends with 3.
set -euo pipefail

# package | what it is for | on other distributions: a file or pkg-config module that shows it is there
packages='
build-essential|the C compiler and make|cmd:cc
pkg-config|finding the libraries|cmd:pkg-config
libgit2-dev|kernels from git refs|pc:libgit2
libyaml-dev|reading experiments, kernels, suites and machines|pc:yaml-0.1
libsqlite3-dev|the results database|pc:sqlite3
libcurl4-openssl-dev|patches from mail archives|pc:libcurl
libjansson-dev|JSON|pc:jansson
libpcre2-dev|reading benchmark output|pc:libpcre2-8
r-mathlib|distribution functions (libRmath)|pc:libRmath
zlib1g-dev|compressed raw output and kernel images|pc:zlib
liblzma-dev|compressed kernel images|pc:liblzma
libzstd-dev|compressed kernel images|pc:libzstd
liblz4-dev|compressed kernel images|pc:liblz4
libcmocka-dev|unit tests|pc:cmocka
clang|the second compiler of make check|cmd:clang
git|source trees|cmd:git
openssh-client|reaching machines and guests|cmd:ssh
qemu-system-x86|guests|cmd:qemu-system-x86_64
busybox-static|the guest: its shell and small programs|cmd:busybox
dropbear-bin|the guest: its ssh server|cmd:dropbear
kexec-tools|the guest: switching kernels|cmd:kexec
linux-perf|counters|cmd:perf
rt-tests|the suite hackbench|cmd:hackbench
stress-ng|the suite stress-ng|cmd:stress-ng
bc|kernel builds|cmd:bc
bison|kernel builds|cmd:bison
flex|kernel builds|cmd:flex
libelf-dev|kernel builds|pc:libelf
libssl-dev|kernel builds|pc:openssl
openssl|kernel builds: keys for modules|cmd:openssl
cpio|kernel builds|cmd:cpio
kmod|kernel modules|cmd:modprobe
rsync|kernel builds|cmd:rsync
zstd|packed kernel modules|cmd:zstd
lz4|kernel builds: packed images|cmd:lz4
xz-utils|the kernel source package|cmd:xz
'
PATH=$PATH:/usr/sbin:/sbin

present() {
	case $1 in
	cmd:*) command -v "${1#cmd:}" >/dev/null ;;
	pc:*) pkg-config --exists "${1#pc:}" 2>/dev/null ;;
	esac
}

missing=() reasons=()
while IFS='|' read -r package reason probe; do
	[ -n "$package" ] || continue
	present "$probe" && continue
	missing+=("$package")
	reasons+=("  $package: $reason")
done <<<"$packages"
[ ${#missing[@]} -gt 0 ] || exit 0

echo "Missing packages:" >&2
printf '%s\n' "${reasons[@]}" >&2
if ! command -v apt-get >/dev/null; then
	echo "This is not a Debian system: install what these Debian packages hold, then run make again." >&2
	exit 3
fi
if [ -t 0 ] && [ "${YES:-}" != 1 ]; then
	read -r -p "Install them with apt-get? [Y/n] " answer
	case $answer in [nN]*) exit 3 ;; esac
fi
as_root=()
[ "$(id -u)" -eq 0 ] || as_root=(sudo)
log=$(mktemp)
trap 'rm -f "$log"' EXIT
echo "Installing (a minute or two)..." >&2
if ! { "${as_root[@]}" apt-get -qq update &&
	"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
		apt-get -qq install -y --no-install-recommends "${missing[@]}"; } >"$log" 2>&1; then
	tail -n 20 "$log" >&2
	echo "apt-get could not install them; its last lines are above." >&2
	exit 3
fi
