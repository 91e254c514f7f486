/**
 * Schedules of faults, from a seed: a leader that dies between two steps, two leaders of which one sees an old state,
 * objects that others delete or change, programs that roll out late, and new requests meanwhile. CAUSEWAY_FAULT_PODS is
 * the number of schedules (2,000 in full).
 */
import { seededIntegers } from "@causeway/foundation/testing";
import { compareVersions, type Deployment, type KubeObject, type Secret } from "@causeway/kubernetes";
import { expect, test } from "vitest";
import type { ControlPlaneSpec } from "../runtime.ts";
import { plan } from "./plan.ts";
import { isRolledOut, servedVersion, templateVersion, workload } from "./rollout.ts";
import { now, PlayedCluster } from "./testing/played-cluster.ts";
import { own, specOf } from "./testing/spec.ts";

const SCHEDULES = Number(process.env["CAUSEWAY_FAULT_PODS"] ?? 5);
const VERSIONS = ["v1.32.1", "v1.33.0", "v1.33.4", "v1.34.1"];

type Random = (below: number) => number;

/** One leader: it may plan with what it saw earlier, and may die between two steps. */
function lead(
  cluster: PlayedCluster,
  spec: ControlPlaneSpec,
  { seen, dies }: { seen: PlayedCluster; dies: number },
): void {
  const planned = plan(seen.observe(spec), now);
  for (const [index, step] of planned.steps.entries()) {
    if (index === dies) {
      // The next process does not know where it joined.
      cluster.joinedAt = undefined;
      return;
    }
    cluster.perform(step, now);
  }
}

function snapshot(cluster: PlayedCluster): PlayedCluster {
  const copy = new PlayedCluster();
  for (const [id, object] of cluster.live) copy.live.set(id, object);
  copy.namespace = cluster.namespace;
  copy.pods = [...cluster.pods];
  copy.joinedAt = cluster.joinedAt;
  return copy;
}

/**
 * Another user deletes an object, or changes its program. The copies of keys remain: the loss of both is refused, in
 * its own test.
 */
function disturb({ live }: PlayedCluster, random: Random): void {
  const ids = [...live.keys()].filter((id) => !id.endsWith("-copy") && id !== "StatefulSet/etcd");
  const id = ids[random(ids.length)];
  if (id === undefined) return;
  const object = structuredClone(live.get(id)) as KubeObject;
  if (object.kind !== "Deployment" || random(2) === 0) return void live.delete(id);
  const [container] = (object as Deployment).spec.template.spec.containers;
  if (container) container.command = ["sleep", "infinity"];
  live.set(id, object);
}

function request(spec: ControlPlaneSpec, random: Random): ControlPlaneSpec {
  const at = VERSIONS.indexOf(spec.version);
  const changes: Partial<ControlPlaneSpec>[] = [
    { version: VERSIONS[Math.min(at + 1, VERSIONS.length - 1)] ?? spec.version },
    { replicas: random(4) },
    { names: [`name-${random(3)}.example.org`] },
    { pods: own({ size: random(2) === 0 ? "Small" : "Large" }) },
  ];
  return { ...spec, ...changes[random(changes.length)] };
}

/** What holds after each step, whatever happened. */
function check(cluster: PlayedCluster, keys: Set<string>): void {
  const encryption = (cluster.live.get("Secret/encryption") as Secret | undefined)?.data?.["config.yaml"];
  if (encryption !== undefined) keys.add(encryption);
  const root = (cluster.live.get("Secret/etcd-ca") as Secret | undefined)?.data?.["ca.crt"];
  if (root !== undefined) keys.add(`authority ${root}`);
  expect(keys.size, "keys of encryption at rest, and authorities of etcd").toBeLessThanOrEqual(2);
  const [etcd, api] = ["StatefulSet/etcd", "Deployment/kube-apiserver"].map((id) => workload(cluster.live.get(id)));
  const [ofEtcd, ofApi] = [templateVersion(etcd), templateVersion(api)];
  if (ofEtcd !== undefined && ofApi !== undefined) expect(compareVersions(ofApi, ofEtcd)).toBeLessThanOrEqual(0);
  const served = servedVersion(cluster.pods, "kube-apiserver");
  const manager = templateVersion(workload(cluster.live.get("Deployment/kube-controller-manager")));
  // Controllers are never newer than the oldest API server that serves.
  if (served !== undefined && manager !== undefined && isRolledOut(api))
    expect(compareVersions(manager, served)).toBeLessThanOrEqual(0);
}

test(`${SCHEDULES} schedules of faults end as requested, with the keys of their beginning`, () => {
  for (let seed = 1; seed <= SCHEDULES; seed++) {
    const integers = seededIntegers(seed);
    const random: Random = (below) => (below <= 0 ? 0 : integers() % below);
    const cluster = new PlayedCluster();
    const keys = new Set<string>();
    let spec = specOf({ version: VERSIONS[0] ?? "" });
    let old = snapshot(cluster);
    for (let event = 0; event < 40; event++) {
      const kind = random(10);
      if (kind < 4) lead(cluster, spec, { seen: cluster, dies: random(3) === 0 ? random(6) : -1 });
      else if (kind === 4) lead(cluster, spec, { seen: old, dies: -1 });
      else if (kind === 5) disturb(cluster, random);
      else if (kind === 6) cluster.assignAddress();
      else if (kind === 7) cluster.rollOut();
      else if (kind === 8) cluster.rollOut("etcd", "kube-apiserver");
      // A minor version is skipped unless the one before is served: that is refused, in its own test.
      else if (plan(cluster.observe(spec), now).status.problem === undefined) spec = request(spec, random);
      if (random(4) === 0) old = snapshot(cluster);
      check(cluster, keys);
    }
    const { status, steps } = cluster.complete(spec);
    expect({ seed, steps, problem: status.problem }).toEqual({ seed, steps: [], problem: undefined });
    expect(status.ready).toBe(spec.replicas > 0);
    expect(servedVersion(cluster.pods, "kube-apiserver")).toBe(spec.replicas > 0 ? spec.version : undefined);
  }
});
