import { describe, expect, test } from "vitest";
import type { KubeadmControlPlane, Machine } from "@causeway/api";
import { getCondition } from "@causeway/kubernetes";
import type { EtcdMember } from "../objects/access.ts";
import { at, cluster, condition, now } from "../testing/objects.ts";
import type { ControlPlaneFacts, OwnedMachine, WorkloadFacts } from "./facts.ts";
import { cleanupHook, configSpec, healthConditions, inPlaceSpec, machineLabels } from "./machine.ts";
import { planControlPlane } from "./plan.ts";
import { survivesReplacing, survivesWithout } from "./quorum.ts";

const day = 24 * 3600_000;
const reference = { apiGroup: "infrastructure.cluster.x-k8s.io", kind: "OpenStackMachineTemplate", name: "control" };
const kind = (name: string) =>
  ({ group: reference.apiGroup, version: "v1beta2", kind: name, plural: name.toLowerCase() }) as never;
const owner = { apiVersion: "cluster.x-k8s.io/v1beta2", kind: "Cluster", name: "demo", uid: "uid-demo" };
const clusterLabels = { "cluster.x-k8s.io/cluster-name": "demo" };

interface Given {
  readonly spec?: Partial<KubeadmControlPlane["spec"]>;
  readonly metadata?: object;
  readonly initialized?: boolean;
}
const control = ({ spec = {}, metadata = {}, initialized = true }: Given = {}): KubeadmControlPlane => ({
  apiVersion: "controlplane.cluster.x-k8s.io/v1beta2",
  kind: "KubeadmControlPlane",
  metadata: {
    name: "control",
    namespace: "default",
    uid: "uid-control",
    generation: 1,
    finalizers: ["kubeadm.controlplane.cluster.x-k8s.io"],
    ownerReferences: [owner],
    ...metadata,
  },
  spec: { replicas: 3, version: "v1.34.0", machineTemplate: { spec: { infrastructureRef: reference } }, ...spec },
  status: { initialization: { controlPlaneInitialized: initialized } },
});
const demo = cluster({
  spec: { controlPlaneEndpoint: { host: "10.0.0.5", port: 6443 } },
  status: { initialization: { infrastructureProvisioned: true } },
});

interface MachineGiven {
  readonly version?: string;
  readonly template?: string;
  readonly domain?: string;
  readonly born?: number;
  readonly annotations?: Record<string, string>;
  readonly deleting?: string;
  readonly failed?: boolean;
  readonly unhealthy?: boolean;
  readonly noNode?: boolean;
  readonly noMember?: boolean;
  readonly outdated?: string;
}
const member = (name: string, fields: Partial<EtcdMember> = {}): EtcdMember => ({
  id: `id-${name}`,
  name,
  isLearner: false,
  isLeader: name === "a",
  ...fields,
});

/** A machine as its control plane wants it, with everything reported; `given` says what is otherwise. */
function owned(name: string, given: MachineGiven = {}): OwnedMachine {
  const base = control();
  const leftEtcd = {
    ...condition("EtcdMemberHealthy", "False"),
    reason: "NotHealthy",
    message: `Etcd doesn't have a member for Node ${name}`,
  };
  const healthy = healthConditions.map((type) => ({
    ...condition(type, given.unhealthy ? "False" : "True"),
    reason: type === "EtcdMemberHealthy" ? "Healthy" : "Running",
    message: "",
  }));
  const health = given.noMember ? [...healthy.slice(0, -1), leftEtcd] : healthy;
  const upToDate = given.outdated
    ? { ...condition("UpToDate", "False"), reason: "NotUpToDate", message: given.outdated }
    : { ...condition("UpToDate"), message: "" };
  const failed = given.failed
    ? [condition("HealthCheckSucceeded", "False"), condition("OwnerRemediated", "False")]
    : [];
  const deleting = given.deleting ? [{ ...condition("Deleting"), reason: given.deleting }] : [];
  const machine: Machine = {
    apiVersion: "cluster.x-k8s.io/v1beta2",
    kind: "Machine",
    metadata: {
      name,
      namespace: "default",
      uid: `uid-${name}`,
      labels: machineLabels(base, "demo"),
      annotations: { [cleanupHook]: "", ...given.annotations },
      creationTimestamp: at(given.born ?? now - day),
      ...(given.deleting ? { deletionTimestamp: at(now) } : {}),
    },
    spec: {
      ...inPlaceSpec(base),
      clusterName: "demo",
      version: given.version ?? "v1.34.0",
      ...(given.domain ? { failureDomain: given.domain } : {}),
      bootstrap: { configRef: { apiGroup: "bootstrap.cluster.x-k8s.io", kind: "KubeadmConfig", name } },
      infrastructureRef: { apiGroup: reference.apiGroup, kind: "OpenStackMachine", name },
    },
    status: {
      conditions: [upToDate, ...health, ...failed, ...deleting],
      ...(given.noNode ? {} : { nodeRef: { name } }),
      initialization: { infrastructureProvisioned: true },
    },
  };
  const clonedFrom = {
    "cluster.x-k8s.io/cloned-from-name": given.template ?? "control",
    "cluster.x-k8s.io/cloned-from-groupkind": `${reference.kind}.${reference.apiGroup}`,
  };
  const object = (apiVersion: string, type: string, spec: unknown, annotations = {}) => ({
    apiVersion,
    kind: type,
    metadata: { name, namespace: "default", annotations },
    spec,
  });
  return {
    machine,
    config: {
      reference: { apiGroup: "bootstrap.cluster.x-k8s.io", kind: "KubeadmConfig", name },
      kind: kind("KubeadmConfig"),
      object: object("bootstrap.cluster.x-k8s.io/v1beta2", "KubeadmConfig", configSpec(base, "join")),
    },
    host: {
      reference: { apiGroup: reference.apiGroup, kind: "OpenStackMachine", name },
      kind: kind("OpenStackMachine"),
      object: object(`${reference.apiGroup}/v1beta2`, "OpenStackMachine", {}, clonedFrom),
    },
  };
}

const podsOf = (machines: readonly OwnedMachine[]) =>
  new Map(
    machines
      .filter(({ machine }) =>
        machine.status?.conditions?.some(({ type, status }) => type === "EtcdPodHealthy" && status === "True"),
      )
      .flatMap(({ machine: { metadata } }) =>
        ["kube-apiserver", "kube-controller-manager", "kube-scheduler", "etcd"].map((component) => {
          const status = { phase: "Running", conditions: [{ type: "Ready", status: "True" as const }] };
          return [
            `${metadata.name}/${component}`,
            { apiVersion: "v1", kind: "Pod", metadata: { name: `${component}-${metadata.name}` }, status } as never,
          ] as const;
        }),
      ),
  );

function facts(
  machines: readonly OwnedMachine[],
  fields: Partial<ControlPlaneFacts> & { members?: readonly EtcdMember[] } = {},
): ControlPlaneFacts {
  const { members, ...more } = fields;
  const names = machines.map(({ machine }) => machine.metadata.name);
  const workload: WorkloadFacts = {
    reach: "connected",
    pods: podsOf(machines),
    etcd: { members: members ?? names.map((name) => member(name)) },
    kubeadmVersion: "v1.34.0",
    expiries: new Map(),
  };
  return {
    control: control(),
    cluster: demo,
    machines,
    infrastructure: {
      reference,
      kind: kind("OpenStackMachineTemplate"),
      object: {
        apiVersion: `${reference.apiGroup}/v1beta2`,
        kind: reference.kind,
        metadata: { name: "control", namespace: "default", labels: clusterLabels, ownerReferences: [owner] },
        spec: { template: { spec: { flavor: "m1" } } },
      },
      cloneKind: kind("OpenStackMachine"),
      clones: new Set(names),
    },
    configKind: kind("KubeadmConfig"),
    configs: new Set(names),
    taken: new Set(names),
    missingCertificates: [],
    kubeconfig: { exists: true, expires: now + 300 * day },
    workload,
    workers: 0,
    ...more,
  };
}

const three = ["a", "b", "c"].map((name, n) => owned(name, { born: now - day + n }));
const oldVersion = "* Version v1.33.0, v1.34.0 required";
const old = (name: string, given: MachineGiven = {}) =>
  owned(name, { version: "v1.33.0", outdated: oldVersion, ...given });

describe("the steps of a KubeadmControlPlane", () => {
  const created = { do: "create", type: { kind: "Machine" } };
  const deleted = (name: string) => ({ do: "delete", key: { name } });
  const table: [title: string, given: ControlPlaneFacts, steps: object[], blocked?: RegExp][] = [
    [
      "certificates come first",
      facts([], { control: control({ initialized: false }), missingCertificates: ["ca", "sa"] }),
      [{ do: "createCertificates", purposes: ["ca", "sa"] }],
    ],
    [
      "a certificate lost after initialization is not made again",
      facts(three, { missingCertificates: ["etcd"] }),
      [],
      /etcd/,
    ],
    [
      "then the kubeconfig",
      facts([], { control: control({ initialized: false }), kubeconfig: { exists: false } }),
      [{ do: "writeKubeconfig" }],
    ],
    [
      "a kubeconfig past half of its life is renewed",
      facts(three, { kubeconfig: { exists: true, expires: now + 182 * day } }),
      [{ do: "writeKubeconfig" }],
    ],
    ["a kubeconfig of the user is left alone", facts(three, { kubeconfig: { exists: true } }), []],
    ["the first machine initialises", facts([], { control: control({ initialized: false }) }), [created]],
    [
      "no second machine before that",
      facts([owned("a")], { control: control({ initialized: false }) }),
      [],
      /not initialized/,
    ],
    ["a machine is added once all others serve", facts(three.slice(0, 2)), [created]],
    ["none while one has no Node", facts([owned("a"), owned("b", { noNode: true })]), [{ do: "setConditions" }]],
    [
      "none while etcd cannot be inspected",
      {
        ...facts(three.slice(0, 2)),
        workload: { ...facts(three.slice(0, 2)).workload, etcd: { problem: "no route" } } as never,
      },
      [{ do: "setConditions" }, { do: "setConditions" }],
    ],
    ["three that serve need nothing", facts(three), []],
    ["one too many is removed, the oldest first", facts([...three, owned("d")]), [deleted("a")]],
    [
      "a machine marked for deletion goes before others",
      facts([...three, owned("d", { born: now, annotations: { "cluster.x-k8s.io/delete-machine": "" } })]),
      [deleted("d")],
    ],
    [
      "a machine of the fullest failure domain goes",
      facts([
        owned("a", { domain: "x" }),
        owned("b", { domain: "y" }),
        owned("c", { domain: "z" }),
        owned("d", { domain: "y", born: now }),
      ]),
      [deleted("b")],
    ],
    [
      "none is removed while another one is being deleted",
      facts([...three, owned("d", { deleting: "DrainingNode" })]),
      [],
      /d is being deleted/,
    ],
    [
      "a new version is written for those that join",
      facts([old("a"), old("b"), old("c")], {
        workload: {
          ...facts([]).workload,
          pods: podsOf([old("a"), old("b"), old("c")]),
          etcd: { members: ["a", "b", "c"].map((name) => member(name)) },
          kubeadmVersion: "v1.33.0",
        } as never,
      }),
      [{ do: "updateKubeadmConfig", version: "v1.34.0" }],
    ],
    ["then a machine of it is added", facts([old("a"), old("b"), old("c")]), [created]],
    [
      "then an outdated one removed",
      facts([old("a", { born: now - 2 * day }), old("b"), old("c"), owned("d")]),
      [deleted("a")],
    ],
    [
      "two minor versions at once are refused",
      facts([owned("a", { version: "v1.32.0", outdated: "* Version v1.32.0, v1.34.0 required" }), ...three.slice(1)]),
      [],
      /one minor at a time/,
    ],
    [
      "a lower version is refused",
      facts([owned("a", { version: "v1.35.0", outdated: "* Version v1.35.0, v1.34.0 required" }), ...three.slice(1)]),
      [],
      /cannot be downgraded/,
    ],
    [
      "another template replaces machines",
      facts([
        ...three.slice(0, 2),
        owned("c", { template: "before", outdated: "* OpenStackMachine is not up-to-date" }),
      ]),
      [created],
    ],
    [
      "certificates that expire soon replace machines",
      facts(
        [
          ...three.slice(0, 2),
          owned("c", {
            annotations: { "machine.cluster.x-k8s.io/certificates-expiry": at(now + 20 * day) },
            outdated: "* Certificates will expire soon",
          }),
        ],
        {
          control: control({ spec: { rollout: { before: { certificatesExpiryDays: 21 } } } }),
        },
      ),
      [created],
    ],
    [
      "maxSurge 0 removes one first",
      facts([old("a", { born: now - 2 * day }), old("b"), old("c")], {
        control: control({
          spec: { rollout: { strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 0 } } } },
        }),
      }),
      [deleted("a")],
    ],
    [
      "a deleted machine's member leaves etcd, leadership first",
      facts([owned("a", { deleting: "WaitingForPreTerminateHook" }), ...three.slice(1)]),
      [
        { do: "moveLeader", to: { name: "c" } },
        { do: "removeMember", member: { name: "a" } },
      ],
    ],
    [
      "then its hook goes",
      facts([owned("a", { deleting: "WaitingForPreTerminateHook", noMember: true }), ...three.slice(1)], {
        members: [member("b"), member("c")],
      }),
      [{ do: "patch", body: { metadata: { annotations: { [cleanupHook]: null } } } }],
    ],
    [
      "the hooks of others go first",
      facts([
        owned("a", {
          deleting: "WaitingForPreTerminateHook",
          annotations: { "pre-terminate.delete.hook.machine.cluster.x-k8s.io/other": "" },
        }),
        ...three.slice(1),
      ]),
      [],
    ],
    [
      "a member without a machine is removed",
      facts(three, { members: ["a", "b", "c", "x"].map((name) => member(name)) }),
      [{ do: "removeMember", member: { name: "x" } }],
    ],
    [
      "a machine that failed its health check is noted, then deleted",
      facts([...three.slice(0, 2), owned("c", { failed: true })]),
      [{ do: "patch" }, deleted("c")],
    ],
    [
      "it is deleted after a crash between the two",
      facts([...three.slice(0, 2), owned("c", { failed: true })], {
        control: control({
          metadata: {
            annotations: {
              "controlplane.cluster.x-k8s.io/remediation-in-progress": JSON.stringify({
                machine: "c",
                timestamp: at(now),
                retryCount: 0,
              }),
            },
          },
        }),
      }),
      [deleted("c")],
    ],
    [
      "it stays while etcd could lose its quorum",
      facts([...three.slice(0, 2), owned("c", { failed: true })], {
        members: [member("a"), member("b", { problem: "down" }), member("c", { problem: "down" })],
      }),
      [{ do: "setConditions" }, { do: "setConditions" }],
    ],
    [
      "the last machine stays",
      facts([owned("a", { failed: true })], { control: control({ spec: { replicas: 1 } }) }),
      [],
      /one machine only/,
    ],
    [
      "deletion waits for the workers",
      facts(three, { control: control({ metadata: { deletionTimestamp: at(now) } }), workers: 2 }),
      [],
      /2 workers/,
    ],
    [
      "then deletes all machines at once, without care for etcd",
      facts(three, { control: control({ metadata: { deletionTimestamp: at(now) } }) }),
      ["a", "b", "c"].flatMap((name) => [{ do: "patch" }, deleted(name)]),
    ],
    [
      "external etcd is refused",
      facts([], {
        control: control({
          spec: {
            kubeadmConfigSpec: {
              clusterConfiguration: {
                etcd: { external: { endpoints: ["https://e"], caFile: "c", certFile: "c", keyFile: "k" } },
              },
            },
          },
        }),
      }),
      [],
      /External etcd/,
    ],
  ];
  test.each(table)("%s", (_title, given, steps, blocked) => {
    const plan = planControlPlane(given, now);
    expect(plan.steps.map((step) => step.do)).toEqual(steps.map((step) => (step as { do: string }).do));
    expect(plan.steps).toMatchObject(steps);
    if (blocked) expect(plan.wait?.for).toMatch(blocked);
  });
});

test("a replacement says which machine it replaces, and retries are counted and limited", () => {
  const note = (retryCount: number, age: number) =>
    JSON.stringify({ machine: "z", timestamp: at(now - age), retryCount });
  const failed = (text: string) =>
    owned("c", { failed: true, annotations: { "controlplane.cluster.x-k8s.io/remediation-for": text } });
  const spec = { remediation: { maxRetry: 2, retryPeriodSeconds: 600, minHealthyPeriodSeconds: 3600 } };
  const plan = (text: string) =>
    planControlPlane(facts([...three.slice(0, 2), failed(text)], { control: control({ spec }) }), now);
  expect(plan(note(2, 1000_000)).wait?.for).toMatch(/maxRetry/);
  expect(plan(note(1, 60_000)).wait?.for).toMatch(/retryPeriodSeconds/);
  const again = plan(note(1, 1000_000)).steps[0];
  expect(JSON.stringify(again)).toContain(String.raw`\"retryCount\":2`);
  // After a healthy hour the count begins again.
  expect(JSON.stringify(plan(note(2, 4000_000)).steps[0])).toContain(String.raw`\"retryCount\":0`);
});

test("conditions and counters report what is so", () => {
  const { status } = planControlPlane(
    facts([old("a", { born: now - 2 * day }), ...three.slice(1), owned("d", { unhealthy: true })]),
    now,
  );
  const summary = ["Available", "Initialized", "EtcdClusterHealthy", "RollingOut", "ScalingDown"].map(
    (type) => `${type}=${getCondition(status.conditions, type)?.status}`,
  );
  expect(summary).toEqual([
    "Available=True",
    "Initialized=True",
    "EtcdClusterHealthy=False",
    "RollingOut=True",
    "ScalingDown=True",
  ]);
  expect(status).toMatchObject({ replicas: 4, upToDateReplicas: 3, version: "v1.33.0" });
});

describe("etcd's quorum", () => {
  const members = (...problems: (string | undefined)[]) =>
    problems.map((problem, n) => member(String(n), problem === undefined ? {} : { problem }));
  test.each<[without: boolean, replacing: boolean, ...problems: (string | undefined)[]]>([
    [true, true, "down", undefined, undefined],
    [true, false, undefined, undefined],
    [false, false, undefined],
    [false, false, undefined, "down", undefined],
    [true, true, "down", undefined, undefined, undefined, "down"].slice(0, 7) as never,
    [true, false, undefined, "down", undefined, undefined],
  ])("without the first: %s, while it is replaced: %s", (without, replacing, ...problems) => {
    expect([survivesWithout(members(...problems), "0"), survivesReplacing(members(...problems), "0")]).toEqual([
      without,
      replacing,
    ]);
  });
  test("a learner has no vote", () => {
    const all = [member("0"), member("1"), member("2", { isLearner: true })];
    expect(survivesReplacing(all, "0")).toBe(false);
  });
});
