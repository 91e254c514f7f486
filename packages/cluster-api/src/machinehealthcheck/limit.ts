import type { MachineHealthCheckSpec } from "@causeway/api";

/** When a check may act: `unhealthyInRange` such as `"[3-5]"`, or `unhealthyLessThanOrEqualTo` such as `"40%"`. */
export type Trigger = NonNullable<NonNullable<MachineHealthCheckSpec["remediation"]>["triggerIf"]>;

/** Whether remediation may act with so many unhealthy Machines, and how many more it allows. */
export interface Allowance {
  readonly allowed: boolean;
  readonly more: number;
  /** Why not. */
  readonly message: string;
}

/**
 * The limit of remediation: a range, else a number or a percentage of all Machines (rounded down), else all of them.
 */
export function allowanceOf(
  trigger: Trigger | undefined,
  on: { readonly total: number; readonly unhealthy: number },
): Allowance {
  const { total, unhealthy } = on;
  const counts = `total: ${total}, unhealthy: ${unhealthy}`;
  const range = trigger?.unhealthyInRange;
  if (range !== undefined) {
    const [, low, high] = /^\[(\d{1,9})-(\d{1,9})\]$/.exec(range) ?? [];
    const allowed = low !== undefined && high !== undefined && Number(low) <= unhealthy && unhealthy <= Number(high);
    const message = `Remediation is not allowed, the number of not started or unhealthy machines does not fall within the range (${counts}, unhealthyRange: ${range})`;
    return { allowed, more: allowed ? Number(high) - unhealthy : 0, message };
  }
  const limit = trigger?.unhealthyLessThanOrEqualTo ?? "100%";
  const most = scaled(limit, total);
  const allowed = unhealthy <= most;
  const message = `Remediation is not allowed, the number of not started or unhealthy machines exceeds maxUnhealthy (${counts}, maxUnhealthy: ${limit})`;
  return { allowed, more: allowed ? most - unhealthy : 0, message };
}

/** A limit that cannot be read allows nothing. */
function scaled(value: number | string, total: number): number {
  const [, percent] = /^(\d{1,4})%$/.exec(String(value)) ?? [];
  if (percent !== undefined) return Math.floor((Number(percent) * total) / 100);
  return /^\d{1,9}$/.test(String(value)) ? Number(value) : -1;
}
