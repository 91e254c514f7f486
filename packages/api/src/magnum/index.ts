export {
  MagnumCluster,
  type MagnumClusterSpec,
  type MagnumClusterStatus,
  type MagnumNodeGroup,
} from "./magnum-cluster.ts";
export {
  MagnumClusterTemplate,
  type MagnumClusterTemplateSpec,
  type MagnumTemplateAttributes,
} from "./magnum-cluster-template.ts";
export { MagnumQuota, type MagnumQuotaSpec } from "./magnum-quota.ts";
export { magnumStatuses, type MagnumStatus } from "./shapes.ts";
