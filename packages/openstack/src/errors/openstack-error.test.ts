import { describe, expect, it } from "vitest";
import { readFault } from "./message.ts";
import { errorFromAnswer } from "./openstack-error.ts";
import * as is from "./predicates.ts";

const html =
  "<html>\n <head>\n  <title>404 Not Found</title>\n </head>\n <body>\n  <h1>404 Not Found</h1>\n  No image &quot;x&quot;<br /><br />\n\n </body>\n</html>";

describe("a service's message is found", () => {
  it.each([
    [
      "Nova's",
      { itemNotFound: { code: 404, message: "Instance x could not be found." } },
      "Instance x could not be found.",
      "itemNotFound",
    ],
    [
      "Neutron's",
      { NeutronError: { type: "PortNotFound", message: "Port x.", detail: "" } },
      "Port x.",
      "PortNotFound",
    ],
    ["Neutron's of old", { NeutronError: "Bad router request" }, "Bad router request", "NeutronError"],
    [
      "Octavia's",
      { faultcode: "Client", faultstring: "Pool x not found.", debuginfo: null },
      "Pool x not found.",
      "Client",
    ],
    ["Keystone's", { error: { code: 401, message: "Authenticate.", title: "Unauthorized" } }, "Authenticate.", "error"],
    ["Glance's in HTML", html, 'No image "x"', undefined],
    ["Glance's in JSON", { message: "No image x<br /><br />\n\n", code: "404 Not Found" }, "No image x", undefined],
    ["Placement's", { errors: [{ title: "Conflict", detail: "busy" }] }, "busy", undefined],
    [
      "Barbican's",
      { code: 404, title: "Not Found", description: "Secret not found." },
      "Secret not found.",
      "Not Found",
    ],
    ["plain text", "Service Unavailable", "Service Unavailable", undefined],
    ["no body", undefined, "", undefined],
    ["a list", [1], "", undefined],
  ])("%s", (_name, body, message, type) => {
    expect(readFault(body)).toEqual({ message, ...(type !== undefined && { type }) });
  });
});

describe("an answer becomes an error", () => {
  const call = (service: string) => ({
    cloud: "c",
    service,
    method: "POST",
    url: "https://cloud.example/v2/things?a=b",
  });
  it.each([
    [
      "compute",
      403,
      { forbidden: { message: "Quota exceeded for instances: Requested 1, but already used 10 of 10 instances" } },
      is.isQuotaExceeded,
    ],
    ["compute", 403, { forbidden: { message: "Policy doesn't allow os_compute_api:servers:create" } }, is.isForbidden],
    [
      "network",
      409,
      { NeutronError: { type: "OverQuota", message: "Quota exceeded for resources: ['port']." } },
      is.isQuotaExceeded,
    ],
    ["network", 409, { NeutronError: { type: "NetworkInUse", message: "in use" } }, is.isOpenStackConflict],
    ["network", 412, { NeutronError: { type: "RevisionNumberConstraintFailed", message: "" } }, is.isOpenStackConflict],
    ["load-balancer", 403, { faultstring: "Quota has been met for resources: Load Balancer" }, is.isQuotaExceeded],
    ["load-balancer", 409, { faultstring: "Load Balancer x is immutable and cannot be updated." }, is.isImmutable],
    ["load-balancer", 409, { faultstring: "Invalid state PENDING_UPDATE of loadbalancer resource x" }, is.isImmutable],
    [
      "load-balancer",
      409,
      { faultstring: "Another Listener on this Load Balancer is already using protocol TCP" },
      is.isOpenStackConflict,
    ],
    ["load-balancer", 501, { faultstring: "Provider 'ovn' does not support a requested option" }, is.isNotImplemented],
    [
      "block-storage",
      413,
      { overLimit: { code: 413, message: "VolumeLimitExceeded: Maximum number of volumes allowed (10) exceeded" } },
      is.isQuotaExceeded,
    ],
    ["compute", 400, { badRequest: { message: "Invalid key_name provided." } }, is.isBadRequest],
    ["compute", 406, { computeFault: { message: "Version 2.99 is not supported by the API." } }, is.isBadRequest],
    ["image", 404, html, is.isOpenStackNotFound],
    ["identity", 401, {}, is.isUnauthorized],
    ["network", 429, {}, is.isRetryableOpenStackError],
    ["network", 503, "down", is.isRetryableOpenStackError],
  ] as const)("%s %d %j", (service, status, body, predicate) => {
    const error = errorFromAnswer(call(service), { status, body, requestId: "req-1" });
    const all = [is.isQuotaExceeded, is.isForbidden, is.isOpenStackConflict, is.isImmutable, is.isNotImplemented];
    expect(predicate(error)).toBe(true);
    for (const other of all) if (other !== predicate) expect(other(error)).toBe(false);
    expect(error.details).toMatchObject({ status, requestId: "req-1", method: "POST", service });
    expect(error.message).toContain(`POST ${service} /v2/things responded ${status}`);
  });
});
