import type { Column } from "../../contract/resource.ts";
import { CREATED } from "../../tables/cells.ts";
import { NAME } from "../../tables/table.ts";

/** As `kubectl get crd` prints them: with the time of creation instead of the age. */
export const CRD_COLUMNS: readonly Column[] = [NAME, CREATED];
