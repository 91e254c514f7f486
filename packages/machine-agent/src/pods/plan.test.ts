import { timestamp, type Pod, type PodStatus } from "@causeway/kubernetes";
import { describe, expect, test } from "vitest";
import { DOMAIN } from "./annotations.ts";
import { plan } from "./plan.ts";
import type { Step } from "./steps.ts";

const start = Date.parse("2026-01-01T00:00:00Z");
const SECOND = 1000;

interface Given {
  readonly annotations?: Record<string, string>;
  readonly spec?: Partial<Pod["spec"]>;
  readonly job?: boolean;
}

function podOf({ annotations = {}, spec = {}, job = false }: Given): Pod {
  const owner = { apiVersion: "batch/v1", kind: "Job", name: "j", uid: "j1", controller: true };
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name: "p",
      namespace: "default",
      uid: "u1",
      annotations: Object.fromEntries(Object.entries(annotations).map(([name, value]) => [`${DOMAIN}/${name}`, value])),
      ...(job ? { ownerReferences: [owner] } : {}),
    },
    spec: { containers: [{ name: "main", image: "app:1" }], nodeName: "n", ...spec },
  };
}

/** Plays a pod: each report is read, and time passes to the next change, until `end`. */
function play(
  given: Given,
  end: number,
  pod: Pod = podOf(given),
): { pod: Pod; at: number[]; phases: string[]; steps: Step[] } {
  const steps: Step[] = [];
  const at: number[] = [];
  const phases: string[] = [];
  let now = start;
  let current = pod;
  for (let turns = 0; turns < 1000; turns++) {
    const planned = plan({ pod: current, hostIPs: ["192.0.2.1"], podIPs: ["10.244.1.2"], hasVolumes: true }, now);
    for (const step of planned.steps) {
      steps.push(step);
      at.push((now - start) / SECOND);
      if (step.type === "report") {
        current = { ...current, status: { ...current.status, ...step.status } };
        phases.push(step.status.phase ?? "");
      }
    }
    if (planned.steps.some(({ type }) => type === "delete")) break;
    if (planned.steps.length > 0) continue;
    if (planned.until === undefined || planned.until > start + end) break;
    now = planned.until;
  }
  return { pod: current, at, phases, steps };
}

const conditions = ({ status }: Pod): Record<string, string> =>
  Object.fromEntries((status?.conditions ?? []).map(({ type, status: is }) => [type, is]));
const main = ({ status }: Pod) => status?.containerStatuses?.[0];

describe("a simulated pod", () => {
  test("runs a container that kubectl debug adds, until it is deleted", () => {
    const { pod } = play({}, 10 * SECOND);
    const ephemeralContainers = [{ name: "debugger", image: "busybox" }];
    const debugged = { ...pod, spec: { ...pod.spec, ephemeralContainers } } as Pod;
    const played = play({}, 10 * SECOND, debugged);
    expect(played.steps).toHaveLength(1);
    expect(played.pod.status).toMatchObject({
      phase: "Running",
      ephemeralContainerStatuses: [
        { name: "debugger", image: "busybox", ready: false, state: { running: { startedAt: timestamp(start) } } },
      ],
    });
    expect(conditions(played.pod)["Ready"]).toBe("True");
    const deletionTimestamp = timestamp(start + 30 * SECOND);
    const deleted = { ...played.pod, metadata: { ...played.pod.metadata, deletionTimestamp } };
    const ended = play({}, 60 * SECOND, deleted);
    expect(ended.pod.status).toMatchObject({
      ephemeralContainerStatuses: [{ state: { terminated: { exitCode: 0 } } }],
    });
  });

  test("runs, is ready and has addresses after one report, and is then left alone", () => {
    const { pod, steps } = play({}, 3600 * SECOND);
    expect(steps).toHaveLength(1);
    expect(pod.status).toMatchObject({ phase: "Running", podIP: "10.244.1.2", hostIP: "192.0.2.1" });
    expect(conditions(pod)).toEqual({
      PodReadyToStartContainers: "True",
      Initialized: "True",
      Ready: "True",
      ContainersReady: "True",
    });
    expect(main(pod)).toMatchObject({ ready: true, started: true, restartCount: 0, image: "app:1" });
  });

  test("completes its init containers, and runs its sidecars", () => {
    const spec = { initContainers: [{ name: "init" }, { name: "side", restartPolicy: "Always" }] };
    const { pod } = play({ spec }, SECOND);
    const [init, side] = pod.status?.initContainerStatuses ?? [];
    expect(init?.state?.terminated?.exitCode).toBe(0);
    expect(side?.state?.running).toBeDefined();
  });

  test("starts its containers after the time that start-after says", () => {
    const { phases, at } = play({ annotations: { "start-after": "5s" } }, 60 * SECOND);
    expect([phases, at]).toEqual([
      ["Pending", "Running"],
      [0, 5],
    ]);
  });

  test.each(["not-ready", "crash-loop"])("starts after that time when its outcome is %s, too", (outcome) => {
    const { at, phases } = play({ annotations: { "start-after": "5s", outcome } }, 5 * SECOND);
    expect([phases[0], phases[1], at[1]]).toEqual(["Pending", "Running", 5]);
  });

  const at = (pod: Pod, more: Partial<Parameters<typeof plan>[0]> = {}) =>
    plan({ pod, hostIPs: ["192.0.2.1"], podIPs: ["10.244.1.2"], hasVolumes: true, ...more }, start);

  test("waits for its volumes before it starts, and not afterwards", () => {
    const { steps, until } = at(podOf({}), { hasVolumes: false });
    expect(until).toBeUndefined();
    expect(steps).toMatchObject([{ status: { phase: "Pending", hostIP: "192.0.2.1" } }]);
    const [waiting] = steps;
    if (waiting?.type !== "report") throw new Error("nothing is reported");
    expect(waiting.status).not.toHaveProperty("podIP");
    expect(waiting.status.containerStatuses?.[0]?.state?.waiting).toMatchObject({ reason: "ContainerCreating" });
    expect(at(play({}, SECOND).pod, { hasVolumes: false }).steps).toEqual([]);
  });

  test("keeps the address that it has while it is pending again", () => {
    const { pod } = play({}, SECOND);
    const held = { ...pod, metadata: podOf({ annotations: { outcome: "hang" } }).metadata };
    expect(at(held).steps).toMatchObject([{ status: { phase: "Pending", podIP: "10.244.1.2" } }]);
  });

  test("reports no containers and addresses that it does not have", () => {
    const [step] = at(podOf({}), { hostIPs: [], podIPs: [] }).steps;
    if (step?.type !== "report") throw new Error("nothing is reported");
    const fields = ["phase", "startTime", "conditions", "containerStatuses"];
    expect(Object.keys(step.status)).toEqual(fields);
  });

  test.each(["Succeeded", "Failed"])("is left alone after it has %s, and goes at once when it is deleted", (phase) => {
    const pod = { ...podOf({}), status: { ...play({}, SECOND).pod.status, phase } } as Pod;
    expect(at(pod)).toEqual({ steps: [] });
    const deletionTimestamp = timestamp(start + 60 * SECOND);
    const annotations = { [`${DOMAIN}/stop-after`]: "1m" };
    const metadata = { ...pod.metadata, annotations, deletionTimestamp, deletionGracePeriodSeconds: 60 };
    expect(at({ ...pod, metadata })).toEqual({ steps: [{ type: "delete" }] });
  });

  test("remains running while its containers end and are started again", () => {
    const spec = { restartPolicy: "Always" };
    const { phases, pod } = play({ annotations: { "finish-after": "1s" }, spec }, 60 * SECOND);
    expect(new Set(phases)).toEqual(new Set(["Running"]));
    expect(main(pod)?.restartCount).toBeGreaterThan(0);
  });

  test.each([
    ["hang", "ContainerCreating"],
    ["image-pull-error", "ImagePullBackOff"],
  ])("remains pending when its outcome is %s", (outcome, reason) => {
    const { pod, phases } = play({ annotations: { outcome, "start-after": "5s" } }, 3600 * SECOND);
    expect(at(podOf({ annotations: { outcome, "start-after": "5s" } })).until).toBeUndefined();
    expect(phases).toEqual(["Pending"]);
    expect(main(pod)?.state?.waiting).toMatchObject({ reason });
  });

  test("runs without being ready when its outcome is not-ready", () => {
    const { pod } = play({ annotations: { outcome: "not-ready" } }, SECOND);
    expect(pod.status?.phase).toBe("Running");
    expect(conditions(pod)).toMatchObject({ Ready: "False", ContainersReady: "False" });
  });

  test("of a Job succeeds after a second", () => {
    const { pod, at } = play({ job: true, spec: { restartPolicy: "Never" } }, 60 * SECOND);
    expect(pod.status?.phase).toBe("Succeeded");
    expect(at).toEqual([0, 1]);
    expect(conditions(pod)).toMatchObject({ Ready: "False" });
  });

  test("fails with the exit code that is requested, and is not restarted with restartPolicy Never", () => {
    const annotations = { "finish-after": "2s", "exit-code": "3" };
    const { pod } = play({ annotations, spec: { restartPolicy: "Never" } }, 3600 * SECOND);
    expect(pod.status?.phase).toBe("Failed");
    expect(main(pod)?.state?.terminated).toMatchObject({ exitCode: 3, reason: "Error" });
  });

  test("is restarted at once, then after 10, 20, 40 seconds when it crashes", () => {
    const { pod, steps } = play({ annotations: { outcome: "crash-loop" } }, 69 * SECOND);
    expect(main(pod)?.restartCount).toBe(3);
    const reasons = steps.map((s) =>
      s.type === "report" ? s.status.containerStatuses?.[0]?.state?.waiting : undefined,
    );
    expect(reasons).toContainEqual(expect.objectContaining({ reason: "CrashLoopBackOff" }));
  });

  test("continues after a restart of its node from what its status says", () => {
    const before = play({ annotations: { "finish-after": "30s" }, spec: { restartPolicy: "Never" } }, 10 * SECOND).pod;
    const { steps } = plan(
      { pod: before, hostIPs: ["192.0.2.1"], podIPs: ["10.244.1.2"], hasVolumes: true },
      start + 30 * SECOND,
    );
    expect(steps).toMatchObject([{ type: "report", status: { phase: "Succeeded" } }]);
  });

  test("leaves conditions of others as they are, and waits for readiness gates", () => {
    const gate: NonNullable<PodStatus["conditions"]> = [{ type: "example.com/gate", status: "False" }];
    const pod: Pod = {
      ...podOf({ spec: { readinessGates: [{ conditionType: "example.com/gate" }] } }),
      status: { conditions: gate },
    };
    const played = play({}, SECOND, pod).pod;
    expect(conditions(played)).toMatchObject({ "example.com/gate": "False", ContainersReady: "True", Ready: "False" });
  });
});

describe("a simulated pod that is deleted", () => {
  const deleted = (given: Given, grace: number): Pod => {
    const { pod } = play(given, 0);
    const metadata = {
      ...pod.metadata,
      deletionGracePeriodSeconds: grace,
      deletionTimestamp: timestamp(start + grace * SECOND),
    };
    return { ...pod, metadata };
  };

  test("reports that its containers ended, and goes", () => {
    const { steps, pod } = play({}, 60 * SECOND, deleted({}, 30));
    expect(steps.map(({ type }) => type)).toEqual(["report", "delete"]);
    expect(main(pod)?.state?.terminated?.exitCode).toBe(0);
    expect(pod.status?.phase).toBe("Running");
  });

  test("is not killed when it stops at the end of its grace period", () => {
    const given = { annotations: { "stop-after": "30s" } };
    const { at, pod } = play(given, 120 * SECOND, deleted(given, 30));
    expect([at.at(-1), main(pod)?.state?.terminated?.exitCode]).toEqual([30, 0]);
  });

  test("takes the time that stop-after says, and is killed when its grace period ends", () => {
    const given = { annotations: { "stop-after": "1m" } };
    const { steps, at, pod } = play(given, 120 * SECOND, deleted(given, 30));
    expect(steps.at(-1)?.type).toBe("delete");
    expect(at.at(-1)).toBe(30);
    expect(main(pod)?.state?.terminated?.exitCode).toBe(137);
  });

  test("goes at once when it never started", () => {
    const pod = deleted({}, 30);
    const { status: _, ...fresh } = pod;
    expect(play({}, SECOND, fresh).steps.map(({ type }) => type)).toEqual(["delete"]);
  });
});
