export { startMagnum, type Magnum, type MagnumOptions } from "./magnum-api.ts";
export { auditFile, auditUrl } from "./audit/targets.ts";
export type { RateLimit } from "./access/rate.ts";
export { desiredManifests, nothingStands, type KeystoneAddress } from "./cluster/desired.ts";
export { refusedLabel as labelProblem } from "./cluster/labels.ts";
export { readMigrating, renderMigrating, type Migrating } from "./cluster/migrating.ts";
export { magnumLabels, migratingAnnotation, namespaceOf, objectNameOf, poolNameOf } from "./cluster/names.ts";
export { isUuid } from "./wire/fields.ts";
export { readPolicyFile } from "./settings/policy-file.ts";
