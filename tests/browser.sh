#!/bin/sh
# A browser for the tests that open pages: Debian's chromium-headless-shell, where it is missing and may be installed. It
# takes half of the CPU time of chromium, which serves where there is no such package.
# Without either those tests skip and say so; nothing else depends on it.
command -v chromium-headless-shell > /dev/null && exit 0
if ! command -v apt-get > /dev/null; then why="no apt-get to install it"
elif [ "$(id -u)" = 0 ]; then as=
elif command -v sudo > /dev/null && sudo -n true 2> /dev/null; then as=sudo
else why="no right to install it"; fi
if [ -z "${why-}" ]; then
  { $as apt-get update -qq && $as apt-get install -qq -y --no-install-recommends chromium-headless-shell; } > /dev/null 2>&1 && exit 0
  command -v chromium > /dev/null && exit 0
  $as apt-get install -qq -y --no-install-recommends chromium > /dev/null 2>&1 && exit 0
  why="it could not be installed"
fi
command -v chromium > /dev/null || echo "No chromium, and $why: pages are not opened in a browser."
exit 0
