/**
 * A rotation of roots on the pods planner: schedules of faults from a seed (a leader that dies between two steps, one
 * that sees an old state, programs that roll out late or one by one). CAUSEWAY_FAULT_PODS is the number of schedules.
 */
import { seededIntegers } from "@causeway/foundation/testing";
import type { KubeObject } from "@causeway/kubernetes";
import { expect, test } from "vitest";
import { rootsDigest, servingRoot, trustedBy, type ControlPlaneSpec } from "../runtime.ts";
import { plan } from "./plan.ts";
import { templateCredentials, workload } from "./rollout.ts";
import type { Step } from "./steps.ts";
import { now, PlayedCluster } from "./testing/played-cluster.ts";
import { specOf } from "./testing/spec.ts";

const SCHEDULES = Number(process.env["CAUSEWAY_FAULT_PODS"] ?? 4);
const [older, newer] = ["OLD", "NEW"].map((certificate) => ({ certificate, key: "SECRET-VALUE" })) as [
  { certificate: string; key: string },
  { certificate: string; key: string },
];
const base = specOf();
/** The requests of a rotation, in its order. */
const stages: readonly ControlPlaneSpec[] = [
  { ...base, authority: older },
  { ...base, authority: older, rotation: { trusted: ["NEW"], serving: older, accountKeys: [] } },
  { ...base, authority: newer, rotation: { trusted: ["OLD"], serving: older, accountKeys: [] } },
  { ...base, authority: newer },
];

/** The roots that a program runs with, by the digest of its credentials. */
type Roots = Map<string, ControlPlaneSpec>;

/** Which roots went into which template: templates name their Secrets by digest. */
function learn(cluster: PlayedCluster, issued: Map<string, ControlPlaneSpec>, roots: Roots): void {
  for (const name of ["kube-apiserver", "kube-controller-manager"]) {
    const running = workload(cluster.live.get(`Deployment/${name}`));
    const spec = issued.get(name);
    const digest = `${name} ${templateCredentials(running)}`;
    if (running !== undefined && spec !== undefined && !roots.has(digest)) roots.set(digest, spec);
  }
}

const rootsOfPods = (cluster: PlayedCluster, name: string, roots: Roots): ControlPlaneSpec[] =>
  cluster.pods
    .filter(({ metadata }) => metadata.name.startsWith(`${name}-`))
    .flatMap(({ metadata }) => {
      const annotation = metadata.annotations?.["controlplane.causeway.dev/credentials"] ?? "";
      return roots.get(`${name} ${annotation}`) ?? [];
    });

test(`in ${SCHEDULES} schedules of faults every program that runs trusts every other one through a rotation`, () => {
  let stagesSeen = 0;
  for (let seed = 1; seed <= SCHEDULES; seed++) {
    const integers = seededIntegers(seed);
    const random = (below: number): number => integers() % below;
    const cluster = new PlayedCluster();
    const issued = new Map<string, ControlPlaneSpec>();
    const roots: Roots = new Map();
    let at = 0;
    const perform = (step: Step, spec: ControlPlaneSpec): void => {
      const before = "id" in step ? cluster.live.get(step.id)?.metadata.resourceVersion : undefined;
      cluster.perform(step, now);
      const isWritten = step.type === "issue" && cluster.live.get(step.id)?.metadata.resourceVersion !== before;
      if (isWritten) issued.set(step.credentials.name, spec);
      learn(cluster, issued, roots);
    };
    for (let event = 0; event < 600 && at < stages.length; event++) {
      const spec = stages[at] as ControlPlaneSpec;
      const kind = random(14);
      if (kind === 0) cluster.assignAddress();
      else if (kind <= 4) cluster.rollOut();
      else if (kind <= 6) cluster.rollOut("kube-apiserver");
      else if (kind === 7) cluster.live.delete(["Secret/kube-apiserver", "Deployment/kube-scheduler"][random(2)] ?? "");
      else {
        const { steps, status } = plan(cluster.observe(spec), now);
        const dies = random(3) === 0 ? random(6) : Infinity;
        for (const [index, step] of steps.entries()) if (index < dies) perform(step, spec);
        if (dies !== Infinity) cluster.joinedAt = undefined;
        const isSettled = status.ready && status.problem === undefined && status.starting !== true;
        // As the controller of the objects does: it continues when nothing is left to do.
        if (steps.length === 0 && isSettled) {
          at += 1;
          stagesSeen += 1;
        }
      }
      const servers = rootsOfPods(cluster, "kube-apiserver", roots);
      const managers = rootsOfPods(cluster, "kube-controller-manager", roots);
      for (const server of servers)
        for (const manager of managers) {
          expect(trustedBy(server), `seed ${seed}: a controller's client certificate`).toContain(
            manager.authority.certificate,
          );
          expect(trustedBy(manager), `seed ${seed}: an API server's certificate`).toContain(
            servingRoot(server).certificate,
          );
        }
    }
    expect({ seed, at }).toEqual({ seed, at: stages.length });
  }
  expect(stagesSeen).toBe(SCHEDULES * stages.length);
});

test("a rotation is complete when cluster-info has the roots, and without one nothing is written again", () => {
  const cluster = new PlayedCluster();
  const [first, trusting, , last] = stages as [ControlPlaneSpec, ControlPlaneSpec, ControlPlaneSpec, ControlPlaneSpec];
  cluster.complete(first);
  const written = cluster.performed.length;
  expect(cluster.complete(first).steps).toEqual([]);
  expect(cluster.performed.length).toBe(written);
  const early = plan(cluster.observe(trusting), now);
  expect(early.steps.map((step) => ("id" in step ? `${step.type} ${step.id}` : step.type))).toEqual([
    "issue Secret/kube-apiserver",
    "issue Secret/kube-controller-manager",
    "issue Secret/kube-scheduler",
  ]);
  expect(cluster.complete(trusting).status).toMatchObject({ ready: true });
  expect(cluster.joinedAt).toMatch(/^https:\/\/[^#]+#[0-9a-f]{32}$/);
  expect(cluster.performed.filter((each) => each === "create-join-objects")).toHaveLength(2);
  cluster.complete(last);
  expect(cluster.joinedAt).not.toContain("#");
  expect(new Set(stages.map(rootsDigest)).size).toBe(stages.length);
});

test("the Secrets of programs have what they trust apart from what signs", () => {
  const cluster = new PlayedCluster();
  cluster.complete(stages[2] as ControlPlaneSpec);
  const manager = cluster.live.get("Deployment/kube-controller-manager") as KubeObject;
  const text = JSON.stringify(manager);
  expect(text).toMatch(/--cluster-signing-cert-file=\S*\/signing-ca\.crt/);
  expect(text).toMatch(/--root-ca-file=\S*\/ca\.crt/);
});
