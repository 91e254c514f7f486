export { startMagnum, type Magnum, type MagnumOptions } from "./magnum-api.ts";
export { auditFile, auditUrl } from "./audit/targets.ts";
export type { RateLimit } from "./access/rate.ts";
export type { TrusteeOptions } from "./access/trustees.ts";
export { desiredControlPlane, desiredManifests, nothingStands, type KeystoneAddress } from "./cluster/desired.ts";
export { refusedLabel as labelProblem } from "./cluster/labels.ts";
export { heatAnnotation, readHeat, renderHeat, type HeatGroup, type HeatReport } from "./cluster/heat.ts";
export { readMigrating, renderMigrating, type MigrationState } from "./cluster/migrating.ts";
export {
  appliedAnnotation,
  kubeProxyLabel,
  magnumLabels,
  migratingAnnotation,
  namespaceOf,
  objectNameOf,
  poolNameOf,
} from "./cluster/names.ts";
export { fleetLabel, isDriversNodePlugin, isFleets, nodePluginNames } from "./cluster/node-plugin.ts";
export { attributesOf as templateAttributes } from "./resources/template-attributes.ts";
export { isUuid } from "./wire/fields.ts";
export { readPolicyFile } from "./settings/policy-file.ts";
export { addonSetNameOf } from "./cluster/addons.ts";
export { fieldManager } from "./cluster/perform.ts";
