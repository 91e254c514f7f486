import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { CausewayError } from "@causeway/foundation";
import { cloudConfKeys } from "@causeway/openstack";
import { defaultCloudConfig } from "./config.ts";
import { parseDuration } from "./duration.ts";
import { parseControllerConfig } from "./parse.ts";
import { settings } from "./settings.ts";

const read = (text: string, env = {}) => parseControllerConfig(text, env).config;
const warnings = (text: string) => parseControllerConfig(text, {}).warnings;

describe("cloud.conf", () => {
  test("an empty file, and one with [Global] only, give the defaults", () => {
    expect(read("")).toEqual(defaultCloudConfig());
    expect(parseControllerConfig("[Global]\nauth-url = http://x\npassword = secret\n", {})).toEqual({
      config: defaultCloudConfig(),
      warnings: [],
    });
  });

  test("every key of [LoadBalancer] is read", () => {
    const { config, warnings: none } = parseControllerConfig(
      `[LoadBalancer]
enabled = false
lb-version = v2
subnet-id = s
member-subnet-id = m
network-id = n
floating-network-id = fn
floating-subnet-id = fs
floating-subnet = pub*
floating-subnet-tags = &a,b
lb-method = LEAST_CONNECTIONS
lb-provider = ovn
create-monitor = true
monitor-delay = 1m30s
monitor-timeout = 2500ms
monitor-max-retries = 4
monitor-max-retries-down = 6
manage-security-groups = yes
internal-lb = true
node-selector = "pool=lb,ssd"
cascade-delete = false
flavor-id = fl
availability-zone = az1
enable-ingress-hostname = true
ingress-hostname-suffix = sslip.io
max-shared-lb = 7
container-store = external
default-tls-container-ref = http://barbican/1
provider-requires-serial-api-calls = on
follow-nodes = yes
`,
      {},
    );
    expect(none).toEqual([]);
    expect(config.loadBalancer).toEqual({
      enabled: false,
      subnetId: "s",
      memberSubnetId: "m",
      networkId: "n",
      floatingNetworkId: "fn",
      floatingSubnetId: "fs",
      floatingSubnet: "pub*",
      floatingSubnetTags: "&a,b",
      method: "LEAST_CONNECTIONS",
      provider: "ovn",
      createMonitor: true,
      monitor: { delay: 90, timeout: 2, maxRetries: 4, maxRetriesDown: 6 },
      manageSecurityGroups: true,
      internal: true,
      nodeSelector: "pool=lb,ssd",
      cascadeDelete: false,
      flavorId: "fl",
      availabilityZone: "az1",
      enableIngressHostname: true,
      ingressHostnameSuffix: "sslip.io",
      maxSharedLoadBalancers: 7,
      containerStore: "external",
      defaultTlsContainerRef: "http://barbican/1",
      serialApiCalls: true,
      followNodes: true,
      classes: new Map(),
    });
  });

  test("classes, networks, routes and metadata are read", () => {
    const config = read(
      `[LoadBalancerClass "Fast"]
floating-network-id = a
subnet-id = b
[networking]
IPv6-Support-Disabled
public-network-name = net-a
public-network-name = net-b
internal-network-name = net-c
address-sort-order = "192.168.0.0/16, 10.0.0.0/8"
[Route]
router-id = r
[Metadata]
search-order = metadataService
request-timeout = 5s
`,
      { OS_CCM_REGIONAL: "true" },
    );
    expect(config.loadBalancer.classes.get("Fast")).toEqual({ floatingNetworkId: "a", subnetId: "b" });
    expect(config.networking).toEqual({
      ipv6Disabled: true,
      publicNetworks: ["net-a", "net-b"],
      internalNetworks: ["net-c"],
      addressSortOrder: ["192.168.0.0/16", "10.0.0.0/8"],
    });
    expect(config.routerId).toBe("r");
    expect(config.metadata).toEqual({ searchOrder: ["metadataService"], requestTimeout: 5_000 });
    expect(config.regional).toBe(true);
  });

  test.each([
    [
      "a key that is nearly one",
      "[LoadBalancer]\nsubnetid = x",
      'key subnetid of [loadbalancer] is not known; is "subnet-id" meant?',
    ],
    ["a key like no other", "[LoadBalancer]\nquux = x", "key quux of [loadbalancer] is not known"],
    [
      "a section that is nearly one",
      "[LoadBalancr]\na = x",
      'section [loadbalancr] is not known; is "loadbalancer" meant?',
    ],
    [
      "a sort order that is not a CIDR",
      "[Networking]\naddress-sort-order = lan, 10.0.0.0/8",
      "address-sort-order has values that are not CIDRs: lan",
    ],
    [
      "an unknown provider",
      "[LoadBalancer]\nlb-provider = acme",
      'lb-provider "acme" is not known here; it is treated like amphora',
    ],
    [
      "a class without a name",
      "[LoadBalancerClass]\nsubnet-id = x",
      '[LoadBalancerClass] needs a name: [LoadBalancerClass "NAME"]',
    ],
  ])("%s is a warning", (_what, text, warning) => {
    expect(warnings(text)).toEqual([warning]);
  });

  test("every key of [Global] that the SDK reads is known, and no other", () => {
    expect(Object.keys(settings["Global"] ?? {}).toSorted()).toEqual(cloudConfKeys.toSorted());
  });

  test("the old [BlockStorage] and use-octavia are let pass", () => {
    expect(warnings("[BlockStorage]\nbs-version = v2\n[LoadBalancer]\nuse-octavia = true")).toEqual([]);
  });

  test.each([
    ["a duration without a unit", "[LoadBalancer]\nmonitor-delay = 5"],
    ["a count that is none", "[LoadBalancer]\nmax-shared-lb = many"],
    ["another load balancing version", "[LoadBalancer]\nlb-version = v1"],
    ["an unknown metadata source", "[Metadata]\nsearch-order = dhcp"],
    ["too many metadata sources", "[Metadata]\nsearch-order = configDrive,configDrive,metadataService"],
  ])("%s is refused", (_what, text) => {
    expect(() => read(text)).toThrow(expect.objectContaining({ code: "CLOUD_CONF_INVALID" }));
  });

  test("whatever the file holds, the answer is a configuration or an error with a code", () => {
    const keys = fc.constantFrom("monitor-delay", "subnet-id", "enabled", "lb-method", "search-order", "x");
    const sections = fc.constantFrom("[LoadBalancer]", "[Metadata]", '[LoadBalancerClass "a"]', "[Global]", "[x]");
    const line = fc.oneof(
      sections,
      fc.tuple(keys, fc.string()).map(([key, value]) => `${key} = ${value}`),
    );
    fc.assert(
      fc.property(fc.array(line), (lines) => {
        try {
          read(lines.join("\n"));
        } catch (error) {
          expect(error).toBeInstanceOf(CausewayError);
        }
      }),
    );
  });
});

describe("a Go duration", () => {
  test.each([
    ["5s", 5_000],
    ["1m30s", 90_000],
    ["1.5h", 5_400_000],
    ["250ms", 250],
    ["0", 0],
    ["-2s", -2_000],
    ["5", undefined],
    ["s", undefined],
    ["", undefined],
    ["5s5", undefined],
    ["5 s", undefined],
  ])("%j is %j milliseconds", (text, expected) => {
    expect(parseDuration(text)).toBe(expected);
  });

  test("of hours, minutes and seconds is their sum", () => {
    const small = fc.integer({ min: 0, max: 1_000 });
    fc.assert(
      fc.property(small, small, small, (h, m, s) => {
        expect(parseDuration(`${h}h${m}m${s}s`)).toBe(((h * 60 + m) * 60 + s) * 1_000);
      }),
    );
  });
});
