import { HostedControlPlane, MagnumCluster, MagnumClusterTemplate, type Manifest } from "@causeway/api";
import type { KubernetesClient } from "@causeway/kubernetes";
import type { Cloud } from "@causeway/openstack";
import { inventoryOf } from "../inventory/inventory.ts";
import { readCluster } from "../inventory/read.ts";
import { clusterManifests } from "../phases/import/objects.ts";
import { magnumClusterOf, magnumTemplateOf } from "../record/rows.ts";
import { newRecord, writeRecord, type MigrationRecord } from "../record/record.ts";

export interface SwitchedOptions {
  readonly cloud: Cloud;
  readonly management: KubernetesClient;
  readonly cloudsYaml: string;
}

/**
 * The state after the phase switch, with an embedded control plane of its own in place of one that joined the masters'
 * etcd: what adopt and roll work on, without real programs. The control plane's data is new.
 */
export async function makeSwitched(
  { cloud, management, cloudsYaml }: SwitchedOptions,
  ident: string,
): Promise<MigrationRecord> {
  const signal = new AbortController().signal;
  const inventory = inventoryOf(await readCluster(cloud, ident, signal));
  const done = { at: new Date().toISOString(), proof: ["made by a test"] };
  const record: MigrationRecord = {
    ...newRecord(inventory),
    phases: { discover: done, freeze: done, import: done, switch: done },
    begun: "switch",
  };
  await writeRecord(management, record, signal);
  // The discovery shows it, in the namespace of the record.
  await management.create(MagnumClusterTemplate, magnumTemplateOf(inventory), { signal });
  const cluster = magnumClusterOf(record, "import", done.at);
  await management.create(MagnumCluster, cluster, { signal });
  const owner = await management.get(MagnumCluster, { namespace: record.namespace, name: record.name }, { signal });
  const keystone = { authUrl: "http://keystone.invalid/v3" };
  const given = { members: [], peerHost: "127.0.0.1", cloudsYaml, keystone };
  for (const { type, object } of clusterManifests(record, owner, given))
    await management.create(type, object.kind === HostedControlPlane.kind ? embedded(object) : object, { signal });
  return record;
}

function embedded(object: Manifest["object"]): Manifest["object"] {
  const { spec, ...rest } = object as unknown as HostedControlPlane;
  return { ...rest, spec: { version: spec.version } } as unknown as Manifest["object"];
}
