import { InputError } from "@causeway/foundation";
import { ConfigMap, isAlreadyExists, Namespace, type KubernetesClient } from "@causeway/kubernetes";
import { namespaceOf, objectNameOf } from "@causeway/magnum-api";
import type { NodeImage } from "../inventory/images.ts";
import type { Inventory } from "../inventory/model.ts";

/** The phases in their order: each needs all before it. */
export const phaseNames = ["discover", "freeze", "import", "switch", "adopt", "roll", "retire"] as const;
/** One of `phaseNames`. */
export type PhaseName = (typeof phaseNames)[number];

/** A phase that is done, and what it proved. */
export interface Done {
  readonly at: string;
  readonly proof: readonly string[];
}

/** The state of one migration, kept in a ConfigMap next to the cluster's objects. */
export interface MigrationRecord {
  readonly namespace: string;
  /** Of the cluster's objects. */
  readonly name: string;
  readonly inventory: Inventory;
  readonly phases: Readonly<Partial<Record<PhaseName, Done>>>;
  /** The phase that was begun last, done or not. */
  readonly begun: PhaseName;
  /** What new nodes boot from; undefined: from the images that Heat's have. */
  readonly nodeImage?: NodeImage;
}

/** On the ConfigMaps with records of migrations. */
export const migrationLabel = "magnum.causeway.dev/migration";
const KEY = "record.json";
const nameOf = (name: string): string => `${name}-migration`;

/** A new record: nothing is done but what it was made from. */
export function newRecord(inventory: Inventory): MigrationRecord {
  const { projectId, name, uuid } = inventory;
  return {
    namespace: namespaceOf(projectId),
    name: objectNameOf(name, uuid),
    inventory,
    phases: {},
    begun: "discover",
  };
}

/** The record of a cluster, by its uuid or its name. @throws MIGRATE_NOT_DISCOVERED */
export async function readRecord(
  client: KubernetesClient,
  ident: string,
  signal: AbortSignal,
): Promise<MigrationRecord> {
  const found = await findRecord(client, ident, signal);
  if (found !== undefined) return found;
  throw new InputError("MIGRATE_NOT_DISCOVERED", `No migration of cluster ${ident} was begun`, {
    hint: `Begin with: causeway migrate magnum discover ${ident}`,
  });
}

/** Undefined: no migration of the cluster was begun. @throws MIGRATE_NOT_DISCOVERED for a name that several have */
export async function findRecord(
  client: KubernetesClient,
  ident: string,
  signal: AbortSignal,
): Promise<MigrationRecord | undefined> {
  const { items } = await client.list(ConfigMap, { labelSelector: migrationLabel, signal });
  const records = items.flatMap(({ data }) =>
    data?.[KEY] === undefined ? [] : [JSON.parse(data[KEY]) as MigrationRecord],
  );
  const found = records.filter(({ inventory }) => inventory.uuid === ident || inventory.name === ident);
  if (found.length <= 1) return found[0];
  throw new InputError("MIGRATE_NOT_DISCOVERED", `Several migrations are of a cluster ${ident}`, {
    hint: "Specify it by its UUID.",
  });
}

/** Creates the namespace of the project's clusters unless it exists. */
export async function ensureNamespace(
  client: KubernetesClient,
  { namespace }: Pick<MigrationRecord, "namespace">,
  signal: AbortSignal,
): Promise<void> {
  try {
    await client.create(Namespace, { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } }, { signal });
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
}

/** Writes the record, and its namespace where there is none. */
export async function writeRecord(
  client: KubernetesClient,
  record: MigrationRecord,
  signal: AbortSignal,
): Promise<void> {
  const { namespace, name, inventory } = record;
  await ensureNamespace(client, record, signal);
  const object: ConfigMap = {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: nameOf(name), namespace, labels: { [migrationLabel]: inventory.uuid } },
    data: { [KEY]: JSON.stringify(record) },
  };
  await client.apply(ConfigMap, object, { fieldManager: "causeway-migrate", force: true, signal });
}

/** Deletes the record: the cluster counts as never discovered. */
export async function deleteRecord(
  client: KubernetesClient,
  { namespace, name }: MigrationRecord,
  signal: AbortSignal,
): Promise<void> {
  await client.delete(ConfigMap, { namespace, name: nameOf(name) }, { signal });
}
