export { allComponents } from "./all.ts";
export { backupJobs, backupParts, KEYS_BACKUP, servicesWithDatabases } from "./backup.ts";
export { cellDatabases } from "./cells.ts";
export { CANARY, canaryComponents } from "./canary.ts";
export { PREFLIGHT } from "./fabric.ts";
export { NORTHBOUND, SOUTHBOUND } from "./network.ts";
export { dependenciesOf, resolveCatalogue, withOperators, type Catalogue, type ExternalBackend } from "./resolve.ts";
export { databaseOf, job, needs, uses } from "./words.ts";
