#!/bin/sh
set -eu
glance-manage --config-dir /etc/glance/glance.conf.d db migrate
exec glance-manage --config-dir /etc/glance/glance.conf.d db contract
