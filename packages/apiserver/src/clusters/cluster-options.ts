import { canonicalJson, CausewayError } from "@causeway/foundation";
import type { LogicalClusterOptions } from "../interface.ts";
import { isRecord, type Json } from "../json/json.ts";
import type { StateFiles } from "../store/state-files.ts";
import type { Opened } from "./served-clusters.ts";

const NAME = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/;

/** Throws APISERVER_NAME_INVALID. */
export function checkName(name: string): void {
  if (NAME.test(name)) return;
  throw new CausewayError("APISERVER_NAME_INVALID", `"${name}" cannot name a logical cluster`, {
    hint: "Use lower-case letters, digits, '-' and '.', at most 253.",
  });
}

/** The options that a cluster was made with, without its keys; none for one that is not there. */
export function savedOptions(files: StateFiles, folder: string): LogicalClusterOptions {
  const saved = files.read(`${folder}/cluster.json`);
  const parsed: unknown = saved === undefined ? {} : JSON.parse(saved);
  return isRecord(parsed) ? (parsed as LogicalClusterOptions) : {};
}

/**
 * The options by which what is requested is not what is. Roots
 * that were kept, and a port that was found, count as requested.
 */
export function differences({ open, listener }: Opened, asked: LogicalClusterOptions): string[] {
  const { authority, serviceAccountKey } = open.cluster;
  const rotation = open.rotation ?? "none";
  const onPort = (listen: LogicalClusterOptions["listen"]) =>
    listen && { ...listen, port: listen.port || (listener?.port ?? 0) };
  const has: LogicalClusterOptions = { audit: "none", ...open.options, authority, serviceAccountKey, rotation };
  const pairs = Object.entries({ ...asked, listen: onPort(asked.listen) } as Json);
  const standing = { ...has, listen: onPort(has.listen) } as Json;
  return pairs
    .filter(([name, value]) => value !== undefined && canonicalJson(value) !== canonicalJson(standing[name]))
    .map(([name]) => name);
}

/** Are these options that change while the cluster is served? */
export function areLive(options: readonly string[]): boolean {
  const live = ["authority", "serviceAccountKey", "rotation", "frontProxy", "authentication", "audit"];
  return options.every((option) => live.includes(option));
}
