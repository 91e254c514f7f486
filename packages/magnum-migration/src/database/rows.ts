import { CausewayError } from "@causeway/foundation";
import { isUuid } from "@causeway/magnum-api";
import type { MagnumDatabase } from "./database.ts";

/** What of a cluster's row is needed to delete what belongs to it. Empty text: Magnum made none. */
export interface MagnumRow {
  readonly trustId: string;
  readonly trusteeId: string;
  /** The cluster's certificates: ids of rows, or URLs of Barbican. */
  readonly certificates: readonly string[];
}

/** Begins the lines of ours in what the program prints: there may be headings, which begin with the other. */
const [MARK, HEADING] = ["causeway-row", "magnum_row"];
const columns = ["trust_id", "trustee_user_id", "ca_cert_ref", "magnum_cert_ref"] as const;
/** Of releases since Rocky: they had their own authorities from then on. */
const more = ["etcd_ca_cert_ref", "front_proxy_ca_cert_ref"] as const;

/** The row of a cluster; undefined: there is none. @throws MIGRATE_DATABASE_FAILED */
export async function readRow(
  database: MagnumDatabase,
  uuid: string,
  signal: AbortSignal,
): Promise<MagnumRow | undefined> {
  const values = [...columns, ...more].map((name) => `COALESCE(${name}, '')`).join(", ");
  const lines = await database.run(
    `SELECT '${MARK}' AS ${HEADING}, ${values} FROM cluster WHERE uuid = '${safe(uuid)}';\n`,
    signal,
  );
  const line = lines.find((one) => one.startsWith(`${MARK}\t`));
  if (line === undefined) return undefined;
  const [, trustId = "", trusteeId = "", ...certificates] = line.split("\t");
  return { trustId, trusteeId, certificates: certificates.filter((one) => one !== "") };
}

/**
 * Statements that delete the row, its node groups and its certificates, together or not at all; Magnum's API would
 * delete the cluster's load balancers, too.
 */
export function deletionSql(uuid: string, { certificates }: Pick<MagnumRow, "certificates">): string {
  const ids = certificates.filter((one) => isUuid(one)).map((one) => `'${one}'`);
  return [
    "BEGIN;",
    ...(ids.length === 0 ? [] : [`DELETE FROM x509keypair WHERE uuid IN (${ids.join(", ")});`]),
    `DELETE FROM nodegroup WHERE cluster_id = '${safe(uuid)}';`,
    `DELETE FROM cluster WHERE uuid = '${safe(uuid)}';`,
    "COMMIT;",
    "",
  ].join("\n");
}

/** Only a UUID becomes part of a statement. */
function safe(uuid: string): string {
  if (isUuid(uuid)) return uuid;
  throw new CausewayError("MIGRATE_DATABASE_FAILED", `"${uuid}" is not a UUID of a cluster`, {
    hint: "Discover the cluster again: its UUID is read from Magnum.",
  });
}
