"""Writes the option schema of one OpenStack release: compact JSON in a TypeScript module.

`npm run openstack-schemas -- RELEASE...` runs it with the packages of requirements-RELEASE.txt, and writes releases between as changes.
2022.2 was written by Debian 12's own Python and packages: python3 generate.py 2022.2

The options are those of oslo-config-generator. An option is written as a text: a letter for the type and its bounds.
    s text   b boolean   i integer   f float   p port   l list   d dictionary   m value that may be repeated   a address   u URI
    i0:10 bounds, either may be absent   s{a,b} allowed values   a trailing "!" marks an option that is deprecated for removal
"""
import importlib.metadata
import json
import subprocess
import sys

from keystoneauth1 import loading
from oslo_config import cfg, generator, types

COMMON = [
    "oslo.log", "oslo.messaging", "oslo.policy", "oslo.db", "oslo.middleware", "oslo.concurrency", "oslo.cache",
    "oslo.reports", "oslo.service.periodic_task", "oslo.service.service", "oslo.service.sslutils", "oslo.service.wsgi",
    "oslo.versionedobjects", "oslo.limit", "oslo.privsep", "keystonemiddleware.auth_token",
    "keystonemiddleware.audit", "osprofiler", "castellan.config", "oslo.middleware.cors",
    "oslo.middleware.healthcheck", "oslo.middleware.http_proxy_to_wsgi", "oslo.middleware.sizelimit",
]
SERVICES = {
    "keystone": (["keystone"], "keystone"),
    "glance": (["glance.api", "glance.store", "glance.multi_store"], "glance"),
    "placement": (["placement.conf"], "openstack-placement"),
    "nova": (["nova.conf"], "nova"),
    "neutron": ([
        "neutron", "neutron.db", "neutron.agent", "neutron.base.agent", "neutron.extensions", "neutron.ml2",
        "neutron.ml2.ovn", "neutron.qos", "neutron.metadata.agent", "neutron.ovn.metadata.agent", "neutron.ovn.agent",
        "neutron.placement_allocation", "nova.auth", "placement.auth", "ironic.auth", "designate.auth",
    ], "neutron"),
    "cinder": (["cinder"], "cinder"),
    "octavia": (["octavia", "octavia.api.drivers.ovn"], "octavia"),
    "barbican": (["barbican.common.config", "barbican.plugin.crypto", "barbican.plugin.crypto.simple",
                  "barbican.plugin.secret_store", "barbican.plugin.vault", "barbican.plugin.dogtag",
                  "barbican.plugin.crypto.p11", "barbican.certificate.plugin",
                  "barbican.certificate.plugin.snakeoil"], "barbican"),
    "heat": (["heat.common.config", "heat.common.context", "heat.common.crypt", "heat.common.wsgi",
              "heat.engine.clients", "heat.engine.clients.os.keystone.heat_keystoneclient", "heat.engine.notification",
              "heat.engine.resources", "heat.api.middleware.ssl", "heat.api.aws.ec2token"], "openstack-heat"),
    "designate": (["designate.conf"], "designate"),
    "manila": (["manila"], "manila"),
}
# Services whose modules read options while they are imported.
READS_AT_IMPORT = {"glance"}
# Sections that an operator names himself, with the section whose options they take.
NAMED = {"glance": "glance.multi_store", "cinder": "backend_defaults", "manila": "DEFAULT"}


def kind(option):
    t = option.type
    if getattr(option, "multi", False):
        return "m"
    if isinstance(t, types.Port):
        return "p"
    for cls, letter in ((types.Boolean, "b"), (types.Integer, "i"), (types.Float, "f")):
        if isinstance(t, cls):
            low, high = getattr(t, "min", None), getattr(t, "max", None)
            bounds = "" if low is None and high is None else f"{'' if low is None else low}:{'' if high is None else high}"
            choices = "{" + ",".join(str(c) for c in t.choices) + "}" if getattr(t, "choices", None) else ""
            return letter + bounds + choices
    if isinstance(t, types.List):
        return "l"
    if isinstance(t, types.Dict):
        return "d"
    if isinstance(t, types.URI):
        return "u"
    if isinstance(t, (types.HostAddress, types.IPAddress)):
        return "a"
    choices = getattr(t, "choices", None)
    if choices:
        return "s{" + ",".join("" if c is None else str(c) for c in choices) + "}"
    return "s"


def password_options():
    found = {}
    for name in ("v3password", "v3applicationcredential"):
        for option in loading.get_plugin_loader(name).get_options():
            found[option.dest] = "b" if option.type is bool else "s"
    return found


def entry_points():
    found = importlib.metadata.entry_points()
    return {e.name for e in (found.select(group="oslo.config.opts") if hasattr(found, "select") else found["oslo.config.opts"])}


def sections(namespaces):
    found = {}
    for _namespace, listing in generator._list_opts(namespaces):
        for group, options in listing:
            name = "DEFAULT" if group is None else (group.name if isinstance(group, cfg.OptGroup) else group)
            into = found.setdefault(name, {})
            for option in options:
                into[option.dest] = kind(option) + ("!" if option.deprecated_for_removal else "")
    for options in found.values():
        if "auth_type" in options:
            for name, value in password_options().items():
                options.setdefault(name, value)
    return found


def own(service):
    """The sections of one service; each has a process of its own, since services register options globally."""
    have = entry_points()
    namespaces, _package = SERVICES[service]
    missing = [n for n in namespaces if n not in have]
    if missing:
        print(f"{service}: no namespace {', '.join(missing)}", file=sys.stderr)
    if service in READS_AT_IMPORT:
        cfg.CONF([], project=service, default_config_files=[], default_config_dirs=[])
    json.dump(sections([n for n in [*namespaces, *COMMON] if n in have]), sys.stdout)


def main():
    if sys.argv[1] == "--service":
        return own(sys.argv[2])
    result = {"release": sys.argv[1], "packages": {}, "common": {}, "services": {}}
    by_service = {}
    for service in SERVICES:
        package = SERVICES[service][1]
        try:
            result["packages"][package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
        run = subprocess.run([sys.executable, __file__, "--service", service], stdout=subprocess.PIPE, check=True)
        by_service[service] = json.loads(run.stdout)
    # Sections that are the same for most services are written once.
    counts = {}
    for found in by_service.values():
        for section, options in found.items():
            for name, value in options.items():
                counts.setdefault((section, name, value), 0)
                counts[(section, name, value)] += 1
    for (section, name, value), count in counts.items():
        if count == len(by_service):
            result["common"].setdefault(section, {})[name] = value
    for service, found in by_service.items():
        rest_of = {}
        for section, options in found.items():
            rest = {n: v for n, v in options.items() if result["common"].get(section, {}).get(n) != v}
            if rest:
                rest_of[section] = dict(sorted(rest.items()))
        result["services"][service] = {"sections": dict(sorted(rest_of.items()))}
        if service in NAMED and (NAMED[service] in found):
            result["services"][service]["named"] = NAMED[service]
    result["common"] = {s: dict(sorted(o.items())) for s, o in sorted(result["common"].items())}
    print(f"// Written by schemas/generate.py {result['release']}. Do not edit.")
    print(f"export const text = {json.dumps(json.dumps(result, separators=(',', ':')))};")


main()
