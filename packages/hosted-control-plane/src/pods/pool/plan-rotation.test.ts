/** The rotation of the authority of the shared etcd, and how it is reported. */
import { silentLog } from "@causeway/foundation";
import type { KubeObject, Namespace, Secret, StatefulSet } from "@causeway/kubernetes";
import { describe, expect, test } from "vitest";
import {
  rotateAfterAnnotation,
  rotateWithoutAnnotation,
  rotationAnnotation,
  rotationProgressAnnotation,
  rotationStageAnnotation,
} from "../tenant.ts";
import { annotated, nothing, now, podOf, serving, settle } from "../testing/shared-etcd.ts";
import { plan } from "./plan.ts";
import { rotationReport } from "./rotation-report.ts";

describe("the etcd that control planes share", () => {
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

  test.for<[title: string, after: string | undefined, isDue: boolean]>([
    ["when its time has come", new Date(now).toISOString(), true],
    ["not before", new Date(now + 1).toISOString(), false],
    ["not at what is no time", "soon", false],
    ["not without a request", undefined, false],
  ])("has its authority rotated %s", ([, after, isDue]) => {
    const { world } = settle(serving());
    const asked = annotated(world, after === undefined ? {} : { [rotateAfterAnnotation]: after });
    const { steps, status, wait } = plan(asked, now);
    expect(steps.map(({ type }) => type)).toEqual(isDue ? ["apply-namespace"] : []);
    expect(wait?.until).toBe(isDue ? undefined : now + 24 * 3600_000);
    expect(status.problem?.code).toBe(isDue ? "CONTROL_PLANE_STARTING" : undefined);
  });

  test("has its authority rotated once its members and every control plane run with the present stage", () => {
    const after = new Date(now).toISOString();
    const asked = annotated(settle(serving()).world, { [rotateAfterAnnotation]: after });
    const [note] = plan(asked, now).steps;
    const noted = { ...asked, namespace: note?.type === "apply-namespace" ? (note.object as Namespace) : undefined };
    const world = annotated(noted, { [rotateAfterAnnotation]: after });
    const etcd = world.live.get("StatefulSet/etcd") as StatefulSet;
    const status = { replicas: 3, readyReplicas: 3, updatedReplicas: 3 };
    const rolledOut = new Map([...world.live, ["StatefulSet/etcd", { ...etcd, status } as unknown as KubeObject]]);
    const { steps, wait, ...waiting } = plan(world, now);
    expect(steps).toEqual([]);
    expect(wait).toEqual({ for: "certificates to be issued again, or a rotation", until: now + 5_000 });
    expect(waiting.status.rotation).toEqual({ stage: "single", waitsFor: [] });
    const secret = world.live.get("Secret/etcd-ca-copy");
    expect(plan({ ...world, live: rolledOut }, now).steps).toEqual([
      { type: "rotate-etcd-authority", secret, to: "trust", rotation: after },
    ]);
    const at = (stage: string) => {
      const annotations = { [rotationStageAnnotation]: stage, [rotationAnnotation]: after };
      const copy = { ...secret, metadata: { name: "etcd-ca-copy", annotations } } as KubeObject;
      const live = new Map([
        ...rolledOut,
        ["Secret/etcd-ca-copy", copy],
        ["Secret/etcd-ca", { ...copy, metadata: { name: "etcd-ca", annotations } }],
      ]);
      const { steps: noting, status: is } = plan({ ...world, live }, now);
      const [first] = noting;
      const note = first?.type === "apply-namespace" ? (first.object as Namespace) : undefined;
      const known = annotated({ ...world, live, namespace: note }, { [rotateAfterAnnotation]: after });
      const [next] = plan(known, now).steps;
      expect([is.problem?.code, plan(known, now).status.rotation?.stage]).toEqual(["CONTROL_PLANE_STARTING", stage]);
      return next?.type === "rotate-etcd-authority" ? next.to : next?.type;
    };
    expect([at("trust"), at("sign")]).toEqual(["sign", "single"]);
    const lost = new Map([...rolledOut].filter(([id]) => id !== "Service/etcd"));
    expect(plan({ ...world, live: lost }, now).steps.map(({ type }) => type)).toEqual(["apply"]);
    expect(plan({ ...world, live: rolledOut, authEnabled: false }, now).steps.map(({ type }) => type)).toEqual([
      "enable-auth",
    ]);
    const seen: string[] = [];
    plan({ ...world, behind: (authorities) => (seen.push(authorities), []) }, now);
    expect(new Set(seen)).toEqual(new Set([(world.live.get("Secret/etcd-ca") as Secret).data?.["ca.crt"]]));
  });

  test("names no more control planes in its namespace than twenty", () => {
    const names = Array.from({ length: 30 }, (_, index) => `hcp-${index}`);
    const asked = annotated(settle(serving()).world, { [rotateAfterAnnotation]: new Date(now).toISOString() });
    const [step] = plan({ ...asked, behind: () => names }, now).steps;
    const text =
      step?.type === "apply-namespace" ? step.object.metadata.annotations?.[rotationProgressAnnotation] : "{}";
    expect(JSON.parse(text ?? "{}")).toEqual({ stage: "single", waiting: 30, waitsFor: names.slice(0, 20) });
  });

  /** As long as its keys are being made. */
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
