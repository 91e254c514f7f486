import { ServiceError } from "../kernel/service-error.ts";

/** An error as Neutron sends it: {"NeutronError": {type, message, detail}}. */
export function neutronError(status: number, type: string, message: string): ServiceError {
  return new ServiceError(status, { NeutronError: { type, message, detail: "" } });
}

/** Neutron's 400 of its API layer: attributes that are unknown, missing or not well formed. */
export const badRequest = (message: string) => neutronError(400, "HTTPBadRequest", message);
/** Neutron's 400 for values that cannot be converted or do not fit each other. */
export const invalidInput = (message: string) =>
  neutronError(400, "InvalidInput", `Invalid input for operation: ${message}`);
/** Neutron's 400 for the value of one field. */
export const invalidValue = (field: string, reason: string) =>
  badRequest(`Invalid input for ${field}. Reason: ${reason}`);
/** Neutron's 409; `type` is the name of its exception: "NetworkInUse". */
export const conflict = (type: string, message: string) => neutronError(409, type, message);
/** Neutron's 403; `rule` as its policy engine joins them: "rule:update_network". */
export const forbidden = (rule: string) => neutronError(403, "PolicyNotAuthorized", `${rule} is disallowed by policy`);
/** Neutron's 404 for a path that leads to no resource. */
export const resourceMissing = () => neutronError(404, "HTTPNotFound", "The resource could not be found.");

/** 404, also for a network that the caller may not see. */
export const networkNotFound = (id: string) =>
  neutronError(404, "NetworkNotFound", `Network ${id} could not be found.`);
/** 404, also for a subnet that the caller may not see. */
export const subnetNotFound = (id: string) => neutronError(404, "SubnetNotFound", `Subnet ${id} could not be found.`);
/** 404, also for a port that the caller may not see. */
export const portNotFound = (id: string) => neutronError(404, "PortNotFound", `Port ${id} could not be found.`);
/** 404, also for a router that the caller may not see. */
export const routerNotFound = (id: string) => neutronError(404, "RouterNotFound", `Router ${id} could not be found`);
/** 404, also for a floating IP that the caller may not see. */
export const floatingIpNotFound = (id: string) =>
  neutronError(404, "FloatingIPNotFound", `Floating IP ${id} could not be found`);
/** 404 of security groups. */
export const groupNotFound = (id: string) =>
  neutronError(404, "SecurityGroupNotFound", `Security group ${id} does not exist`);
/** 404 of security group rules. */
export const ruleNotFound = (id: string) =>
  neutronError(404, "SecurityGroupRuleNotFound", `Security group rule ${id} does not exist`);
/** 404, also for a trunk that the caller may not see. */
export const trunkNotFound = (id: string) => neutronError(404, "TrunkNotFound", `Trunk ${id} could not be found.`);
/** 404, also for an address group that the caller may not see. */
export const addressGroupNotFound = (id: string) =>
  neutronError(404, "AddressGroupNotFound", `Address group ${id} could not be found.`);
