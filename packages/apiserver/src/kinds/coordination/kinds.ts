import { define } from "../../contract/define.ts";
import type { Resource } from "../../contract/resource.ts";
import { LEASE_COLUMNS } from "./columns.ts";
import { leaseStrategy } from "./strategy.ts";

/** Kinds of group coordination.k8s.io. */
export function coordinationKinds(): Resource[] {
  return [
    define({
      group: "coordination.k8s.io",
      kind: "Lease",
      plural: "leases",
      columns: LEASE_COLUMNS,
      strategy: leaseStrategy,
    }),
  ];
}
