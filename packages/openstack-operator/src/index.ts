export { createOpenStackOperator, type OpenStackOperatorOptions } from "./operator.ts";
export type { Nova, NovaAccess, OpenNova } from "./maintenance/nova.ts";
export type { ComputeService, HostedServer } from "./maintenance/model.ts";
export { explainComponent, type Preview } from "./deployment/preview.ts";
export { allComponents, dependenciesOf } from "./catalogue/index.ts";
export type { Component } from "./model/component.ts";
export { previewOpenStack } from "./preview.ts";
export {
  deploymentRefusals,
  deploymentWebhooks,
  reviewDeployment,
  type DeploymentWebhook,
} from "./admission/review.ts";
