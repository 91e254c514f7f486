import { isRecord } from "@causeway/foundation";
import type { ServiceName } from "../types/service-name.ts";

/** The newest microversions this kit has been written for. */
const NEWEST: Partial<Record<ServiceName, string>> = {
  compute: "2.96",
  "block-storage": "3.71",
  "shared-file-system": "2.82",
  placement: "1.39",
  "container-infrastructure-management": "1.11",
};

/**
 * The microversion to use: the newest that both sides support, or undefined if the version document has none.
 * Documents: `{"version": {…}}` or `{"versions": [{…}]}` with `id`, `version` or `max_version` (newest) and
 * `min_version`.
 */
export function negotiate(service: ServiceName, document: unknown): string | undefined {
  const newest = NEWEST[service];
  if (newest === undefined || !isRecord(document)) return undefined;
  const versions = Array.isArray(document["versions"]) ? document["versions"] : [document["version"]];
  for (const version of versions) {
    if (!isRecord(version)) continue;
    const theirs = version["version"] ?? version["max_version"];
    if (typeof theirs !== "string" || !/^\d+\.\d+$/.test(theirs)) continue;
    if (theirs.split(".")[0] !== newest.split(".")[0]) continue;
    return newestOfBoth(service, theirs);
  }
  return undefined;
}

/** The newest microversion that the service, whose newest is `theirs`, and this kit support. */
export function newestOfBoth(service: ServiceName, theirs: string): string {
  const newest = NEWEST[service] ?? theirs;
  return compareVersions(theirs, newest) < 0 ? theirs : newest;
}

/** Below 0 if `a` is the older, 0 if they are the same. */
export function compareVersions(a: string, b: string): number {
  const [aMajor = 0, aMinor = 0] = a.split(".").map(Number);
  const [bMajor = 0, bMinor = 0] = b.split(".").map(Number);
  return aMajor - bMajor || aMinor - bMinor;
}

/** What services call themselves in the header, where that is not their type. */
const HEADER_NAMES: Partial<Record<ServiceName, string>> = {
  "block-storage": "volume",
  "container-infrastructure-management": "container-infra",
};

/** The headers that request a microversion (API-WG guideline, and Nova's older one). */
export function microversionHeaders(service: ServiceName, version: string | undefined): Record<string, string> {
  if (version === undefined) return {};
  if (service === "compute") {
    return { "OpenStack-API-Version": `compute ${version}`, "X-OpenStack-Nova-API-Version": version };
  }
  if (service === "shared-file-system") return { "X-OpenStack-Manila-API-Version": version };
  return { "OpenStack-API-Version": `${HEADER_NAMES[service] ?? service} ${version}` };
}
