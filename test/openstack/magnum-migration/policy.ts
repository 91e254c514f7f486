/** The policy file of the devcloud's Magnum, by which an operator denies changes of a cluster. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const FILE = join(process.env["DEVCLOUD_DIR"] ?? "/var/lib/devcloud", "etc/magnum/policy.yaml");
/** Magnum that has read a policy file once responds with 500 when it is gone: it stays, and changes nothing. */
const NOTHING = "{}\n";

/**
 * The rules of Magnum 15 but for this cluster, as MIGRATE_NOT_DENIED says it. What is returned takes the rules away
 * again.
 */
export function denyChanges(uuid: string): () => void {
  if (existsSync(FILE) && readFileSync(FILE, "utf8").trim() !== NOTHING.trim())
    throw new Error(`${FILE} has rules: another test denies changes of its cluster, or did not take its rules away`);
  const rule = `"rule:deny_cluster_user and not '${uuid}':%(uuid)s"`;
  const rules = ["update", "delete", "resize", "upgrade"].map((action) => `"cluster:${action}": ${rule}`);
  writeFileSync(FILE, `${rules.join("\n")}\n`);
  return () => writeFileSync(FILE, NOTHING);
}
