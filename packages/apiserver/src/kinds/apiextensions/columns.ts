import type { Column } from "../../contract/resource.ts";
import { CREATED } from "../../tables/cells.ts";
import { NAME } from "../../tables/table.ts";

export const CRD_COLUMNS: readonly Column[] = [NAME, CREATED];
