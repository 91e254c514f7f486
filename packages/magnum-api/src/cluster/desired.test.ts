import { createHash } from "node:crypto";
import {
  annotations,
  type HostedControlPlane,
  type MachineDeployment,
  type MagnumCluster,
  type OpenStackCluster,
} from "@causeway/api";
import { canonicalJson } from "@causeway/foundation";
import { expect, test } from "vitest";
import { desiredManifests, nothingStands } from "./desired.ts";
import { refusedLabel } from "./labels.ts";
import { appliedAnnotation, kubeProxyLabel, migratingAnnotation } from "./names.ts";

const clusterOf = (spec: object): MagnumCluster =>
  ({
    apiVersion: "magnum.causeway.dev/v1alpha1",
    kind: "MagnumCluster",
    metadata: { name: "web", namespace: "magnum-p", uid: "u" },
    spec: {
      uuid: "6e8ae3a5-0b4c-4f0e-9d26-000000000001",
      name: "web",
      projectID: "p",
      userID: "u",
      template: { coe: "kubernetes", imageID: "cirros" },
      version: "v1.34.0",
      createTimeout: 60,
      labels: {},
      nodeGroups: [],
      ...spec,
    },
  }) as unknown as MagnumCluster;

test.each([
  ["Pods", 7443],
  ["Process", undefined],
  ["Embedded", undefined],
])("with runtime %s the port of a template is %s: others listen on the operator's host", (runtime, expected) => {
  const object = clusterOf({ template: { coe: "kubernetes", imageID: "cirros", apiserverPort: 7_443 } });
  const controlPlane = { spec: {}, status: { runtime } } as HostedControlPlane;
  const manifests = desiredManifests(object, { authUrl: "http://keystone" }, { ...nothingStands, controlPlane });
  const found = manifests.map(({ object: one }) => one).find(({ kind }) => kind === "HostedControlPlane");
  expect((found as HostedControlPlane).spec.endpoint?.port).toBe(expected);
});

test("new nodes are marked for kube-proxy where those of the Heat driver have one of their own, also after them", () => {
  const nodeGroups = [
    {
      uuid: "6e8ae3a5-0b4c-4f0e-9d26-0000000000b2",
      name: "default-worker",
      role: "worker",
      isDefault: true,
      imageID: "cirros",
      nodeCount: 1,
      minNodeCount: 0,
      version: "v1.34.0",
      createdAt: "2026-11-01T12:00:00Z",
    },
  ];
  const poolsOf = (addons: string, annotations: Record<string, string> = {}) => {
    const row = clusterOf({ nodeGroups, addons });
    const object = { ...row, metadata: { ...row.metadata, annotations } };
    return JSON.stringify(
      desiredManifests(object, { authUrl: "http://k" }, nothingStands).filter((one) => one.object.kind !== "AddonSet"),
    );
  };
  expect(poolsOf("KubeProxy")).toContain(`${kubeProxyLabel}=true`);
  expect(poolsOf("Own")).not.toContain(kubeProxyLabel);
  // What changed here would replace all nodes once more.
  expect(poolsOf("KubeProxy", { [migratingAnnotation]: "roll Done x" })).toBe(poolsOf("KubeProxy"));
});

test("a role that is no value of a label is not passed on to kubelets", () => {
  const group = (role: string) => ({
    uuid: "6e8ae3a5-0b4c-4f0e-9d26-0000000000b2",
    name: "extra",
    role,
    isDefault: false,
    imageID: "cirros",
    nodeCount: 1,
    minNodeCount: 0,
    version: "v1.34.0",
    createdAt: "2026-11-01T12:00:00Z",
  });
  const textOf = (role: string) =>
    JSON.stringify(desiredManifests(clusterOf({ nodeGroups: [group(role)] }), { authUrl: "http://k" }, nothingStands));
  expect(textOf("db")).toContain("role=db");
  const hostile = textOf("x --pod-manifest-path=/etc/evil");
  expect(hostile).not.toContain("pod-manifest-path");
  expect(hostile).toContain("nodegroup=extra");
});

test("taints of a row from before they were checked become those that a MachineDeployment accepts", () => {
  const nodeTaints = [
    { key: "dedicated", value: "", effect: "NoSchedule" },
    { key: "dedicated", value: "db", effect: "NoSchedule" },
    { key: "dedicated", value: "db", effect: "NoExecute" },
  ];
  const group = {
    uuid: "6e8ae3a5-0b4c-4f0e-9d26-0000000000b2",
    name: "extra",
    role: "worker",
    isDefault: false,
    imageID: "cirros",
    nodeCount: 1,
    minNodeCount: 0,
    version: "v1.34.0",
    createdAt: "2026-11-01T12:00:00Z",
    nodeTaints,
  };
  const manifests = desiredManifests(clusterOf({ nodeGroups: [group] }), { authUrl: "http://k" }, nothingStands);
  const pool = manifests.map(({ object }) => object).find(({ kind }) => kind === "MachineDeployment");
  expect((pool as MachineDeployment).spec.template.spec.taints).toEqual([
    { key: "dedicated", effect: "NoSchedule", propagation: "Always" },
    { key: "dedicated", value: "db", effect: "NoExecute", propagation: "Always" },
  ]);
});

test("access lists of both labels have at most 50 networks together", () => {
  const networks = (count: number, first: number) =>
    Array.from({ length: count }, (_, i) => `10.${first}.${i}.0/24`).join(",");
  const refused = (count: number) =>
    refusedLabel(
      { master_lb_allowed_cidrs: networks(25, 1), api_master_lb_allowed_cidrs: networks(count, 2) },
      { accessLists: true },
    );
  expect(refused(25)).toBeUndefined();
  expect(refused(26)).toContain("more than 50 networks");
});

test.each([
  [{}, undefined, undefined],
  [{ cinder_csi_enabled: "true", ingress_controller: "" }, undefined, undefined],
  [{ cinder_csi_enabled: "False", ingress_controller: "nginx" }, "none", undefined],
  [{ ingress_controller: "octavia" }, undefined, "octavia"],
])("with labels %j the Cluster says of its volumes: %s, and of Ingresses: %s", (labels, volumes, ingress) => {
  const manifests = desiredManifests(clusterOf({ labels }), { authUrl: "http://k" }, nothingStands);
  const found = manifests.map(({ object }) => object).find(({ kind }) => kind === "Cluster");
  const { [annotations.volumes]: ofVolumes, [annotations.ingress]: ofIngresses } = found?.metadata.annotations ?? {};
  expect([ofVolumes, ofIngresses]).toEqual([volumes, ingress]);
});

const balancers = {
  octavia_provider: "ovn",
  octavia_lb_algorithm: "SOURCE_IP_PORT",
  octavia_lb_healthcheck: "false",
};

test.each([
  [{}, undefined, [undefined, undefined, undefined]],
  [{}, true, [undefined, undefined, "true"]],
  [balancers, undefined, ["ovn", "SOURCE_IP_PORT", "false"]],
  [balancers, true, ["ovn", "SOURCE_IP_PORT", "false"]],
  [{ octavia_provider: "", octavia_lb_healthcheck: "True" }, undefined, [undefined, undefined, "true"]],
])(
  "with labels %j and driverDefaults %s the Cluster says of its load balancers: %j",
  (labels, driverDefaults, said) => {
    const row = clusterOf({ labels, driverDefaults });
    const manifests = desiredManifests(row, { authUrl: "http://k" }, nothingStands);
    const found = manifests.map(({ object }) => object).find(({ kind }) => kind === "Cluster");
    const { loadBalancerProvider, loadBalancerMethod, loadBalancerMonitor } = annotations;
    const names = [loadBalancerProvider, loadBalancerMethod, loadBalancerMonitor];
    expect(names.map((name) => found?.metadata.annotations?.[name])).toEqual(said);
  },
);

test.each([
  [{ octavia_provider: "two words" }, "octavia_provider"],
  [{ octavia_lb_algorithm: "RANDOM" }, "octavia_lb_algorithm"],
  [{ octavia_lb_healthcheck: "maybe" }, "octavia_lb_healthcheck"],
])("labels %j are refused by name", (labels, name) => {
  expect(refusedLabel(labels as Record<string, string>)).toContain(`label ${name} is refused`);
  expect(refusedLabel(balancers)).toBeUndefined();
});

test("nodes accept the control plane at their kubelets from the networks of a row, and from none without them", () => {
  const rulesOf = (spec: object) => {
    const manifests = desiredManifests(clusterOf(spec), { authUrl: "http://k" }, nothingStands);
    const found = manifests.map(({ object }) => object).find(({ kind }) => kind === "OpenStackCluster");
    return (found as OpenStackCluster).spec.managedSecurityGroups;
  };
  expect(rulesOf({})).toEqual({ allowAllInClusterTraffic: true });
  const rule = { direction: "ingress", protocol: "tcp", portRangeMin: 10250, portRangeMax: 10250 };
  expect(rulesOf({ kubeletSources: ["192.0.2.10/32", "2001:db8::/64", "nonsense"] })).toMatchObject({
    workerNodesSecurityGroupRules: [
      { ...rule, etherType: "IPv4", remoteIPPrefix: "192.0.2.10/32" },
      { ...rule, etherType: "IPv6", remoteIPPrefix: "2001:db8::/64" },
    ],
  });
});

test("a Cluster has its controller's finalizer from the first write on, which its digest leaves out", () => {
  const manifests = desiredManifests(clusterOf({}), { authUrl: "http://keystone" }, nothingStands);
  const held = manifests.filter(({ object }) => object.metadata.finalizers !== undefined);
  expect(held.map(({ object: { kind, metadata } }) => [kind, metadata.finalizers])).toEqual([
    ["Cluster", ["cluster.cluster.x-k8s.io"]],
  ]);
  const { apiVersion, kind, metadata, ...rest } = held[0]?.object ?? {};
  const { finalizers: _, annotations: { [appliedAnnotation]: digest, ...given } = {}, ...other } = metadata ?? {};
  const annotations = Object.keys(given).length === 0 ? {} : { annotations: given };
  const before = canonicalJson({ apiVersion, kind, metadata: { ...other, ...annotations }, ...rest });
  expect(digest).toBe(createHash("sha256").update(before).digest("hex").slice(0, 32));
});
