import { htmlPage } from "../kernel/html-page.ts";
import { ServiceError } from "../kernel/service-error.ts";

/** An error as Octavia sends it: {faultcode, faultstring, debuginfo}. */
export function fault(status: number, faultstring: string): ServiceError {
  return new ServiceError(status, { faultcode: status >= 500 ? "Server" : "Client", faultstring, debuginfo: null });
}

export const notFound = (label: string, id: string) => fault(404, `${label} ${id} not found.`);
export const invalid = (why: string) => fault(400, `Validation failure: ${why}`);
export const denied = () => fault(403, "Policy does not allow this request to be performed.");
export const overQuota = (label: string) => fault(403, `Quota has been met for resources: ${label}`);
export const immutable = (id: string) => fault(409, `Load Balancer ${id} is immutable and cannot be updated.`);
export const invalidField = (field: string, value: string, why: string) =>
  fault(400, `Invalid input for field/attribute ${field}. Value: '${value}'. ${why}`);

/** 501: the provider has no such option. */
export const noOption = (provider: string, why: string) =>
  fault(501, `Provider '${provider}' does not support a requested option: ${why}`);
export const noAction = (provider: string, why: string) =>
  fault(501, `Provider '${provider}' does not support a requested action: ${why}`);
export const providerFailed = (provider: string, why: string) =>
  fault(500, `Provider '${provider}' reports error: ${why}`);

/** Paths that lead nowhere, and pages that are none, get their response from the web framework, not in JSON. */
export const noPath = () => htmlPage(404, {});
export const badPage = (detail: string) => htmlPage(400, { detail });
