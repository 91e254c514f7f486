import { ServiceError } from "../kernel/service-error.ts";

/** An error as Neutron sends it: {"NeutronError": {type, message, detail}}. */
export function neutronError(status: number, type: string, message: string): ServiceError {
  return new ServiceError(status, { NeutronError: { type, message, detail: "" } });
}

export const badRequest = (message: string) => neutronError(400, "HTTPBadRequest", message);
export const invalidInput = (message: string) =>
  neutronError(400, "InvalidInput", `Invalid input for operation: ${message}`);
export const invalidValue = (field: string, reason: string) =>
  badRequest(`Invalid input for ${field}. Reason: ${reason}`);
export const conflict = (type: string, message: string) => neutronError(409, type, message);
export const forbidden = (rule: string) => neutronError(403, "PolicyNotAuthorized", `${rule} is disallowed by policy`);
export const resourceMissing = () => neutronError(404, "HTTPNotFound", "The resource could not be found.");

export const networkNotFound = (id: string) =>
  neutronError(404, "NetworkNotFound", `Network ${id} could not be found.`);
export const subnetNotFound = (id: string) => neutronError(404, "SubnetNotFound", `Subnet ${id} could not be found.`);
export const portNotFound = (id: string) => neutronError(404, "PortNotFound", `Port ${id} could not be found.`);
export const routerNotFound = (id: string) => neutronError(404, "RouterNotFound", `Router ${id} could not be found`);
export const floatingIpNotFound = (id: string) =>
  neutronError(404, "FloatingIPNotFound", `Floating IP ${id} could not be found`);
export const groupNotFound = (id: string) =>
  neutronError(404, "SecurityGroupNotFound", `Security group ${id} does not exist`);
export const ruleNotFound = (id: string) =>
  neutronError(404, "SecurityGroupRuleNotFound", `Security group rule ${id} does not exist`);
export const trunkNotFound = (id: string) => neutronError(404, "TrunkNotFound", `Trunk ${id} could not be found.`);
export const addressGroupNotFound = (id: string) =>
  neutronError(404, "AddressGroupNotFound", `Address group ${id} could not be found.`);
