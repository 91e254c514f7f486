"""Settings of the dashboard. Those of the deployment come from dashboard.json."""
import json

with open("/programs/dashboard.json", encoding="utf-8") as file:
    _facts = json.load(file)
with open("/run/credentials/horizon.secret", encoding="utf-8") as file:
    SECRET_KEY = file.read().strip()

DEBUG = False
ALLOWED_HOSTS = [_facts["host"], "localhost"]
OPENSTACK_KEYSTONE_URL = _facts["keystone"]
OPENSTACK_SSL_CACERT = _facts.get("authorities")
OPENSTACK_API_VERSIONS = {"identity": 3, "image": 2, "volume": 3}
OPENSTACK_KEYSTONE_MULTIDOMAIN_SUPPORT = True
OPENSTACK_ENDPOINT_TYPE = "internalURL"
SESSION_ENGINE = "django.contrib.sessions.backends.cache"
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
CSRF_COOKIE_SECURE = True
SESSION_COOKIE_SECURE = True
CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.memcached.PyMemcacheCache",
        "LOCATION": _facts["memcached"],
    }
}
