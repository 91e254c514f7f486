import type { KubeObject, Namespace } from "@causeway/kubernetes";
import type { ControlPlaneSpec, ControlPlaneState } from "../../runtime.ts";
import { etcdMembers } from "../objects/etcd.ts";
import { isPooled } from "../options.ts";
import { idOf } from "../live.ts";
import type { ServiceCluster } from "../service-cluster.ts";
import { datastoreAnnotation, migratingAnnotation } from "../tenant.ts";
import { MIGRATION_NAME, parseMigration, type MigrationRecord } from "./record.ts";

/** What says which datastore serves a control plane. */
export interface ServedFrom {
  readonly namespace: Namespace | undefined;
  readonly live: ReadonlyMap<string, KubeObject>;
}

/** As it is in the caches of the service cluster. */
export function servedFrom({ namespaces, objects }: ServiceCluster, name: string): ServedFrom {
  const found = objects.flatMap((informer) => informer.list(name)).filter((object) => idOf(object) === MIGRATION_ID);
  return {
    namespace: namespaces.get({ namespace: "", name }),
    live: new Map(found.map((object) => [MIGRATION_ID, object])),
  };
}

/** The ConfigMap with the record. */
export const MIGRATION_ID = `ConfigMap/${MIGRATION_NAME}`;

/** The record; one that another program deleted is replaced by one that leads back to the shared etcd. */
export function migrationOf({ namespace, live }: ServedFrom): MigrationRecord | undefined {
  const record = parseMigration(live.get(MIGRATION_ID));
  if (record !== undefined || namespace?.metadata.annotations?.[migratingAnnotation] === undefined) return record;
  const failure = "the ConfigMap with its record was deleted";
  return { stage: "Returning", attempt: 1, revision: 0, members: 1, failure, failures: 1 };
}

/** Which datastore has the data that clients changed last. Undefined: the control plane was not created yet. */
export function datastoreWithData(from: ServedFrom): "Pooled" | "Own" | undefined {
  const stage = migrationOf(from)?.stage;
  if (stage === "Retained" || stage === "Done") return "Own";
  const chosen = from.namespace?.metadata.annotations?.[datastoreAnnotation];
  return chosen === "Pooled" || chosen === "Own" ? chosen : undefined;
}

/** The request as its programs are to run now: while data is copied they remain in the shared etcd. */
export function servedSpec(requested: ControlPlaneSpec, from: ServedFrom): ControlPlaneSpec {
  const record = migrationOf(from);
  if (record?.stage === "Switching") return ownSpec(requested, record);
  const type = datastoreWithData(from) ?? typeOf(requested);
  return type === typeOf(requested) ? requested : withDatastore(requested, { type });
}

/** The request with its own etcd, as many members and such volumes as the migration began with. */
export function ownSpec(requested: ControlPlaneSpec, record: EtcdWanted): ControlPlaneSpec {
  const { members, storage, storageClassName } = record;
  const volumes = storage === undefined ? {} : { storage, storageClassName };
  return withDatastore(requested, { type: "Own", members, ...volumes });
}

/** Members and volumes of an own etcd. */
export type EtcdWanted = Pick<MigrationRecord, "members" | "storage" | "storageClassName">;

/** Of the own etcd that is requested. */
export function etcdWanted({ pods }: ControlPlaneSpec): EtcdWanted {
  const { storage = DEFAULT_STORAGE, storageClassName } = pods?.datastore ?? {};
  return { members: etcdMembers(pods?.datastore), storage, ...(storageClassName ? { storageClassName } : {}) };
}

const DEFAULT_STORAGE = "8Gi";

function withDatastore(spec: ControlPlaneSpec, change: object): ControlPlaneSpec {
  return { ...spec, pods: { ...spec.pods, datastore: { ...spec.pods?.datastore, ...change } } };
}

function typeOf(spec: ControlPlaneSpec): "Pooled" | "Own" {
  return isPooled(spec) ? "Pooled" : "Own";
}

/** Does anything of it need the shared etcd still? */
export function usesPool(requested: ControlPlaneSpec, from: ServedFrom): boolean {
  const stage = migrationOf(from)?.stage;
  if (stage !== undefined && stage !== "Done") return true;
  return (datastoreWithData(from) ?? typeOf(requested)) === "Pooled";
}

/** It is on its way: both etcds are there, and the shared one has the data. */
export function isBetween(from: ServedFrom): boolean {
  const stage = migrationOf(from)?.stage;
  return stage !== undefined && stage !== "Withdrawn" && datastoreWithData(from) !== "Own";
}

/** A process has all of its data in memory, or is about to. */
export function isCopying(from: ServedFrom): boolean {
  const stage = migrationOf(from)?.stage;
  return stage === "Copying" || stage === "Freezing";
}

/** What users read of it. */
export function migrationState(from: ServedFrom): Pick<ControlPlaneState, "migration"> {
  const record = migrationOf(from);
  if (record === undefined) return {};
  const { stage, attempt, keys, hash, failure } = record;
  const compared = { ...(keys === undefined ? {} : { keys }), ...(hash === undefined ? {} : { hash }) };
  return { migration: { stage, attempt, ...compared, ...(failure === undefined ? {} : { failure }) } };
}
