import type { Column } from "../../contract/resource.ts";
import { field } from "../../tables/cells.ts";
import { AGE, NAME } from "../../tables/table.ts";

/** As `kubectl get runtimeclasses` prints them. */
export const RUNTIME_CLASS_COLUMNS: readonly Column[] = [NAME, field("Handler", "handler"), AGE];
