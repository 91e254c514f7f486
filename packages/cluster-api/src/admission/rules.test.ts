import { expect, test } from "vitest";
import type { Cluster, ClusterClass, KubeadmControlPlane } from "@causeway/api";
import type { KubeObject } from "@causeway/kubernetes";
import { clusterApiRules } from "./rules.ts";

const template = (kind: string) => ({ templateRef: { apiVersion: "x.io/v1", kind, name: "t" } });
const classOf = (fields: object = {}, worker = "plain"): ClusterClass =>
  ({
    apiVersion: "cluster.x-k8s.io/v1beta2",
    kind: "ClusterClass",
    metadata: { name: "c", namespace: "default" },
    spec: {
      infrastructure: template("ATemplate"),
      controlPlane: template("BTemplate"),
      workers: {
        machineDeployments: [
          { class: worker, bootstrap: template("CTemplate"), infrastructure: template("DTemplate") },
        ],
      },
      ...fields,
    },
  }) as unknown as ClusterClass;
const clusterAt = (version: string, worker = "plain", annotations: Record<string, string> = {}): Cluster =>
  ({
    apiVersion: "cluster.x-k8s.io/v1beta2",
    kind: "Cluster",
    metadata: { name: "one", namespace: "default", annotations },
    spec: {
      topology: { classRef: { name: "c" }, version, workers: { machineDeployments: [{ class: worker, name: "w" }] } },
    },
  }) as unknown as Cluster;
const object = (kind: string, spec: object): KubeObject =>
  ({ apiVersion: "v1", kind, metadata: { name: "o", namespace: "default" }, spec }) as unknown as KubeObject;
const kcp = (version: string, replicas: number, more: object = {}): KubeObject =>
  object("KubeadmControlPlane", { version, replicas, ...more });
const deployment = (matchLabels: object, labels: object, version = "v1.34.0"): KubeObject =>
  object("MachineDeployment", { selector: { matchLabels }, template: { metadata: { labels }, spec: { version } } });
const check = (type: string): KubeObject =>
  object("MachineHealthCheck", { checks: { unhealthyMachineConditions: [{ type }] } });
const config = (certificatesDir: string) => ({ kubeadmConfigSpec: { clusterConfiguration: { certificatesDir } } });
const kcpTemplate = (spec: object) => object("KubeadmControlPlaneTemplate", { template: { spec } });
const skipped = { "unsafe.topology.cluster.x-k8s.io/disable-update-version-check": "" };

const compared = (spec: object): KubeObject => {
  const made = kcpTemplate(spec);
  return { ...made, metadata: { ...made.metadata, annotations: { "topology.cluster.x-k8s.io/dry-run": "" } } };
};
const of = (kind: string, clusterName: string, more: object = {}): KubeObject =>
  object(kind, { clusterName, template: { spec: {} }, ...more });
const surging = (maxSurge: unknown, maxUnavailable: unknown): KubeObject =>
  of("MachineDeployment", "a", { rollout: { strategy: { rollingUpdate: { maxSurge, maxUnavailable } } } });
const machine = (more: object = {}): KubeObject =>
  object("Machine", { clusterName: "a", version: "v1.34.0", bootstrap: { dataSecretName: "s" }, ...more });
const leaving = (made: KubeObject): KubeObject => ({
  ...made,
  metadata: { ...made.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" },
});
const sized: World = {
  clusterClass: classOf({
    variables: [{ name: "size", required: true, schema: { openAPIV3Schema: { type: "integer" } } }],
  }),
};
const withVariables = (variables: object[], overrides: object[] = []): Cluster => {
  const made = clusterAt("v1.34.0");
  const [workers] = made.spec.topology?.workers?.machineDeployments ?? [];
  const machineDeployments = [{ ...workers, variables: { overrides } }];
  return {
    ...made,
    spec: { topology: { ...made.spec.topology, variables, workers: { machineDeployments } } },
  } as unknown as Cluster;
};

interface World {
  readonly clusterClass?: ClusterClass;
  readonly users?: readonly Cluster[];
  readonly dryRun?: boolean;
  readonly controlPlane?: KubeadmControlPlane;
}

async function messageFor(after?: KubeObject, before?: KubeObject, world: World = {}): Promise<string> {
  const operation = after === undefined ? "DELETE" : before === undefined ? "CREATE" : "UPDATE";
  const kind = (after ?? before)?.kind ?? "";
  const rules = clusterApiRules({
    class: () => Promise.resolve(world.clusterClass ?? classOf()),
    users: () => Promise.resolve(world.users ?? []),
    controlPlane: () => Promise.resolve(world.controlPlane),
  });
  const dryRun = world.dryRun ?? false;
  return (await rules.refusals({ operation, kind, object: after, previous: before, dryRun })).join("; ");
}

test.each<[string, RegExp, KubeObject | undefined, (KubeObject | undefined)?, World?]>([
  ["a patch upgrade", /^$/, clusterAt("v1.34.1"), clusterAt("v1.34.0")],
  ["the next minor", /^$/, clusterAt("v1.35.0"), clusterAt("v1.34.0")],
  ["a downgrade", /cannot be decreased from v1.34.0/, clusterAt("v1.33.9"), clusterAt("v1.34.0")],
  ["a downgrade without the check", /^$/, clusterAt("v1.33.9", "plain", skipped), clusterAt("v1.34.0")],
  ["a skipped minor", /has no version 1.34/, clusterAt("v1.35.0"), clusterAt("v1.33.0")],
  [
    "a skipped minor that the class leads through",
    /^$/,
    clusterAt("v1.35.0"),
    clusterAt("v1.33.0"),
    { clusterClass: classOf({ kubernetesVersions: ["v1.34.2"] }) },
  ],
  ["no version", /is not a version of Kubernetes/, clusterAt("newest")],
  ["an unknown class of workers", /the ClusterClass has no such class/, clusterAt("v1.34.0", "fancy")],
  ["a topology that is removed", /cannot be removed/, object("Cluster", {}), clusterAt("v1.34.0")],
  [
    "a class in use that is deleted",
    /used by 1 Cluster.*default\/one/,
    undefined,
    classOf(),
    { users: [clusterAt("v1.34.0")] },
  ],
  ["a class not in use that is deleted", /^$/, undefined, classOf()],
  [
    "a class of workers in use that is removed",
    /"plain" is used by Cluster one/,
    classOf({}, "other"),
    classOf(),
    { users: [clusterAt("v1.34.0")] },
  ],
  [
    "another kind of a template in use",
    /cannot change from ATemplate.x.io to ZTemplate.x.io/,
    classOf({ infrastructure: template("ZTemplate") }),
    classOf(),
    { users: [clusterAt("v1.34.0")] },
  ],
  ["another kind of a template not in use", /^$/, classOf({ infrastructure: template("ZTemplate") }), classOf()],
  ["three control planes", /^$/, kcp("v1.34.0", 3)],
  ["two control planes", /must be odd/, kcp("v1.34.0", 2)],
  ["no control plane", /must be 1 or more/, kcp("v1.34.0", 0)],
  ["a scale to four", /must be odd/, object("Scale", { replicas: 4 }), object("Scale", { replicas: 3 })],
  [
    "a scale to four with external etcd",
    /^$/,
    object("Scale", { replicas: 4 }),
    object("Scale", { replicas: 3 }),
    {
      controlPlane: kcp("v1.34.0", 3, {
        kubeadmConfigSpec: { clusterConfiguration: { etcd: { external: {} } } },
      }) as KubeadmControlPlane,
    },
  ],
  ["a control plane that skips a minor", /cannot skip/, kcp("v1.35.0", 3), kcp("v1.33.0", 3)],
  ["a control plane that is downgraded", /cannot be downgraded/, kcp("v1.33.0", 3), kcp("v1.34.0", 3)],
  ["another folder of certificates", /immutable/, kcp("v1.34.0", 3, config("/a")), kcp("v1.34.0", 3, config("/b"))],
  [
    "maxSurge 0 with one replica",
    /at least 3/,
    kcp("v1.34.0", 1, { rollout: { strategy: { rollingUpdate: { maxSurge: 0 } } } }),
  ],
  ["a changed template of control planes", /immutable/, kcpTemplate({ a: 1 }), kcpTemplate({ a: 2 })],
  ["a MachineDeployment whose selector matches", /^$/, deployment({ a: "b" }, { a: "b" })],
  ["a selector that its template does not match", /must match spec.selector: a/, deployment({ a: "b" }, {})],
  ["a MachineDeployment of no version", /is not a version/, deployment({}, {}, "new")],
  ["a template that a topology compares", /^$/, compared({ a: 1 }), kcpTemplate({ a: 2 }), { dryRun: true }],
  ["a template changed with the mark of a comparison", /immutable/, compared({ a: 1 }), kcpTemplate({ a: 2 })],
  ["a MachineDeployment that can replace nothing", /cannot both be 0/, surging(0, "0%")],
  ["a MachineDeployment without surge", /^$/, surging(0, 1)],
  [
    "another Cluster of a MachineDeployment",
    /clusterName: Forbidden/,
    of("MachineDeployment", "b"),
    of("MachineDeployment", "a"),
  ],
  ["another Cluster of a MachineSet", /clusterName: Forbidden/, of("MachineSet", "b"), of("MachineSet", "a")],
  [
    "a MachineSet whose template does not match",
    /must match spec.selector: x/,
    of("MachineSet", "a", { selector: { matchLabels: { x: "y" } } }),
  ],
  ["a MachineSet of no version", /is not a version/, of("MachineSet", "a", { template: { spec: { version: "new" } } })],
  ["another Cluster of a MachinePool", /clusterName: Forbidden/, of("MachinePool", "b"), of("MachinePool", "a")],
  ["a Machine", /^$/, machine(), machine()],
  ["a Machine without bootstrap data", /one of configRef and dataSecretName/, machine({ bootstrap: {} })],
  ["a Machine of no version", /is not a version/, machine({ version: "1" })],
  ["a Machine of another server", /providerID: Forbidden/, machine({ providerID: "b" }), machine({ providerID: "a" })],
  ["a Machine that loses its server", /providerID: Forbidden/, machine(), machine({ providerID: "a" })],
  ["a Machine that gets its server", /^$/, machine({ providerID: "b" }), machine()],
  ["another Cluster of a Machine", /clusterName: Forbidden/, machine({ clusterName: "b" }), machine()],
  ["a Machine that is being deleted", /^$/, leaving(machine({ bootstrap: {} })), machine()],
  ["a variable that is not defined", /variable is not defined/, withVariables([{ name: "x", value: 1 }])],
  [
    "a required variable that is missing",
    /required variable "size" must be set/,
    clusterAt("v1.34.0"),
    undefined,
    sized,
  ],
  [
    "a variable of another type",
    /must be of type integer/,
    withVariables([{ name: "size", value: "a" }]),
    undefined,
    sized,
  ],
  ["a variable that fits", /^$/, withVariables([{ name: "size", value: 1 }]), undefined, sized],
  [
    "an override of another type",
    /machineDeployments\[w\]\.variables\.overrides\[size\]\.value.*must be of type integer/,
    withVariables([{ name: "size", value: 1 }], [{ name: "size", value: "a" }]),
    undefined,
    sized,
  ],
  ["a health check of what follows from it", /follows from the health check/, check("OwnerRemediated")],
  ["a health check of another condition", /^$/, check("NodeHealthy")],
])("the admission of Cluster API refuses or permits %s: %s", async (_, expected, after, before, world) => {
  expect(await messageFor(after, before, world)).toMatch(expected);
});
