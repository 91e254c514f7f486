import type { MagnumCluster } from "@causeway/api";
import { reportedHealthAnnotation } from "../cluster/names.ts";

/** What a program outside found. */
export type ReportedHealth = NonNullable<MagnumCluster["spec"]["reportedHealth"]>;

const verdicts: readonly unknown[] = ["HEALTHY", "UNHEALTHY", "UNKNOWN"] satisfies ReportedHealth["status"][];

/** The last report; of a row that an earlier release wrote, the one in its spec, until there is another. */
export function reportedHealthOf({ metadata, spec }: MagnumCluster): ReportedHealth | undefined {
  return parse(metadata.annotations?.[reportedHealthAnnotation]) ?? spec.reportedHealth;
}

/** The cluster with this report, which is no change of it. `at`: when it came. */
export function withReportedHealth(cluster: MagnumCluster, health: ReportedHealth, at: string): MagnumCluster {
  const value = JSON.stringify({ ...health, at });
  const annotations = { ...cluster.metadata.annotations, [reportedHealthAnnotation]: value };
  return { ...cluster, metadata: { ...cluster.metadata, annotations } };
}

/** When a client changed the cluster last, or reported its health. */
export function updatedAtOf({ metadata, spec }: MagnumCluster): string | undefined {
  const reported = parse(metadata.annotations?.[reportedHealthAnnotation])?.at;
  const times = [spec.updatedAt, reported].filter((time) => time !== undefined);
  return times.toSorted((a, b) => Date.parse(a) - Date.parse(b)).at(-1);
}

/** Undefined for what none of our processes has written. */
function parse(text: string | undefined): (ReportedHealth & { readonly at?: string }) | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text ?? "null");
  } catch {
    return undefined;
  }
  if (!isRecord(value)) return undefined;
  const { status, reason, at } = value;
  return {
    ...(verdicts.includes(status) ? { status: status as NonNullable<ReportedHealth["status"]> } : {}),
    ...(isRecord(reason) && Object.values(reason).every((each) => typeof each === "string")
      ? { reason: reason as Readonly<Record<string, string>> }
      : {}),
    ...(typeof at === "string" && !Number.isNaN(Date.parse(at)) ? { at } : {}),
  };
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
