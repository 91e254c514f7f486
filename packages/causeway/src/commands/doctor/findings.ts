import { cloudFindings } from "./cloud-findings.ts";
import { clusterFindings } from "./cluster-findings.ts";
import type { Facts } from "./facts.ts";
import type { Finding } from "./finding.ts";
import { quotaFindings } from "./quota-findings.ts";
import { volumeFindings } from "./volume-findings.ts";

/** What will work on this cloud, what not, and what to do about it. */
export function findingsOf(facts: Facts): readonly Finding[] {
  return [
    ...cloudFindings(facts.cloud),
    ...quotaFindings(facts.cloud.quotas),
    ...clusterFindings(facts.cluster),
    ...volumeFindings(facts.volumes),
  ];
}
