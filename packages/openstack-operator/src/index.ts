export { createOpenStackOperator, type OpenStackOperatorOptions } from "./deployment/controller.ts";
export { explainComponent, type Preview } from "./deployment/preview.ts";
export { previewOpenStack } from "./preview.ts";
