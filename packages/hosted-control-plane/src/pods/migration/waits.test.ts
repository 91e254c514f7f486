/** What each stage of a move waits for. */
import type { Deployment } from "@causeway/kubernetes";
import { expect, test } from "vitest";
import { plan } from "../plan.ts";
import { advance, copy, moved, reach, started, turn } from "../testing/moves.ts";
import type { MovingCluster } from "../testing/moving-cluster.ts";
import { now } from "../testing/played-cluster.ts";

/** A scheduler that is not available: the control plane is not as requested. */
function unsettle(cluster: MovingCluster): void {
  const scheduler = cluster.live.get("Deployment/kube-scheduler") as Deployment;
  const status = { ...scheduler.status, readyReplicas: 0 };
  cluster.live.set("Deployment/kube-scheduler", { ...scheduler, status } as Deployment);
}

const types = (cluster: MovingCluster) => plan(cluster.observe(moved()), now).steps.map(({ type }) => type);

test("a move begins only when the control plane is as requested", () => {
  const cluster = started();
  expect(types(cluster)).toEqual(["begin-migration"]);
  unsettle(cluster);
  expect(plan(cluster.observe(moved()), now)).toMatchObject({ steps: [], status: { problem: { actor: "none" } } });
});

test("writes are refused only when the control plane is as requested", () => {
  const cluster = started();
  reach(cluster, "Copying");
  copy(cluster);
  unsettle(cluster);
  expect(types(cluster)).toEqual([]);
  cluster.rollOut("kube-scheduler");
  expect(types(cluster)).toEqual(["record-migration"]);
});

test("API servers with the shared etcd end only when all of those with the own one are ready", () => {
  const cluster = started();
  reach(cluster, "Switching");
  turn(cluster, moved(), now);
  advance(cluster);
  const all = [...cluster.pods];
  const isNew = ({ spec }: (typeof all)[number]) =>
    spec.containers.some(({ command = [] }) => command[0] === "kube-apiserver") &&
    !JSON.stringify(spec).includes("--etcd-prefix=");
  const added = all.filter(isNew);
  expect(added).toHaveLength(2);
  cluster.pods = all.map((pod) =>
    pod === added[1] ? { ...pod, status: { ...pod.status, conditions: [{ type: "Ready", status: "False" }] } } : pod,
  );
  expect(types(cluster)).not.toContain("end-pods");
  cluster.pods = all;
  expect(types(cluster)).toEqual(["end-pods"]);
});

test("another process that continues in Freezing accepts writes, and lets copies begin again, before it copies", () => {
  const cluster = started();
  reach(cluster, "Freezing");
  cluster.frozen = true;
  cluster.own = { ...cluster.own, complete: true };
  cluster.takeOver();
  for (let turns = 0; turns < 30 && cluster.record?.stage === "Freezing"; turns++)
    for (const step of plan(cluster.observe(moved()), now).steps) cluster.perform(step, now);
  expect([cluster.record?.stage, cluster.frozen, cluster.own.complete]).toEqual(["Copying", false, false]);
});
