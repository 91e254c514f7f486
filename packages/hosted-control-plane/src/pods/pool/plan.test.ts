import type { KubeObject, Namespace, StatefulSet } from "@causeway/kubernetes";
import { silentLog } from "@causeway/foundation";
import { describe, expect, test } from "vitest";
import { idOf } from "../live.ts";
import { fileNames } from "../plan-credentials.ts";
import type { Step } from "../steps.ts";
import {
  inputsAnnotation,
  poolNamespaceOf,
  renewAtAnnotation,
  rotateAfterAnnotation,
  rotateWithoutAnnotation,
  rotationProgressAnnotation,
} from "../tenant.ts";
import { rangeOf } from "../../etcd/range.ts";
import type { Observed } from "./gather.ts";
import { plan } from "./plan.ts";
import { rotationReport } from "./rotation-report.ts";

const now = Date.UTC(2026, 0, 1);
const settings = { owner: "here" };
const nothing: Observed = {
  settings,
  namespaceName: poolNamespaceOf("here"),
  namespace: undefined,
  live: new Map(),
  pods: [],
  holdsData: false,
  authEnabled: false,
  isOfAnother: false,
  behind: () => [],
};

/** What the service cluster holds after the steps. */
function after(observed: Observed, steps: readonly Step[]): Observed {
  const live = new Map(observed.live);
  let { namespace, authEnabled } = observed;
  for (const step of steps) {
    if (step.type === "apply-namespace") namespace = step.object as Namespace;
    if (step.type === "apply") live.set(step.id, step.object);
    if (step.type === "enable-auth") authEnabled = true;
    if (step.type === "copy") {
      const { name, data, id } = step;
      live.set(id, { apiVersion: "v1", kind: "Secret", metadata: { name }, data } as KubeObject);
    }
    if (step.type !== "issue") continue;
    const { name, entries, inputs } = step.credentials;
    const annotations = { [inputsAnnotation]: inputs, [renewAtAnnotation]: String(now + 1e9) };
    const data = Object.fromEntries(entries.flatMap(fileNames).map((file) => [file, "eA=="]));
    live.set(step.id, { apiVersion: "v1", kind: "Secret", metadata: { name, annotations }, data } as KubeObject);
  }
  return { ...observed, namespace, live, authEnabled };
}

function settle(observed: Observed): { world: Observed; performed: string[] } {
  const performed: string[] = [];
  for (let world = observed, rounds = 0; ; rounds++) {
    if (rounds > 30) throw new Error(`it does not end: ${performed.join(", ")}`);
    const { steps } = plan(world, now);
    if (steps.length === 0) return { world, performed };
    performed.push(...steps.map((step) => ("object" in step ? `${step.type} ${idOf(step.object)}` : step.type)));
    world = after(world, steps);
  }
}

const podOf = (index: number): Observed["pods"][number] => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: `etcd-${index}`, labels: { "app.kubernetes.io/component": "etcd" } },
  spec: { containers: [] },
  status: { podIP: `10.0.0.${index}`, conditions: [{ type: "Ready", status: "True" }] },
});

describe("the etcd that control planes share", () => {
  test("is created in order, and makes every client a user when it has a quorum", () => {
    const { world, performed } = settle(nothing);
    const namespace = `Namespace/${nothing.namespaceName}`;
    expect(performed).toEqual([
      `apply-namespace ${namespace}`,
      "issue",
      "issue",
      "copy",
      "copy",
      `apply-namespace ${namespace}`,
      "issue",
      "apply Service/etcd",
      "apply StatefulSet/etcd",
      "apply NetworkPolicy/default-deny",
      "apply NetworkPolicy/etcd",
    ]);
    expect((world.live.get("StatefulSet/etcd") as StatefulSet).spec.replicas).toBe(3);
    expect(plan({ ...world, pods: [podOf(0)] }, now)).toMatchObject({ steps: [], status: { ready: false } });
    const quorum = { ...world, pods: [podOf(0), podOf(1)] };
    expect(settle(quorum).performed).toEqual(["enable-auth"]);
    const { status } = plan(settle(quorum).world, now);
    expect(status).toMatchObject({ ready: true, access: { addresses: ["10.0.0.0", "10.0.0.1"] } });
  });

  test("is used and not changed by another management cluster, whatever its settings are", () => {
    const { world } = settle(nothing);
    const settingsThere = { owner: "there", registry: "elsewhere", pool: { members: 1 as const } };
    const foreign = { ...world, settings: settingsThere, isOfAnother: true, isForeign: true };
    const later = now + 10 * 365 * 24 * 3600_000;
    expect(plan(foreign, later)).toMatchObject({ steps: [], status: { ready: false } });
    const serving = { ...foreign, pods: [podOf(0), podOf(1)] };
    expect(plan(serving, later).steps).toMatchObject([{ type: "enable-auth" }]);
    expect(plan({ ...serving, authEnabled: true }, later)).toMatchObject({
      steps: [],
      status: { ready: true, access: { addresses: ["10.0.0.0", "10.0.0.1"] } },
    });
    const { status } = plan({ ...serving, isForeign: false }, now);
    expect(status).toMatchObject({ ready: false, problem: { code: "PODS_NAMESPACE_FOREIGN" } });
  });

  test("is led by the member that is restarted last, or was restarted", () => {
    const { world } = settle(nothing);
    const podsAt = (...revisions: string[]) =>
      revisions.map((revision, index) => {
        const pod = podOf(index);
        const labels = { ...pod.metadata.labels, "controller-revision-hash": revision };
        return { ...pod, metadata: { ...pod.metadata, labels } };
      });
    const etcd = world.live.get("StatefulSet/etcd") as StatefulSet;
    const leaders = (update: string, ...revisions: string[]) => {
      const status = { ...etcd.status, currentRevision: "a", updateRevision: update } as NonNullable<
        StatefulSet["status"]
      >;
      const live = new Map([...world.live, ["StatefulSet/etcd", { ...etcd, status } as KubeObject]]);
      return plan({ ...world, live, pods: podsAt(...revisions) }, now).status.leaders;
    };
    expect(leaders("a", "a", "a", "a")).toEqual(["10.0.0.0", "10.0.0.1", "10.0.0.2"]);
    expect(leaders("b", "a", "a", "b")).toEqual(["10.0.0.2", "10.0.0.0", "10.0.0.1"]);
  });

  test("keeps its number of members when the settings change", () => {
    const { world } = settle(nothing);
    expect(plan({ ...world, settings: { ...settings, pool: { members: 1 } } }, now).steps).toEqual([]);
  });

  test("names the control planes that a rotation of its authority waits for", () => {
    const quorum = { ...settle(nothing).world, pods: [podOf(0), podOf(1)] };
    const { world } = settle(quorum);
    const { namespace } = world;
    const requested = {
      ...namespace,
      metadata: {
        ...namespace?.metadata,
        annotations: { ...namespace?.metadata.annotations, [rotateAfterAnnotation]: new Date(now - 1).toISOString() },
      },
    } as Namespace;
    expect(plan(world, now).status.rotation).toBeUndefined();
    const waits = plan({ ...world, namespace: requested, behind: () => ["hcp-a"] }, now);
    // The operator reads it in the namespace.
    const [step] = waits.steps;
    expect(waits.steps.map(({ type }) => type)).toEqual(["apply-namespace"]);
    const { annotations = {} } = step !== undefined && "object" in step ? step.object.metadata : {};
    const progress = { stage: "single", waiting: 1, waitsFor: ["hcp-a"] };
    expect(JSON.parse(annotations[rotationProgressAnnotation] ?? "{}")).toEqual(progress);
    const shown = (more: Record<string, string>) => {
      const asked = { [rotateAfterAnnotation]: new Date(now - 1).toISOString(), ...annotations, ...more };
      const found = { ...namespace, metadata: { ...namespace?.metadata, annotations: asked } } as Namespace;
      return plan({ ...world, namespace: found, behind: () => ["hcp-a"] }, now);
    };
    expect(shown({}).status.rotation).toEqual({ stage: "single", waitsFor: ["hcp-a"] });
    expect(shown({}).steps).toEqual([]);
    // One that was given up is not waited for: what is shown changes.
    expect(shown({ [rotateWithoutAnnotation]: "hcp-b,hcp-a" }).steps.map(({ type }) => type)).toEqual([
      "apply-namespace",
    ]);
  });

  const refused: [string, (world: Observed) => Partial<Observed>, string][] = [
    ["gone, and control planes served from it", () => ({ namespace: undefined, holdsData: true }), "PODS_DATA_LOST"],
    [
      "another's",
      ({ namespace }) => ({ namespace: { ...namespace, metadata: { name: "x", annotations: {} } } as Namespace }),
      "PODS_NAMESPACE_FOREIGN",
    ],
    [
      "without its password",
      ({ live }) => ({ live: new Map([...live].filter(([id]) => !id.startsWith("Secret/etcd-root"))) }),
      "PODS_POOL_SECRET_LOST",
    ],
    [
      "without its authority",
      ({ live }) => ({ live: new Map([...live].filter(([id]) => !id.startsWith("Secret/etcd-ca"))) }),
      "PODS_AUTHORITY_LOST",
    ],
  ];
  test.each(refused)("is not touched when its namespace is %s", (_, change, code) => {
    const { world } = settle(nothing);
    const { steps, status } = plan({ ...world, ...change(world) }, now);
    expect(steps).toEqual([]);
    expect(status).toMatchObject({ ready: false, problem: { code, actor: "operator" } });
  });
});

test("a rotation is reported once for each stage and each change of what it waits for", () => {
  const lines: unknown[] = [];
  const report = rotationReport({
    metrics: undefined,
    log: { ...silentLog, info: (message, fields) => void lines.push([message, fields?.["waitsFor"]]) },
  });
  const trust = { stage: "trust", waitsFor: ["hcp-a", "hcp-b"] } as const;
  for (const each of [undefined, trust, trust, { ...trust, waitsFor: ["hcp-b"] }, undefined, undefined]) report(each);
  expect(lines).toEqual([
    ["the rotation of the shared etcd's authority continues", "hcp-a, hcp-b"],
    ["the rotation of the shared etcd's authority continues", "hcp-b"],
    ["the rotation of the shared etcd's authority has ended", undefined],
  ]);
});

test("the range of a prefix ends before any other prefix", () => {
  const text = (encoded: string) => Buffer.from(encoded, "base64").toString();
  const { key, range_end } = rangeOf("/hcp-web-0/");
  expect([text(key), text(range_end)]).toEqual(["/hcp-web-0/", "/hcp-web-00"]);
  for (const other of ["/hcp-web-00/", "/hcp-web-1/", "/hcp-web-/"])
    expect(other >= text(key) && other < text(range_end)).toBe(false);
});
