import type {
  AddonSet,
  Cluster,
  HostedControlPlane,
  Machine,
  MachineDeployment,
  OpenStackCluster,
  OpenStackMachine,
} from "@causeway/api";
import type { DaemonSet, Deployment, Node, Service } from "@causeway/kubernetes";
import { describe, expect, test } from "vitest";
import { createLines } from "./progress.ts";
import { itemsOf, viewOf, type DemoWorld } from "./view.ts";

const condition = (type: string, status: "True" | "False", reason: string = type, message = "") => ({
  type,
  status,
  reason,
  message,
  lastTransitionTime: "2026-01-01T00:00:00Z",
});
const withConditions = (...conditions: object[]) => ({ status: { conditions } });
const named = (name: string) => ({ metadata: { name, namespace: "default" } });

const machine = (name: string, status: object = {}) =>
  ({ ...named(name), spec: { infrastructureRef: { name } }, status }) as unknown as Machine;
const server = (name: string, status: object) => ({ ...named(name), status }) as unknown as OpenStackMachine;
const node = (name: string, taints: object[] = []) =>
  ({
    ...named(name),
    spec: { taints },
    status: { conditions: [condition("Ready", "True")], addresses: [{ type: "InternalIP", address: "10.6.0.5" }] },
  }) as unknown as Node;

const empty: DemoWorld = {
  now: Date.parse("2026-01-01T00:01:00Z"),
  cluster: undefined,
  infrastructure: undefined,
  controlPlane: undefined,
  deployment: undefined,
  machines: [],
  servers: [],
  nodes: [],
  service: undefined,
  application: undefined,
  addons: undefined,
  proxies: undefined,
};
const whole: DemoWorld = {
  now: empty.now,
  cluster: { ...named("demo"), spec: { controlPlaneEndpoint: { host: "10.0.0.1", port: 6443 } } } as unknown as Cluster,
  infrastructure: {
    ...named("demo"),
    ...withConditions(...["NetworkReady", "RouterReady", "SecurityGroupsReady"].map((t) => condition(t, "True"))),
  } as unknown as OpenStackCluster,
  controlPlane: {
    ...named("demo"),
    ...withConditions(condition("Available", "True")),
  } as unknown as HostedControlPlane,
  deployment: { ...named("demo-workers"), spec: { replicas: 1 } } as unknown as MachineDeployment,
  machines: [machine("a", { nodeRef: { name: "a" } })],
  servers: [server("a", { initialization: { provisioned: true } })],
  nodes: [node("a")],
  service: { ...named("hello"), status: { loadBalancer: { ingress: [{ ip: "172.24.4.9" }] } } } as unknown as Service,
  application: { ...named("hello"), spec: { replicas: 2 }, status: { readyReplicas: 2 } } as unknown as Deployment,
  addons: { ...named("demo"), status: { addons: [{ name: "kube-proxy", digest: "1" }] } } as unknown as AddonSet,
  proxies: { ...named("kube-proxy"), status: { desiredNumberScheduled: 1, numberReady: 1 } } as unknown as DaemonSet,
};
const uninitialized = { key: "node.cloudprovider.kubernetes.io/uninitialized", effect: "NoSchedule" };

describe("the demo is ready", () => {
  test("when all of it is", () => {
    expect(viewOf(whole)).toMatchObject({ ready: true, wanted: 1, address: "172.24.4.9" });
  });

  test("with the application, its pods and its address in one line", () => {
    expect(viewOf(whole).application.detail).toBe("hello, 2 of 2 pods ready, http://172.24.4.9");
  });

  test("without an application that was deleted, or that an older version did not create", () => {
    const { ready, application } = viewOf({ ...whole, application: undefined });
    expect([ready, application.detail]).toEqual([true, "none"]);
  });

  test.each<[string, Partial<DemoWorld>]>([
    [
      "a pod of the application is not ready",
      {
        application: {
          ...named("hello"),
          spec: { replicas: 2 },
          status: { readyReplicas: 1 },
        } as unknown as Deployment,
      },
    ],
    ["nothing is there", empty],
    ["its add-on was deleted", { proxies: undefined }],
    ["its add-on is not applied", { addons: { ...named("demo"), spec: {} } as unknown as AddonSet }],
    ["the load balancer has no address", { service: undefined }],
    ["the network is not ready", { infrastructure: undefined }],
    ["the control plane is not available", { controlPlane: undefined }],
    ["the cluster has no endpoint", { cluster: undefined }],
    ["a node is missing", { nodes: [] }],
    ["a node waits for its cloud controller", { nodes: [node("a", [uninitialized])] }],
    ["a machine is too many", { machines: [...whole.machines, machine("b")] }],
    ["no machines are requested yet", { deployment: undefined }],
  ])("not while %s", (_, changes) => {
    expect(viewOf({ ...whole, ...changes }).ready).toBe(false);
  });
});

test("a cluster without add-ons, as older versions made it, waits for none", () => {
  const { ready, addon } = viewOf({ ...whole, addons: undefined, proxies: undefined });
  expect([ready, addon.detail]).toEqual([true, "none"]);
});

describe("a machine in the demo's view is shown as", () => {
  const waiting = (reason: string, message: string) =>
    withConditions(condition("InstanceReady", "False", reason, message)).status;
  const uuid = "2a0c0e5e-10ee-43ae-9e36-76db0bb76dae";
  test.each<[string, Partial<DemoWorld>]>([
    ["waiting", { servers: [], nodes: [], machines: [machine("a")] }],
    [
      "waiting for the server to be ACTIVE; it is BUILD",
      { nodes: [], servers: [server("a", waiting("X", `Waiting for server a (${uuid}) to be ACTIVE; it is BUILD`))] },
    ],
    ["booting, joining", { nodes: [] }],
    ["joined", { nodes: [{ ...node("a"), status: {} }] }],
    ["joined, being initialised", { nodes: [node("a", [uninitialized])] }],
    ["node Ready, 10.6.0.5", {}],
    // The API omits empty lists.
    ["node Ready, 10.6.0.5", { nodes: [{ ...node("a"), spec: {} }] }],
  ])("%s", (expected, changes) => {
    expect(viewOf({ ...whole, ...changes }).machines[0]?.detail).toBe(expected);
  });

  test("a machine that has not joined for some minutes says what to check, and again only after many more", () => {
    const servers = [
      server("a", {
        ...withConditions(condition("InstanceReady", "True")).status,
        initialization: { provisioned: true },
      }),
    ];
    const after = (minutes: number): string | undefined =>
      viewOf({ ...whole, nodes: [], servers, now: Date.parse("2026-01-01T00:00:00Z") + minutes * 60_000 }).machines[0]
        ?.detail;
    expect(after(2)).toBe("booting, joining");
    expect(after(3)).toBe(
      "booting, joining for over 3 min: read `openstack console log show a`, and see that machines reach https://10.0.0.1:6443",
    );
    expect(after(9)).toBe(after(3));
    expect(after(11)).toContain("over 10 min");
  });

  test("a problem that only a user can fix is shown as a problem", () => {
    const servers = [server("a", waiting("QuotaExceeded", "no cores left"))];
    expect(viewOf({ ...whole, nodes: [], servers }).machines[0]).toMatchObject({
      done: false,
      problem: "no cores left",
    });
  });
});

describe("the plain lines of the demo", () => {
  test("report each change once, and nothing of what has not begun", () => {
    const lines = createLines();
    expect(lines(viewOf(empty))).toEqual([]);
    const first = lines(viewOf({ ...whole, nodes: [], service: undefined }));
    expect(first).toEqual([
      "network: ready",
      "router: ready",
      "security groups: ready",
      "API endpoint: https://10.0.0.1:6443",
      "machine a: booting, joining",
      "add-on: kube-proxy on 1 of 1 node",
    ]);
    expect(lines(viewOf({ ...whole, nodes: [], service: undefined }))).toEqual([]);
    expect(lines(viewOf(whole))).toEqual([
      "machine a: node Ready, 10.6.0.5",
      "load balancer: 172.24.4.9",
      "application: hello, 2 of 2 pods ready, http://172.24.4.9",
    ]);
  });

  test("report that an add-on was deleted, and that it is back", () => {
    const lines = createLines();
    lines(viewOf(whole));
    expect(lines(viewOf({ ...whole, proxies: undefined }))).toEqual(["add-on: kube-proxy was deleted, being restored"]);
    expect(lines(viewOf(whole))).toEqual(["add-on: kube-proxy on 1 of 1 node"]);
  });

  test("report once that a machine is gone", () => {
    const lines = createLines();
    lines(viewOf(whole));
    expect(lines(viewOf({ ...whole, machines: [] }))).toEqual(["machine a: deleted"]);
    expect(lines(viewOf({ ...whole, machines: [] }))).toEqual([]);
  });

  test("have a title for each item", () => {
    const titles = itemsOf(viewOf({ ...whole, machines: [machine("a"), machine("b")] })).map((i) => i.title);
    expect(new Set(titles).size).toBe(titles.length);
  });
});
