import type { Metrics } from "@causeway/foundation";
import type { RoundObserved } from "./plan-round.ts";
import type { StorageStage } from "./records.ts";

const prefix = "causeway_shared_etcd";
const stages: readonly StorageStage[] = ["Within", "Exceeded", "Sealed"];

/** Of the etcd that control planes share. */
export function storageMetrics(metrics: Metrics): { observe(round: RoundObserved): void } {
  const size = metrics.gauge({ name: `${prefix}_size_bytes`, help: "The largest file of a member." });
  const inUse = metrics.gauge({ name: `${prefix}_in_use_bytes`, help: "Of the file, what is not free." });
  const quota = metrics.gauge({ name: `${prefix}_quota_bytes`, help: "At this size etcd accepts no writes." });
  const full = metrics.gauge({
    name: `${prefix}_space_alarms`,
    help: "Members that accept no writes for want of space.",
  });
  const granted = metrics.gauge({ name: `${prefix}_budget_bytes`, help: "The sum of all budgets." });
  const tenants = metrics.gauge({
    name: `${prefix}_control_planes`,
    help: "Control planes, by stage of their budget (Within, Exceeded: writes are refused, Sealed: they only read).",
    labels: ["stage"],
  });
  return {
    observe({ members, alarms, quota: limit, tenants: all, records }) {
      size.set(Math.max(...members.map((each) => each.size), 0));
      inUse.set(Math.max(...members.map((each) => each.inUse), 0));
      quota.set(limit);
      full.set(alarms.length);
      granted.set(all.reduce((sum, { budget }) => sum + budget, 0));
      for (const stage of stages)
        tenants.set([...records.values()].filter((record) => record.stage === stage).length, { stage });
    },
  };
}
