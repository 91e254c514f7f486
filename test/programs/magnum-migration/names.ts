import { programs } from "../programs.ts";

/** Of the cluster that is migrated. */
export const UUID = "6e8ae3a5-0b4c-4f0e-9d26-000000000001";

/** CAUSEWAY_MIGRATION_SOURCE=previous: the cluster is of the minor before, which is built for upgrades. */
export const isPrevious = process.env["CAUSEWAY_MIGRATION_SOURCE"] === "previous";
export const VERSION = isPrevious ? programs().previous.version : "v1.34.4";
