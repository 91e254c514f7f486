#!/bin/sh
set -eu
glance-manage --config-dir /etc/glance/glance-api.conf.d db migrate
exec glance-manage --config-dir /etc/glance/glance-api.conf.d db contract
