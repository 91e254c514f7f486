"""Settings of the dashboard. Those of the deployment come from dashboard.json."""
import json
import logging

with open("/programs/dashboard.json", encoding="utf-8") as file:
    _facts = json.load(file)
with open("/run/credentials/horizon.secret", encoding="utf-8") as file:
    SECRET_KEY = file.read().strip()

DEBUG = False
# The kubelet asks for "localhost".
ALLOWED_HOSTS = [_facts["host"], "localhost"]
OPENSTACK_KEYSTONE_URL = _facts["keystone"]
OPENSTACK_SSL_CACERT = _facts.get("authorities")
OPENSTACK_API_VERSIONS = {"identity": 3, "image": 2, "volume": 3}
OPENSTACK_KEYSTONE_MULTIDOMAIN_SUPPORT = True
OPENSTACK_ENDPOINT_TYPE = "internalURL"
# What images have made: a root that cannot be written has no place for another one. uWSGI serves it.
STATIC_ROOT = "/usr/share/openstack-dashboard/static"
STATIC_URL = "/static/"
COMPRESS_OFFLINE = True
SESSION_ENGINE = "django.contrib.sessions.backends.cache"
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
CSRF_COOKIE_SECURE = True
SESSION_COOKIE_SECURE = True
CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.memcached.PyMemcacheCache",
        "LOCATION": _facts["memcached"],
        # Without it users have no session; the page is served, and says so.
        "OPTIONS": {"ignore_exc": True, "connect_timeout": 2, "timeout": 2, "dead_timeout": 5},
    }
}


class Line(logging.Formatter):
    """One JSON object, with its traceback."""

    def format(self, record):
        line = {"created": record.created, "level": record.levelname, "name": record.name, "message": record.getMessage()}
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line)


# Django's own send errors by mail, and to nowhere else.
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"()": Line}},
    "handlers": {"line": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["line"], "level": "WARNING"},
    "loggers": {"django": {"handlers": ["line"], "level": "WARNING", "propagate": False}},
}
