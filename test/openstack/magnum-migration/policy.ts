/** The policy file of the devcloud's Magnum, by which an operator denies changes of a cluster. */
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { devcloudFolder } from "./devcloud.ts";

const file = (): string => join(devcloudFolder(), "etc/magnum/policy.yaml");
/** Magnum that has read a policy file once responds with 500 when it is gone: it remains, and changes nothing. */
const NOTHING = "{}\n";

/** The policy as it is; it is what `restorePolicy` is given. */
export function readPolicy(): string {
  return existsSync(file()) ? readFileSync(file(), "utf8") : NOTHING;
}

/** Adds to the given policy the rules of Magnum 15 but for this cluster, as MIGRATE_NOT_DENIED says them. */
export function denyChanges(uuid: string, before: string): void {
  if (before.trim() !== NOTHING.trim())
    throw new Error(`${file()} has rules that no run of this test wrote, and that its own would replace`);
  const rule = `"rule:deny_cluster_user and not '${uuid}':%(uuid)s"`;
  const rules = ["update", "delete", "resize", "upgrade"].map((action) => `"cluster:${action}": ${rule}`);
  replace(`${rules.join("\n")}\n`);
}

export function restorePolicy(before: string): void {
  if (readPolicy() !== before) replace(before);
}

/** Magnum reads the file at any moment: it is never half there. */
function replace(text: string): void {
  const half = `${file()}.${process.pid}`;
  writeFileSync(half, text);
  renameSync(half, file());
}
