import { cloudFindings } from "./cloud-findings.ts";
import { clusterFindings } from "./cluster-findings.ts";
import type { Facts } from "./facts.ts";
import { quotaFindings } from "./quota-findings.ts";
import { volumeFindings } from "./volume-findings.ts";

/**
 * works: nothing to do. limited: it works but for what is said. missing: it will not work here, and nothing else is
 * hurt by it. broken: something must be done before a cluster can work.
 */
export type State = "works" | "limited" | "missing" | "broken";

/** One line of the report. */
export interface Finding {
  readonly feature: string;
  readonly state: State;
  /** What was seen. */
  readonly because: string;
  /** Undefined: nothing. */
  readonly todo?: string;
}

/** What will work on this cloud, what not, and what to do about it. */
export function findingsOf(facts: Facts): readonly Finding[] {
  return [
    ...cloudFindings(facts.cloud),
    ...quotaFindings(facts.cloud.quotas),
    ...clusterFindings(facts.cluster),
    ...volumeFindings(facts.volumes),
  ];
}
