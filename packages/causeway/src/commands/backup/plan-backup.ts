import type { HostedControlPlane } from "@causeway/api";
import { fromOfFolder } from "../../backups/folder.ts";

/** A backup of all data that is requested, by a time (RFC 3339, whole seconds); or why none can be. */
export type BackupRequest = { readonly at: string } | { readonly refusal: string; readonly hint: string };

/** How far a requested backup is. */
export type BackupProgress = { readonly time: string; readonly from: string } | { readonly missing: string };

/**
 * The next whole second: a backup from then on has every write from before the request. It is later than the newest
 * backup of all data, whose time is of another clock, so that a backup of before is never mistaken for the requested
 * one. `now`: ms since epoch.
 */
export function requestBackup({ metadata, spec, status }: HostedControlPlane, now: number): BackupRequest {
  const name = `${metadata.namespace}/${metadata.name}`;
  const runtime = status?.runtime ?? spec.runtime;
  if (runtime === "Embedded")
    return {
      refusal: "it is embedded in the API server of `causeway up`",
      hint: "`causeway backup FILE` has all embedded control planes.",
    };
  if (spec.backup === undefined)
    return {
      refusal: "it has no spec.backup",
      hint: `Switch it on: kubectl patch hostedcontrolplane ${metadata.name} -n ${metadata.namespace} --type merge -p '{"spec":{"backup":{}}}'`,
    };
  if (metadata.deletionTimestamp !== undefined)
    return { refusal: "it is being deleted", hint: `What was backed up: causeway backup list ${name}` };
  if (spec.replicas === 0)
    return { refusal: "it is hibernated, and its etcd does not run", hint: "Wake it first: set spec.replicas to 1." };
  const newest = Date.parse(status?.backup?.newestFull ?? "");
  const after = Number.isNaN(newest) ? now : Math.max(now, newest + 1_000);
  return { at: `${new Date(Math.ceil(after / 1000) * 1000).toISOString().slice(0, 19)}Z` };
}

/** Is there a backup of all data from then or later? */
export function backupProgress({ metadata, spec, status }: HostedControlPlane, at: string): BackupProgress {
  if (spec.backup === undefined || metadata.deletionTimestamp !== undefined)
    return { missing: "the control plane is not backed up any more" };
  const { newestFull, folder = "" } = status?.backup ?? {};
  if (newestFull !== undefined && Date.parse(newestFull) >= Date.parse(at))
    return { time: newestFull, from: fromOfFolder(folder) };
  const condition = status?.conditions?.find(({ type }) => type === "BackedUp");
  return {
    missing: condition?.status === "False" ? (condition.message ?? "it fails") : "the backup is being created",
  };
}
