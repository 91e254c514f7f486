import type { Namespace } from "@causeway/kubernetes";
import { expect, test } from "vitest";
import { plan } from "../plan.ts";
import { now, PlayedCluster } from "../testing/played-cluster.ts";
import { own, specOf } from "../testing/spec.ts";
import { handOverAnnotation } from "../tenant.ts";
import { planTransfer } from "./plan-transfer.ts";
import { acknowledgement } from "./request.ts";

const spec = specOf({ pods: own() });
/** Renewals, an upgrade, a removed object: whatever there is to do. */
const much = { ...spec, version: "v1.34.1" };
const YEARS = 3 * 365 * 24 * 3600_000;
const transferOf = (namespace: Namespace) =>
  planTransfer({
    id: spec.id,
    from: "management",
    to: "next",
    management: { from: "uid-1", to: "uid-2" },
    namespaces: [namespace],
  });

function annotate(cluster: PlayedCluster, annotations: Readonly<Record<string, string | null>>): void {
  const { metadata, ...rest } = cluster.namespace as Namespace;
  const all = Object.entries({ ...metadata.annotations, ...annotations }).filter(([, value]) => value !== null);
  cluster.namespace = { ...rest, metadata: { ...metadata, annotations: Object.fromEntries(all) as never } };
}

/** Handed over by all that `planTransfer` says, to a manager that has seen nothing of it before. */
function handOver(source: PlayedCluster): PlayedCluster {
  annotate(source, { [handOverAnnotation]: JSON.stringify({ id: "1", to: "next" }) });
  const held = plan(source.observe(much), now + YEARS);
  expect(held.steps).toEqual([expect.objectContaining({ type: "acknowledge" })]);
  for (const step of held.steps) source.perform(step, now);
  const target = new PlayedCluster({ ...source.settings, owner: "next", management: "uid-2" });
  const step = acknowledgement(source.namespace as Namespace, target.settings);
  if (typeof step === "string") throw new Error(step);
  source.perform(step, now);
  const next = transferOf(source.namespace as Namespace);
  if (next.type !== "switch") throw new Error(next.type);
  annotate(source, next.annotations);
  target.namespace = source.namespace;
  target.adopted = source.observe(spec).namespaceName;
  target.pods = source.pods;
  for (const [id, object] of source.live) target.live.set(id, object);
  return target;
}

function serving(): PlayedCluster {
  const cluster = new PlayedCluster({ management: "uid-1" });
  cluster.complete(spec);
  return cluster;
}

test("a control plane that is to be handed over is left as it is, whatever there is to do, and its pods are reported as before", () => {
  const source = serving();
  annotate(source, { [handOverAnnotation]: JSON.stringify({ id: "1", to: "next" }) });
  source.live.delete("Service/kube-apiserver");
  for (const step of plan(source.observe(much), now + YEARS).steps) source.perform(step, now);
  const { steps, status } = plan(source.observe(much), now + YEARS);
  expect(steps).toEqual([]);
  expect(status).toMatchObject({ ready: true, problem: { code: "PODS_HANDED_OVER" } });
});

test("the manager that had it refuses it after the hand-over, also when it starts again", () => {
  const source = serving();
  handOver(source);
  source.joinedAt = undefined;
  const { steps, status } = plan(source.observe(much), now + YEARS);
  expect(steps).toEqual([]);
  expect(status).toMatchObject({ problem: { code: "PODS_NAMESPACE_FOREIGN" } });
});

test("the next manager writes whose it is, and changes nothing else", () => {
  const target = handOver(serving());
  target.settle(spec);
  const changed = target.performed.filter((each) => each !== "create-join-objects");
  expect(changed).toEqual(["apply-namespace"]);
  expect(target.namespace?.metadata.annotations).toMatchObject({ "controlplane.causeway.dev/owner": "next" });
});

test("the next manager upgrades it as its own", () => {
  const target = handOver(serving());
  target.complete(much);
  expect(target.performed).toContain("apply Deployment/kube-apiserver");
  expect(plan(target.observe(much), now).status).toMatchObject({ ready: true, version: "v1.34.1" });
});

test("a hand-over that is given up leaves it to the manager that has it", () => {
  const source = serving();
  annotate(source, { [handOverAnnotation]: JSON.stringify({ id: "1", to: "next" }) });
  for (const step of plan(source.observe(much), now).steps) source.perform(step, now);
  annotate(source, { [handOverAnnotation]: null });
  expect(plan(source.observe(much), now).steps).not.toEqual([]);
});
