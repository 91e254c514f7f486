import { CausewayError } from "@causeway/foundation";
import { Secret, secretText } from "@causeway/kubernetes";
import type { Inventory } from "../inventory/model.ts";
import { knownMasterFiles } from "../masters/pki.ts";
import type { MigrationRecord } from "../record/record.ts";
import type { Tools } from "../phase.ts";
import { createEtcdClient, type EtcdClient } from "./client.ts";

/** URLs of the masters' etcd. */
export const etcdUrlsOf = (tools: Pick<Tools, "etcdUrls">, { masters }: Inventory): readonly string[] =>
  tools.etcdUrls ?? masters.map(({ address }) => `https://${address.includes(":") ? `[${address}]` : address}:2379`);

/** The masters' etcd, with the certificates of the Secret, or of the first master before there is one. */
export async function openEtcd(tools: Tools, record: MigrationRecord, signal: AbortSignal): Promise<EtcdClient> {
  const { namespace, name, inventory } = record;
  const urls = etcdUrlsOf(tools, inventory);
  const secret = await tools.management.find(Secret, { namespace, name: `${name}-etcd` }, { signal });
  const [authority, certificate, key] = ["ca.crt", "client.crt", "client.key"].map((one) => secretText(secret, one));
  if (authority !== undefined && certificate !== undefined && key !== undefined)
    return createEtcdClient({ urls, authority, certificate, key });
  const [first] = inventory.masters;
  if (!first)
    throw new CausewayError("MIGRATE_ETCD_UNREACHABLE", "The cluster has no masters", { hint: "Read the inventory." });
  const files = await knownMasterFiles(tools, first.address, signal);
  return createEtcdClient({ urls, authority: files.etcdCa, certificate: files.etcd, key: files.etcdKey });
}
