export { callMetrics } from "./call-metrics.ts";
export { CLAIM_NAME, CLAIM_NAMESPACE, pick, provisionerMetadata } from "./claim-names.ts";
export { claimAnnotationsFrom } from "./claims.ts";
export { elect, type Ballot, type Candidate, type Election } from "./election.ts";
export { linuxHost, output, type CommandResult, type Host } from "./host.ts";
export {
  deviceFromMetadata,
  metadataReader,
  parseMetadata,
  readMetadata,
  type MetadataOptions,
  type MetadataSource,
  type ServerMetadata,
} from "./metadata.ts";
export { bytesOf, GIB, gibOf, type CapacityRange } from "./size.ts";
export { timestampOf } from "./timestamp.ts";
export { translate } from "./translate.ts";
export { isUuid } from "./uuid.ts";
export { labelValue, zoneOf } from "./zone.ts";
