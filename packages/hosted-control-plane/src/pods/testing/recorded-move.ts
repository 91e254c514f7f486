/** A control plane whose move to an own etcd is at a given record, and what is planned for it. */
import type { Deployment, KubeObject, Namespace, Pod, Secret } from "@causeway/kubernetes";
import type { ControlPlaneSpec } from "../../runtime.ts";
import type { MigrationMemory } from "../migration/memory.ts";
import { planMigration, type MigrationPlan, type ServingPlan } from "../migration/plan-migration.ts";
import { migrationObject, type MigrationRecord, type MigrationStage } from "../migration/record.ts";
import { MIGRATION_ID } from "../migration/served.ts";
import type { Observed } from "../observed.ts";
import type { MigrationStep, Step } from "../steps.ts";
import { componentLabel, datastoreAnnotation, namespaceOf, prefixOf } from "../tenant.ts";
import { moved } from "./moves.ts";
import { now } from "./played-cluster.ts";
import { poolOf } from "./spec.ts";

/** Its namespace in the service cluster. */
export const namespaceName = namespaceOf("management", "default.web");
/** Nothing else is to be done. */
export const done: ServingPlan = { isSettled: true, isEtcdDone: true };
/** As `moved()` requests it. */
export const recordOf = (stage: MigrationStage, more: Partial<MigrationRecord> = {}): MigrationRecord => ({
  stage,
  attempt: 1,
  revision: 1_000_000,
  members: 3,
  storage: "8Gi",
  ...more,
});

/** A pod of one program; API servers are with the shared etcd where they have a prefix there. */
export const podOf = (
  component: string,
  name: string,
  { hash = "old", command = [] as string[], ready = "True", metadata = {} } = {},
) =>
  ({
    metadata: { name, labels: { [componentLabel]: component, "pod-template-hash": hash }, ...metadata },
    spec: { containers: [{ name: component, command: [component, ...command] }] },
    status: { podIP: "10.1.0.1", conditions: [{ type: "Ready", status: ready }] },
  }) as unknown as Pod;
/** What an API server with the shared etcd is started with. */
export const prefix = ["--etcd-prefix=/x/registry"];
/** A member of its own etcd. */
export const etcdPod = podOf("etcd", "etcd-0");
/** An API server with the shared etcd. */
export const sharedPod = (name = "kube-apiserver-a", more: object = {}) =>
  podOf("kube-apiserver", name, { command: prefix, ...more });
/** An API server with its own etcd. */
export const ownPod = (name = "kube-apiserver-b", more: object = {}) =>
  podOf("kube-apiserver", name, { hash: "new", ...more });
/** The Deployment of its API servers. */
export const program = (command: string[], status: object = { replicas: 2, readyReplicas: 2, updatedReplicas: 2 }) =>
  ({
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "kube-apiserver" },
    spec: { replicas: 2, template: { spec: { containers: [{ name: "kube-apiserver", command }] } } },
    status,
  }) as unknown as Deployment;

/** What a test changes. */
export interface World {
  readonly record?: MigrationRecord | undefined;
  readonly memory?: MigrationMemory;
  readonly requested?: ControlPlaneSpec;
  readonly pods?: readonly Pod[];
  /** Undefined: there is no such object. */
  readonly live?: Readonly<Record<string, KubeObject | undefined>>;
  /** Which etcd the namespace says has the data. Default: the shared one. */
  readonly datastore?: string;
  readonly more?: Partial<Observed>;
}

const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: "etcd-ca" }, data: {} } as Secret;

/** The control plane in the shared etcd, with members of its own. */
export function observed({
  record,
  memory,
  requested = moved(),
  pods = [etcdPod, sharedPod()],
  live = {},
  datastore = "Pooled",
  more = {},
}: World): Observed {
  const object = record && migrationObject("", record);
  const all: [string, KubeObject | undefined][] = [
    ["Secret/etcd-ca", secret],
    ["Deployment/kube-apiserver", program(prefix)],
    ["StatefulSet/etcd", { apiVersion: "apps/v1", kind: "StatefulSet", metadata: { name: "etcd" } }],
    [MIGRATION_ID, object && { ...object, metadata: { ...object.metadata, resourceVersion: "7" } }],
    ...Object.entries(live),
  ];
  const there = all.flatMap(([id, each]): [string, KubeObject][] => (each === undefined ? [] : [[id, each]]));
  const gone = new Set(Object.entries(live).flatMap(([id, each]) => (each === undefined ? [id] : [])));
  const annotations = { [datastoreAnnotation]: datastore };
  return {
    spec: requested,
    requested,
    migration: memory,
    settings: { owner: "management", causewayImage: "causeway:1", datastoreMoves: true },
    namespaceName,
    pods,
    membership: undefined,
    joinedAt: undefined,
    cloudConfig: undefined,
    hasEtcdUser: true,
    restored: false,
    otherControlPlanes: { controlPlanes: 0, storage: 0 },
    share: Infinity,
    live: new Map(there.filter(([id]) => !gone.has(id))),
    namespace: { metadata: { name: namespaceName, annotations } } as unknown as Namespace,
    pool: poolOf(),
    ...more,
  };
}

/** The stage that is recorded, or the type of another step. */
export const stepText = (step: Step): string =>
  step.type === "record-migration"
    ? `${step.record.stage}${step.record.failure === undefined ? "" : `: ${step.record.failure}`}`
    : step.type;
/** Its steps, what it waits for, and until when (in ms). */
export const text = ({ steps, problem, until }: MigrationPlan): string[] => [
  ...steps.map(stepText),
  ...(problem === undefined ? [] : [problem.message.replace("moving to its own etcd: waiting for ", "waits for ")]),
  ...(until === undefined ? [] : [`${until - now}`]),
];
/** What is planned, as text. */
export const planned = (world: World, serving: Partial<ServingPlan> = {}) =>
  text(planMigration(observed(world), { ...done, ...serving }, now));
/** The first step that is planned. */
export const onlyStep = (world: World) => planMigration(observed(world), done, now).steps[0] as MigrationStep;
/** Its data in the shared etcd. */
export const from = { access: poolOf().access, prefix: prefixOf(namespaceName) };
/** Nothing is known of the shared etcd. */
export const noPool = { pool: undefined };
/** The shared etcd has no quorum. */
export const unready = { pool: { ...poolOf(), ready: false } };
/** The shared etcd has it in this stage of its budget. */
export const sealed = (stage: "Sealed" | "Exceeded") => ({
  pool: { ...poolOf(), storage: { [namespaceName]: { bytes: 1, budget: 1, at: now, stage } } },
});
