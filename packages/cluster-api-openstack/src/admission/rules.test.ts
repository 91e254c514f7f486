import {
  annotations,
  type OpenStackCluster,
  type OpenStackClusterIdentity,
  type OpenStackFloatingIPPool,
  type OpenStackMachine,
} from "@causeway/api";
import type { KubeObject } from "@causeway/kubernetes";
import { expect, test } from "vitest";
import { openStackCluster, openStackMachine } from "../testing/objects.ts";
import { openStackRules } from "./rules.ts";

const rules = openStackRules();

function refusals(after: KubeObject, before?: KubeObject, dryRun = false): Promise<readonly string[]> {
  const operation = before ? "UPDATE" : "CREATE";
  return rules.refusals({ operation, kind: after.kind ?? "", object: after, previous: before, dryRun });
}

type ClusterSpec = Partial<OpenStackCluster["spec"]>;

/** A cluster whose network is there; with an endpoint once it has one. */
function cluster(spec: ClusterSpec): OpenStackCluster {
  const made = openStackCluster(spec);
  made.status = {
    network: { id: "n-1", name: "n", subnets: [{ id: "s-1", name: "s", cidr: "10.0.0.0/24" }] },
    externalNetwork: { id: "x-1", name: "x" },
    apiServerManagedLoadBalancer: { id: "l", name: "l", ip: "172.24.4.9", internalIP: "10.0.0.5" },
  };
  return made;
}

const managed: ClusterSpec = { managedSubnets: [{ cidr: "10.6.0.0/24" }], managedSecurityGroups: {} };
const withEndpoint: ClusterSpec = {
  ...managed,
  apiServer: { managedLoadBalancer: { enabled: true } },
  controlPlaneEndpoint: { host: "172.24.4.9", port: 6443 },
};
const filtered: ClusterSpec = { network: { filter: { name: "lan" } }, subnets: [{ filter: { name: "a" } }] };

test.each<[string, ClusterSpec, ClusterSpec, RegExp | undefined]>([
  [
    "name servers",
    managed,
    { ...managed, managedSubnets: [{ cidr: "10.6.0.0/24", dnsNameservers: ["9.9.9.9"] }] },
    undefined,
  ],
  ["a CIDR", managed, { ...managed, managedSubnets: [{ cidr: "10.7.0.0/24" }] }, /managedSubnets: Forbidden/],
  ["another MTU", managed, { ...managed, managedNetwork: { mtu: 1400 } }, /managedNetwork: Forbidden/],
  ["an empty managedNetwork", managed, { ...managed, managedNetwork: {} }, undefined],
  [
    "addresses of the router",
    managed,
    { ...managed, managedRouter: { externalIPs: [{ subnet: { id: "s" } }] } },
    /managedRouter/,
  ],
  ["tags", managed, { ...managed, tags: ["a"] }, undefined],
  ["rules of groups", managed, { ...managed, managedSecurityGroups: { allowAllInClusterTraffic: true } }, undefined],
  ["no groups any more", managed, { managedSubnets: [{ cidr: "10.6.0.0/24" }] }, /managedSecurityGroups: Forbidden/],
  ["groups later", { managedSubnets: [{ cidr: "10.6.0.0/24" }] }, managed, undefined],
  ["credentials", managed, { ...managed, identityRef: { name: "other", cloudName: "c" } }, undefined],
  [
    "zones",
    managed,
    { ...managed, controlPlaneAvailabilityZones: ["a"], controlPlaneOmitAvailabilityZone: true },
    undefined,
  ],
  ["a filter that becomes its ID", filtered, { ...filtered, network: { id: "n-1" } }, undefined],
  ["a filter that becomes another ID", filtered, { ...filtered, network: { id: "n-2" } }, /network: .*the ID n-1/],
  ["a subnet that becomes its ID", filtered, { ...filtered, subnets: [{ id: "s-1" }] }, undefined],
  ["a subnet that becomes another", filtered, { ...filtered, subnets: [{ id: "s-2" }] }, /subnets\[0\]: Forbidden/],
  [
    "one more subnet",
    filtered,
    { ...filtered, subnets: [{ filter: { name: "a" } }, { id: "s-2" }] },
    /subnets: Forbidden/,
  ],
  ["an external network by its ID", managed, { ...managed, externalNetwork: { id: "x-1" } }, undefined],
  ["another external network", managed, { ...managed, externalNetwork: { id: "x-2" } }, /externalNetwork: Forbidden/],
  ["an endpoint", managed, { ...managed, controlPlaneEndpoint: { host: "a", port: 1 } }, undefined],
  [
    "another endpoint",
    withEndpoint,
    { ...withEndpoint, controlPlaneEndpoint: { host: "a", port: 1 } },
    /controlPlaneEndpoint: Forbidden/,
  ],
  [
    "allowed CIDRs",
    withEndpoint,
    { ...withEndpoint, apiServer: { managedLoadBalancer: { enabled: true, allowedCIDRs: ["::/0"] } } },
    undefined,
  ],
  [
    "another provider",
    withEndpoint,
    { ...withEndpoint, apiServer: { managedLoadBalancer: { enabled: true, provider: "ovn" } } },
    /managedLoadBalancer: Forbidden/,
  ],
  [
    "the floating IP that it has",
    withEndpoint,
    { ...withEndpoint, apiServer: { ...withEndpoint.apiServer, floatingIP: "172.24.4.9" } },
    undefined,
  ],
  [
    "another floating IP",
    withEndpoint,
    { ...withEndpoint, apiServer: { ...withEndpoint.apiServer, floatingIP: "172.24.4.8" } },
    /floatingIP: Forbidden/,
  ],
  [
    "no floating IP",
    withEndpoint,
    { ...withEndpoint, apiServer: { ...withEndpoint.apiServer, enableFloatingIP: false } },
    /enableFloatingIP: Forbidden/,
  ],
  ["a bastion", managed, { ...managed, bastion: { enabled: true, spec: openStackMachine().spec } }, undefined],
])("an OpenStackCluster is refused or permitted %s", async (_name, before, after, expected) => {
  const problems = (await refusals(cluster(after), cluster(before))).join("; ");
  if (expected) expect(problems).toMatch(expected);
  else expect(problems).toBe("");
});

test("an OpenStackCluster without a network yet may get another one", async () => {
  expect(
    await refusals(openStackCluster({ network: { id: "b" } }), openStackCluster({ network: { id: "a" } })),
  ).toEqual([]);
});

test.each<[string, ClusterSpec, RegExp | undefined]>([
  ["without an external network", { enableExternalNetwork: false, apiServer: { enableFloatingIP: false } }, undefined],
  ["with a floating IP of no network", { enableExternalNetwork: false }, /enableFloatingIP: Invalid value/],
  [
    "with a bastion's floating IP of no network",
    {
      enableExternalNetwork: false,
      apiServer: { enableFloatingIP: false },
      bastion: { enabled: false, floatingIP: "172.24.4.9" },
    },
    /bastion\.floatingIP: Forbidden/,
  ],
  ["with a bastion of no spec", { bastion: { enabled: true } }, /bastion\.spec: Required/],
  ["with a disabled bastion of no spec", { bastion: { enabled: false } }, undefined],
])("an OpenStackCluster is refused or accepted %s", async (_name, spec, expected) => {
  const problems = (await refusals(openStackCluster(spec))).join("; ");
  if (expected) expect(problems).toMatch(expected);
  else expect(problems).toBe("");
});

type MachineSpec = Partial<OpenStackMachine["spec"]>;

const machineRows: [string, MachineSpec, MachineSpec, RegExp | undefined][] = [
  [
    "tags, metadata and groups",
    {},
    { tags: ["a"], serverMetadata: [{ key: "a", value: "b" }], securityGroups: [{ id: "g" }] },
    undefined,
  ],
  ["address pairs", { ports: [{}] }, { ports: [{ allowedAddressPairs: [{ ipAddress: "10.0.0.1" }] }] }, undefined],
  [
    "another port",
    { ports: [{}] },
    { ports: [{}, { nameSuffix: "b" }] },
    /spec\.ports: Forbidden: only securityGroups/,
  ],
  ["another network of a port", { ports: [{}] }, { ports: [{ network: { id: "n" } }] }, /spec\.ports: Forbidden/],
  ["another flavor", {}, { flavor: { id: "9" } }, /spec\.flavor: Forbidden: the server was made/],
  ["a root volume", {}, { rootVolume: { sizeGiB: 1 } }, /spec\.rootVolume: Forbidden/],
  [
    "a trunk and its subports",
    { ports: [{}] },
    { ports: [{ trunk: true, subports: [{ segmentationID: 1 }] }] },
    undefined,
  ],
  ["trunks of all ports", {}, { trunk: true }, undefined],
  ["credentials", {}, { identityRef: { name: "a", cloudName: "b" } }, undefined],
];
test.each(machineRows)(
  "an OpenStackMachine with a server is refused or permitted %s",
  async (_name, before, after, expected) => {
    const providerID = "openstack:///1";
    const problems = (
      await refusals(openStackMachine({ ...after, providerID }), openStackMachine({ ...before, providerID }))
    ).join("; ");
    if (expected) expect(problems).toMatch(expected);
    else expect(problems).toBe("");
  },
);

test("an OpenStackMachine gets a providerID once, and a flavor while it has no server", async () => {
  const made = openStackMachine({ providerID: "openstack:///1" });
  expect(await refusals(made, openStackMachine())).toEqual([]);
  expect(await refusals(openStackMachine({ providerID: "openstack:///2" }), made)).toEqual([
    expect.stringMatching(/providerID: Forbidden/),
  ]);
  expect(await refusals(openStackMachine(), made)).toEqual([expect.stringMatching(/providerID: Forbidden/)]);
  expect(await refusals(openStackMachine({ flavor: { id: "9" } }), openStackMachine())).toEqual([]);
  const known = { ...openStackMachine(), status: { instanceID: "1" } };
  expect(await refusals(openStackMachine({ flavor: { id: "9" } }), known)).toEqual([
    expect.stringMatching(/flavor: Forbidden/),
  ]);
});

test.each<[string, MachineSpec, RegExp]>([
  [
    "a disk named root",
    { additionalBlockDevices: [{ name: "root", sizeGiB: 1, storage: { type: "Local" } }] },
    /root volume/,
  ],
  [
    "groups without port security",
    { ports: [{ enablePortSecurity: false, securityGroups: [{ id: "g" }] }] },
    /enablePortSecurity is false/,
  ],
  [
    "one VLAN twice",
    { ports: [{ trunk: true, subports: [{ segmentationID: 1 }, { segmentationID: 1 }] }] },
    /one segmentationID/,
  ],
])("an OpenStackMachine with %s is refused", async (_name, spec, expected) => {
  expect((await refusals(openStackMachine(spec)))[0]).toMatch(expected);
});

const template = (spec: MachineSpec, notes: Record<string, string> = {}): KubeObject =>
  ({
    apiVersion: "infrastructure.cluster.x-k8s.io/v1beta2",
    kind: "OpenStackMachineTemplate",
    metadata: { name: "t", annotations: notes },
    spec: { template: { spec: openStackMachine(spec).spec } },
  }) as KubeObject;

test("an OpenStackMachineTemplate changes its address pairs only, or in the dry run of a topology", async () => {
  const pairs = { ports: [{ allowedAddressPairs: [{ ipAddress: "10.0.0.1" }] }] };
  expect(await refusals(template(pairs), template({ ports: [{}] }))).toEqual([]);
  const flavor = { flavor: { id: "9" } };
  expect(await refusals(template(flavor), template({}))).toEqual([
    expect.stringMatching(/immutable; create another template/),
  ]);
  const compared = template(flavor, { [annotations.topologyDryRun]: "" });
  expect(await refusals(compared, template({}), true)).toEqual([]);
  expect(await refusals(compared, template({}))).toHaveLength(1);
  expect(await refusals(template({ providerID: "openstack:///1" }))).toEqual([
    expect.stringMatching(/providerID: Forbidden/),
  ]);
});

test("an OpenStackClusterTemplate is immutable, and an OpenStackServer follows what a machine follows", async () => {
  const of = (spec: ClusterSpec): KubeObject =>
    ({
      apiVersion: "infrastructure.cluster.x-k8s.io/v1beta2",
      kind: "OpenStackClusterTemplate",
      metadata: { name: "t" },
      spec: { template: { spec: openStackCluster(spec).spec } },
    }) as KubeObject;
  expect(await refusals(of(managed), of({}))).toEqual([expect.stringMatching(/immutable/)]);
  expect(await refusals(of(managed), of(managed))).toEqual([]);
  const server = (spec: object): KubeObject =>
    ({
      apiVersion: "infrastructure.cluster.x-k8s.io/v1alpha1",
      kind: "OpenStackServer",
      metadata: { name: "s" },
      spec,
      status: { instanceID: "1" },
    }) as KubeObject;
  expect(await refusals(server({ tags: ["a"], ports: [] }), server({ ports: [] }))).toEqual([]);
  expect(await refusals(server({ flavor: "b", ports: [] }), server({ flavor: "a", ports: [] }))).toEqual([
    expect.stringMatching(/flavor/),
  ]);
});

type PoolSpec = Partial<OpenStackFloatingIPPool["spec"]>;

function pool(spec: PoolSpec, networkId?: string): OpenStackFloatingIPPool {
  const status = networkId === undefined ? {} : { status: { floatingIPNetwork: { id: networkId, name: "public" } } };
  return {
    apiVersion: "infrastructure.cluster.x-k8s.io/v1alpha1",
    kind: "OpenStackFloatingIPPool",
    metadata: { name: "p", namespace: "default" },
    spec: { identityRef: { name: "a", cloudName: "b" }, reclaimPolicy: "Delete", ...spec },
    ...status,
  };
}

test.each<[string, PoolSpec, RegExp | undefined]>([
  ["a maximum below 0", { maxIPs: -1 }, /maxIPs: Invalid value/],
  ["a maximum of 0 and addresses", { maxIPs: 0, preAllocatedFloatingIPs: ["172.24.4.9", "172.24.4.10"] }, undefined],
  ["an address that is none", { preAllocatedFloatingIPs: ["172.24.4.999"] }, /\[0\]: Invalid value: "172\.24\.4\.999"/],
  ["an address twice", { preAllocatedFloatingIPs: ["172.24.4.9", "172.24.4.9"] }, /\[1\]: Duplicate value/],
])("an OpenStackFloatingIPPool is refused or accepted with %s", async (_name, spec, expected) => {
  const problems = (await refusals(pool(spec))).join("; ");
  if (expected) expect(problems).toMatch(expected);
  else expect(problems).toBe("");
});

const named = { floatingIPNetwork: { filter: { name: "public" } } };
test.each<[string, PoolSpec, PoolSpec, RegExp | undefined]>([
  ["another maximum, policy and addresses", named, { ...named, maxIPs: 9, reclaimPolicy: "Retain" }, undefined],
  ["the ID of its network", named, { floatingIPNetwork: { id: "net-1" } }, undefined],
  ["the ID of its network, which it found alone", {}, { floatingIPNetwork: { id: "net-1" } }, undefined],
  ["another network", named, { floatingIPNetwork: { id: "net-2" } }, /may only become the ID net-1/],
  ["no network any more", named, {}, /floatingIPNetwork: Forbidden/],
])("an OpenStackFloatingIPPool with addresses is refused or permitted %s", async (_name, before, after, expected) => {
  const problems = (await refusals(pool(after, "net-1"), pool(before, "net-1"))).join("; ");
  if (expected) expect(problems).toMatch(expected);
  else expect(problems).toBe("");
});

test("an OpenStackFloatingIPPool that has found no network yet may get another one, and one that is deleted is not judged", async () => {
  expect(await refusals(pool({ floatingIPNetwork: { id: "net-2" } }), pool(named))).toEqual([]);
  const gone = pool({ maxIPs: -1 });
  gone.metadata.deletionTimestamp = "2026-01-01T00:00:00Z";
  expect(await refusals(gone, pool({}))).toEqual([]);
});

test("an OpenStackFloatingIPPool of many addresses is refused in a few words, and its addresses are compared once", async () => {
  const addresses = (count: number) => Array.from({ length: count }, (_, at) => `10.0.${at >> 8}.${at & 255}`);
  expect(await refusals(pool({ preAllocatedFloatingIPs: addresses(1024) }))).toEqual([]);
  expect(await refusals(pool({ preAllocatedFloatingIPs: addresses(1025) }))).toEqual([
    "spec.preAllocatedFloatingIPs: Too many: 1025: must have at most 1024 items",
  ]);
  const long = await refusals(pool({ preAllocatedFloatingIPs: Array.from({ length: 12 }, () => "x".repeat(5_000)) }));
  expect(long).toHaveLength(11);
  expect(long.at(-1)).toBe("and 13 more");
  expect(Math.max(...long.map(({ length }) => length))).toBeLessThan(150);
});

test("an OpenStackClusterIdentity that is being deleted is not judged, and long keys are cut in messages", async () => {
  const made = (metadata: object): OpenStackClusterIdentity => ({
    ...identity({ matchLabels: { [`${"a".repeat(5_000)}!`]: "b" } }),
    metadata: { name: "shared", ...metadata },
  });
  const [problem] = await refusals(made({}));
  expect(problem?.length).toBeLessThan(200);
  expect(await refusals(made({ deletionTimestamp: "2026-01-01T00:00:00Z" }), made({}))).toEqual([]);
});

type Selector = NonNullable<OpenStackClusterIdentity["spec"]["namespaceSelector"]>;

test.each<[string, Selector | undefined, RegExp | undefined]>([
  ["no selector", undefined, undefined],
  ["labels", { matchLabels: { "example.com/team": "a", env: "" } }, undefined],
  [
    "every operator",
    {
      matchExpressions: [
        expression("In", "a"),
        expression("NotIn", "b"),
        expression("Exists"),
        expression("DoesNotExist"),
      ],
    },
    undefined,
  ],
  [
    "an unknown operator",
    { matchExpressions: [expression("Equals", "a")] },
    /operator: Invalid value: "Equals" is none of In/,
  ],
  ["an operator without the values that it needs", { matchExpressions: [expression("In")] }, /values: Required value/],
  [
    "an operator with values that it does not have",
    { matchExpressions: [expression("Exists", "a")] },
    /values: Forbidden/,
  ],
  ["a key that is none", { matchLabels: { "a/b/c": "" } }, /matchLabels: Invalid value: "a\/b\/c"/],
  ["a value that is none", { matchExpressions: [expression("In", "a b")] }, /values: Invalid value: "a b"/],
])("an OpenStackClusterIdentity is refused or accepted with %s", async (_name, namespaceSelector, expected) => {
  const problems = (await refusals(identity(namespaceSelector))).join("; ");
  if (expected) expect(problems).toMatch(expected);
  else expect(problems).toBe("");
});

function expression(operator: string, ...values: string[]) {
  return { key: "team", operator, ...(values.length > 0 ? { values } : {}) };
}

function identity(namespaceSelector?: Selector): OpenStackClusterIdentity {
  return {
    apiVersion: "infrastructure.cluster.x-k8s.io/v1alpha1",
    kind: "OpenStackClusterIdentity",
    metadata: { name: "shared", namespace: "" },
    spec: { secretRef: { name: "s", namespace: "n" }, ...(namespaceSelector ? { namespaceSelector } : {}) },
  };
}

test("an OpenStackClusterIdentity in use is not deleted, and the refusal names five of its users", async () => {
  const users = Array.from({ length: 7 }, (_, at) => `OpenStackCluster default/c-${at}`);
  const of = (name: string) => openStackRules((asked) => Promise.resolve(asked === name ? users : []));
  const deletion = { operation: "DELETE", kind: "OpenStackClusterIdentity", object: undefined, dryRun: false } as const;
  const [refusal] = await of("shared").refusals({ ...deletion, previous: identity() });
  expect(refusal).toMatch(/^it is used by OpenStackCluster default\/c-0, .*c-4 and at least 2 more; delete them first/);
  expect(await of("other").refusals({ ...deletion, previous: identity() })).toEqual([]);
});
