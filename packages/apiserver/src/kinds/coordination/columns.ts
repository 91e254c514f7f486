import type { Column } from "../../contract/resource.ts";
import { field } from "../../tables/cells.ts";
import { AGE, NAME } from "../../tables/table.ts";

/** As `kubectl get leases` prints them. */
export const LEASE_COLUMNS: readonly Column[] = [NAME, field("Holder", "spec.holderIdentity"), AGE];
