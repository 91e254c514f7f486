import { magnumStatuses, type MagnumCluster, type MagnumClusterStatus, type MagnumStatus } from "@causeway/api";
import type { MigrationState } from "./migrating.ts";

/** On a cluster of Magnum's Heat driver: what the Magnum that has it reported. */
export const heatAnnotation = "magnum.causeway.dev/heat";

/** A cluster as the Magnum of the Heat driver reported it. */
export interface HeatReport {
  /** When, RFC 3339. */
  readonly at: string;
  readonly status: string;
  readonly reason: string;
  readonly health: string;
  readonly apiAddress: string;
  readonly version: string;
  readonly masters: readonly string[];
  readonly groups: readonly HeatGroup[];
  /** What keeps the cluster from being migrated; undefined: nothing. */
  readonly blocked?: string;
}

/** A node group of a cluster that Heat made. */
export interface HeatGroup {
  readonly uuid: string;
  readonly status: string;
  readonly addresses: readonly string[];
}

/** Annotations of an object have 256 KiB in all. */
const ADDRESSES = 200;

/** The Cluster, as the Magnum API shows one that Heat made. */
export function renderHeat(report: HeatReport): string {
  const { reason, groups, masters, blocked } = report;
  return JSON.stringify({
    ...report,
    reason: reason.slice(0, 2_000),
    masters: masters.slice(0, 10),
    groups: groups.slice(0, 50).map((group) => ({ ...group, addresses: group.addresses.slice(0, ADDRESSES) })),
    ...(blocked === undefined ? {} : { blocked: blocked.slice(0, 1_000) }),
  });
}

/** Undefined: there is none, or it cannot be read. */
export function readHeat({ metadata }: Pick<MagnumCluster, "metadata">): HeatReport | undefined {
  try {
    const value: unknown = JSON.parse(metadata.annotations?.[heatAnnotation] ?? "null");
    return isReport(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isReport(value: unknown): value is HeatReport {
  const report = value as HeatReport | null;
  if (typeof report !== "object" || report === null) return false;
  const texts = [report.at, report.status, report.reason, report.health, report.apiAddress, report.version];
  return (
    texts.every((each) => typeof each === "string") && Array.isArray(report.masters) && Array.isArray(report.groups)
  );
}

/** Phases in which the cluster is Heat's own still: nothing of it was made here but what is shown. */
export const isHeats = ({ phase }: MigrationState): boolean => phase === "discover" || phase === "freeze";

/** A status that clients here know. */
function statusOf(status: string): MagnumStatus {
  return (
    magnumStatuses.find((each) => each === status) ??
    (status.endsWith("_COMPLETE") ? "UPDATE_COMPLETE" : "UPDATE_FAILED")
  );
}

/** The state that clients see of a cluster that only Heat has, and what they can do with it. */
export function heatVerdict(report: HeatReport, name: string): Pick<MagnumClusterStatus, "status" | "reason"> {
  const status = statusOf(report.status);
  const said = [report.status === status ? "" : `status ${report.status}`, report.reason].filter((each) => each !== "");
  const next =
    report.blocked === undefined
      ? `run "causeway migrate magnum freeze ${name}" to migrate it`
      : `it cannot be migrated: ${report.blocked}`;
  const source = `It is a cluster of Magnum's Heat driver, as its Magnum reported it at ${report.at}: it is changed there; ${next}`;
  return { status, reason: [...said, source].join(". ").slice(0, 4_000) };
}

const healths = ["HEALTHY", "UNHEALTHY", "UNKNOWN"] as const;

/** What is known of a cluster whose control plane is still Heat's. */
export function heatFacts(report: HeatReport, object: MagnumCluster): Partial<MagnumClusterStatus> {
  const { apiAddress, masters, version, groups } = report;
  const nodeGroups = object.spec.nodeGroups.map(({ uuid }) => {
    const group = groups.find((each) => each.uuid === uuid);
    const addresses = (group?.addresses ?? []).filter((each) => typeof each === "string" && each !== "");
    return {
      uuid,
      status: statusOf(group?.status ?? report.status),
      reason: "",
      readyNodes: 0,
      addresses,
      ...(version === "" ? {} : { version: version.slice(0, 64) }),
    };
  });
  return {
    health: healths.find((each) => each === report.health) ?? "UNKNOWN",
    ...(apiAddress === "" ? {} : { apiAddress: apiAddress.slice(0, 1_024) }),
    ...(version === "" ? {} : { coeVersion: version.slice(0, 64) }),
    masterAddresses: masters.filter((each) => typeof each === "string" && each !== ""),
    nodeGroups,
  };
}
