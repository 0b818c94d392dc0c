#!/bin/sh
# A browser for the tests that open reports: Debian's chromium, where it is missing and may be installed.
# Without one those tests skip and say so; nothing else depends on it.
command -v chromium > /dev/null && exit 0
command -v apt-get > /dev/null || { echo "No chromium, and no apt-get to install it: reports are not opened in a browser."; exit 0; }
if [ "$(id -u)" = 0 ]; then as=; elif command -v sudo > /dev/null && sudo -n true 2> /dev/null; then as=sudo; else
  echo "No chromium, and no right to install it: reports are not opened in a browser."; exit 0
fi
{ $as apt-get update -qq && $as apt-get install -qq -y --no-install-recommends chromium; } > /dev/null 2>&1 ||
  echo "Chromium could not be installed: reports are not opened in a browser."
exit 0
