import { expect, test } from "vitest";
import type { Cluster, ClusterClass } from "@causeway/api";
import type { KubeObject } from "@causeway/kubernetes";
import { reviewAdmission } from "./review.ts";

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

interface World {
  readonly clusterClass?: ClusterClass;
  readonly users?: readonly Cluster[];
}

async function messageFor(after?: KubeObject, before?: KubeObject, world: World = {}): Promise<string> {
  const operation = after === undefined ? "DELETE" : before === undefined ? "CREATE" : "UPDATE";
  const request = { uid: "u", operation, kind: { kind: (after ?? before)?.kind }, object: after, oldObject: before };
  const { response } = (await reviewAdmission(
    { kind: "AdmissionReview", request },
    {
      class: () => Promise.resolve(world.clusterClass ?? classOf()),
      users: () => Promise.resolve(world.users ?? []),
    },
  )) as { response: { uid: string; allowed: boolean; status?: { message: string } } };
  expect([response.uid, response.allowed]).toEqual(["u", response.status === undefined]);
  return response.status?.message ?? "";
}

test.each<[string, RegExp, KubeObject | undefined, KubeObject?, World?]>([
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
  ["no version", /is no version of Kubernetes/, clusterAt("newest")],
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
  ["a MachineDeployment of no version", /is no version/, deployment({}, {}, "new")],
  ["a health check of what follows from it", /follows from the health check/, check("OwnerRemediated")],
  ["a health check of another condition", /^$/, check("NodeHealthy")],
])("%s: %s", async (_, expected, after, before, world) => {
  expect(await messageFor(after, before, world)).toMatch(expected);
});

test("a body that is no AdmissionReview is an error", async () => {
  await expect(reviewAdmission({}, {} as never)).rejects.toThrow("no AdmissionReview");
});
