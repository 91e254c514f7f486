/** A control plane that moves to its own etcd in memory, turn by turn. */
import { plan } from "../plan.ts";
import { MovingCluster } from "./moving-cluster.ts";
import { now } from "./played-cluster.ts";
import { own, specOf } from "./spec.ts";

/** In the shared etcd. */
export const shared = (replicas = 2) => specOf({ pods: { datastore: { type: "Pooled" } }, replicas });
/** In its own. */
export const moved = (replicas = 2) => specOf({ pods: own({ datastore: { members: 3 } }), replicas });

/** Plans and performs until nothing is left to do but to wait. */
export function turn(cluster: MovingCluster, spec: ReturnType<typeof specOf>, at: number): ReturnType<typeof plan> {
  for (let round = 0; round < 40; round++) {
    const planned = plan(cluster.observe(spec), at);
    if (planned.steps.length === 0) return planned;
    for (const step of planned.steps) cluster.perform(step, at);
    use(cluster);
  }
  throw new Error("it does not come to an end");
}

/** Turns, rollouts and writes until it is in a stage. */
export function reach(cluster: MovingCluster, stage: string, { spec = moved(), at = now, stops = 30 } = {}): void {
  for (let turns = 0; cluster.record?.stage !== stage; turns++) {
    if (turns === stops) throw new Error(`in stage ${cluster.record?.stage}`);
    const planned = plan(cluster.observe(spec), at);
    for (const step of planned.steps) {
      cluster.perform(step, at);
      use(cluster);
      if (cluster.record?.stage === stage) return;
    }
    if (planned.steps.length === 0) advance(cluster);
  }
}

/** In stage Copying, until the data was copied. */
export function copy(cluster: MovingCluster): void {
  for (let turns = 0; cluster.performed.at(-1) !== "copy-datastore"; turns++) {
    if (turns === 30) throw new Error("nothing is copied");
    turn(cluster, moved(), now);
    if (cluster.record?.stage !== "Copying") throw new Error("it continued before it copied");
    advance(cluster);
    for (const step of plan(cluster.observe(moved()), now).steps) cluster.perform(step, now);
  }
}

/** What the service cluster does meanwhile: new API servers start next to the old ones. */
export function advance(cluster: MovingCluster): void {
  cluster.assignAddress();
  cluster.rollOut("etcd", "kube-controller-manager", "kube-scheduler");
  if (!cluster.live.has("StatefulSet/etcd"))
    cluster.pods = cluster.pods.filter(({ metadata }) => !metadata.name.startsWith("etcd-"));
  if (cluster.record?.stage === "Switching") cluster.surge();
  else cluster.rollOut("kube-apiserver");
}

/** One in the shared etcd. */
export function started(): MovingCluster {
  const cluster = new MovingCluster();
  cluster.complete(shared());
  cluster.performed.splice(0);
  return cluster;
}

function use(cluster: MovingCluster): void {
  const lost = cluster.use();
  if (lost !== undefined) throw new Error(`a client lost something: ${lost}`);
}
