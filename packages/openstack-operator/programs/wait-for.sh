#!/bin/sh
# Waits until a socket of another pod on this node exists.
set -eu
until [ -e "$1" ]; do sleep 1; done
