export { createOpenStackOperator, type OpenStackOperatorOptions } from "./deployment/controller.ts";
