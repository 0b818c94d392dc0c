#!/bin/sh
# A PostgreSQL server for the tests of stores: Debian's, where it is missing and may be installed.
# The tests start their own; Debian's cluster is neither made nor started. Without one those tests skip and say so.
command -v initdb > /dev/null && exit 0
ls /usr/lib/postgresql/*/bin/initdb > /dev/null 2>&1 && exit 0
command -v apt-get > /dev/null || { echo "No PostgreSQL, and no apt-get to install it: its store is not tested."; exit 0; }
if [ "$(id -u)" = 0 ]; then as=; elif command -v sudo > /dev/null && sudo -n true 2> /dev/null; then as=sudo; else
  echo "No PostgreSQL, and no right to install it: its store is not tested."; exit 0
fi
# Installing the server makes a cluster unless its settings, which another package brings, say otherwise.
settings=/etc/postgresql-common/createcluster.conf
install="$as env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends"
{ $as apt-get update -qq && $install postgresql-common &&
  $as sed -i 's/^#create_main_cluster.*/create_main_cluster = false/' $settings && $install postgresql; } > /dev/null 2>&1 ||
  echo "PostgreSQL could not be installed: its store is not tested."
exit 0
