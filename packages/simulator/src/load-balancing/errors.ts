import { htmlPage } from "../kernel/html-page.ts";
import { ServiceError } from "../kernel/service-error.ts";

/** An error as Octavia sends it: {faultcode, faultstring, debuginfo}. */
export function fault(status: number, faultstring: string): ServiceError {
  return new ServiceError(status, { faultcode: status >= 500 ? "Server" : "Client", faultstring, debuginfo: null });
}

/** Octavia's 404; `label` is the kind as Octavia writes it: "Load Balancer", "Health Monitor". */
export const notFound = (label: string, id: string) => fault(404, `${label} ${id} not found.`);
/** Octavia's 400 for values that are well formed and do not fit each other or the parent. */
export const invalid = (why: string) => fault(400, `Validation failure: ${why}`);
/** Octavia's 403 for another project's resource, or a caller without the role. */
export const denied = () => fault(403, "Policy does not allow this request to be performed.");
/** Octavia's 403 where a quota is used up. */
export const overQuota = (label: string) => fault(403, `Quota has been met for resources: ${label}`);
/** Octavia's 409 for a change while the load balancer is in a PENDING status. */
export const immutable = (id: string) => fault(409, `Load Balancer ${id} is immutable and cannot be updated.`);
/** Octavia's 400 for the value of one field; `value` as Python prints it. */
export const invalidField = (field: string, value: string, why: string) =>
  fault(400, `Invalid input for field/attribute ${field}. Value: '${value}'. ${why}`);

/** 501: the provider has no such option. */
export const noOption = (provider: string, why: string) =>
  fault(501, `Provider '${provider}' does not support a requested option: ${why}`);
/** 501: the provider cannot do that at all. */
export const noAction = (provider: string, why: string) =>
  fault(501, `Provider '${provider}' does not support a requested action: ${why}`);
/** 500: what the provider needed from another service failed. */
export const providerFailed = (provider: string, why: string) =>
  fault(500, `Provider '${provider}' reports error: ${why}`);

/** Paths that lead nowhere, and pages that are none, get their response from the web framework, not in JSON. */
export const noPath = () => htmlPage(404, {});
/** 400 for a pagination parameter, as the web framework's HTML page. */
export const badPage = (detail: string) => htmlPage(400, { detail });
