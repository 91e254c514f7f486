/** A control plane whose own etcd has given members. */
import type { KubeObject, Pod } from "@causeway/kubernetes";
import type { Observed } from "../observed.ts";
import { membersAnnotation, registeredAnnotation } from "../plan-members.ts";
import type { Step } from "../steps.ts";
import { componentLabel, rotationStageAnnotation } from "../tenant.ts";
import { own, specOf } from "./spec.ts";

/** What its StatefulSet says. */
export interface Etcd {
  /** How many members it had when their number began to change. */
  readonly settled?: number | string;
  /** 0: no other number is noted. */
  readonly registered?: number;
  /** Members in the command of the template, and whether they are joined. */
  readonly initial?: number;
  readonly joins?: boolean;
  readonly partition?: number;
}

/** What a test changes. */
export interface World {
  readonly wanted?: 1 | 3;
  readonly pooled?: boolean;
  readonly replicas?: number;
  readonly etcd?: Etcd | "none";
  /** Names of members; "+" after one: it is a learner. */
  readonly members?: readonly string[] | "unknown";
  readonly leader?: string;
  /** Pods of members, by ordinal; "-" before one: it is not ready. */
  readonly pods?: readonly string[];
  /** The etcds in the command of API servers. */
  readonly servers?: number | "none";
  readonly isRolledOut?: boolean;
  /** The stage of the rotation of etcd's authority. */
  readonly rotation?: string;
  readonly more?: Partial<Observed>;
}

/** One member, and three are wanted. */
export function observedMembers(world: World = {}): Observed {
  const { wanted = 3, etcd = {}, members = ["etcd-0"], pods = ["0"], servers = 1, rotation, more } = world;
  const annotations = rotation === undefined ? {} : { [rotationStageAnnotation]: rotation };
  const authority = { metadata: { name: "etcd-ca", annotations } };
  const live = {
    ...(etcd === "none" ? {} : { "StatefulSet/etcd": statefulSet(etcd, members.length) }),
    ...(servers === "none" ? {} : { "Deployment/kube-apiserver": apiServers(servers, world.isRolledOut ?? true) }),
    "Secret/etcd-ca": authority,
    "Secret/etcd-ca-copy": authority,
  };
  const datastore = { members: wanted };
  return {
    spec: specOf({
      replicas: world.replicas ?? 2,
      pods: world.pooled === true ? { datastore: { type: "Pooled", ...datastore } } : own({ datastore }),
    }),
    namespaceName: "hcp-web",
    live: new Map(Object.entries(live) as [string, KubeObject][]),
    pods: pods.map(podOf),
    membership: members === "unknown" ? undefined : membership(members, world),
    ...more,
  } as Observed;
}

const urls = (count: number) => Array.from({ length: count }, (_, index) => `https://etcd-${index}`).join(",");

function statefulSet({ settled = 1, registered, initial = 1, joins = false, partition }: Etcd, count: number) {
  const state = `--initial-cluster-state=${joins ? "existing" : "new"}`;
  const command = ["etcd", `--initial-cluster=${urls(initial)}`, state];
  const noted = registered ?? count;
  return {
    metadata: {
      name: "etcd",
      annotations: {
        ...(settled === "" ? {} : { [membersAnnotation]: String(settled) }),
        ...(noted === 0 ? {} : { [registeredAnnotation]: String(noted) }),
      },
    },
    spec: {
      template: { spec: { containers: [{ command }] } },
      ...(partition === undefined ? {} : { updateStrategy: { rollingUpdate: { partition } } }),
    },
  };
}

function apiServers(servers: number, isRolledOut: boolean) {
  const command = ["kube-apiserver", `--etcd-servers=${urls(servers)}`];
  return {
    metadata: { name: "kube-apiserver" },
    spec: { replicas: 2, template: { spec: { containers: [{ command }] } } },
    status: { replicas: 2, updatedReplicas: 2, readyReplicas: isRolledOut ? 2 : 0 },
  };
}

function membership(members: readonly string[], world: World) {
  const all = members.map((each) => {
    const name = each.replace("+", "");
    return { id: `id ${name}`, name: name.startsWith("etcd") ? name : undefined, isLearner: each.endsWith("+") };
  });
  return { members: all, leader: world.leader === "none" ? undefined : `id ${world.leader ?? all[0]?.name ?? ""}` };
}

function podOf(ordinal: string): Pod {
  const conditions = [{ type: "Ready", status: ordinal.startsWith("-") ? "False" : "True" }];
  const name = `etcd-${ordinal.replace("-", "")}`;
  return {
    metadata: { name, labels: { [componentLabel]: "etcd" } },
    spec: { containers: [] },
    status: { podIP: `10.0.0.${name.slice(5)}`, conditions },
  } as unknown as Pod;
}

/** "remove etcd-2": a step that changes members. */
export function memberStep(step: Step): string {
  switch (step.type) {
    case "add-etcd-member":
      return `add ${step.peerUrl}`;
    case "promote-etcd-member":
      return `promote ${step.id.slice(3)}`;
    case "move-etcd-leader":
      return `lead ${step.to.slice(3)}`;
    case "remove-etcd-member":
      return `remove ${step.id.slice(3)}`;
    default:
      return step.type;
  }
}
