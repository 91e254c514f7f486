import { CausewayError } from "@causeway/foundation";
import { readFault, type ServiceFault } from "./message.ts";
import { redacted, redactedBody } from "./redact.ts";

/** Which call failed. `url` carries no credentials. */
export interface CallFacts {
  readonly cloud: string;
  readonly service: string;
  readonly method: string;
  readonly url: string;
}

/** A response of status 400 or more, as `errorFromAnswer` reads it. */
export interface FailedAnswer {
  readonly status: number;
  readonly body: unknown;
  /** Are removed from what the service said. */
  readonly secrets?: readonly string[];
  readonly requestId?: string;
  /** Seconds, from Retry-After. */
  readonly retryAfter?: number;
}

const HINTS: Readonly<Record<string, string>> = {
  OPENSTACK_QUOTA_EXCEEDED:
    "Delete unused resources of the project or ask the cloud's operator for a higher quota; `openstack quota show --usage` shows the usage.",
  OPENSTACK_FORBIDDEN: "The user's roles in this project do not allow the call; ask the cloud's operator for the role.",
  OPENSTACK_UNAUTHORIZED: "The credentials were refused or withdrawn; renew them in clouds.yaml or in the Secret.",
  OPENSTACK_RATE_LIMITED: "The cloud limits the rate of calls; lower the budget of this cloud.",
  OPENSTACK_UNAVAILABLE: "The service failed; retry the call later.",
  OPENSTACK_IMMUTABLE: "The load balancer is being changed; retry when its provisioning_status is ACTIVE or ERROR.",
  OPENSTACK_NOT_IMPLEMENTED: "The cloud's driver or release does not support this; choose another option or provider.",
};

/** The error for a response of status 400 or more. */
export function errorFromAnswer(call: CallFacts, answer: FailedAnswer): CausewayError {
  // Redact before the body is truncated: the rest of a truncated secret is no longer recognized.
  const fault = redactedFault(readFault(redactedBody(answer.body, answer.secrets ?? [])), answer.secrets ?? []);
  const code = codeOf(call.service, answer.status, fault);
  const said = fault.message === "" ? "" : `: ${fault.message}`;
  const hint = HINTS[code];
  return new CausewayError(
    code,
    `${call.method} ${call.service} ${pathOf(call.url)} responded ${answer.status}${said}`,
    {
      ...(hint !== undefined && { hint }),
      details: {
        ...call,
        status: answer.status,
        serviceMessage: fault.message,
        ...(typeof answer.body === "string" && /<html|<!doctype/i.test(answer.body) && { page: true }),
        ...(fault.type !== undefined && { serviceType: fault.type }),
        ...(answer.requestId !== undefined && { requestId: answer.requestId }),
        ...(answer.retryAfter !== undefined && { retryAfter: answer.retryAfter }),
      },
    },
  );
}

/** Tags that were removed from a page may have joined the parts of a secret. */
function redactedFault(fault: ServiceFault, secrets: readonly string[]): ServiceFault {
  return {
    message: redacted(fault.message, secrets),
    ...(fault.type === undefined ? {} : { type: redacted(fault.type, secrets) }),
  };
}

const QUOTA = /quota|exceeds? .*limit|limit .*exceeded|maximum number of/i;

function codeOf(service: string, status: number, fault: ServiceFault): string {
  const quota = QUOTA.test(fault.message) || fault.type === "OverQuota";
  switch (status) {
    case 401:
      return "OPENSTACK_UNAUTHORIZED";
    case 403:
      return quota ? "OPENSTACK_QUOTA_EXCEEDED" : "OPENSTACK_FORBIDDEN";
    case 404:
      return "OPENSTACK_NOT_FOUND";
    case 409:
      if (service === "network" && fault.type === "OverQuota") return "OPENSTACK_QUOTA_EXCEEDED";
      if (service === "load-balancer" && /immutable|invalid state PENDING/i.test(fault.message)) {
        return "OPENSTACK_IMMUTABLE";
      }
      return "OPENSTACK_CONFLICT";
    case 412:
      return "OPENSTACK_CONFLICT";
    case 408:
      return "OPENSTACK_UNAVAILABLE";
    case 413:
      return quota || fault.type === "overLimit" ? "OPENSTACK_QUOTA_EXCEEDED" : "OPENSTACK_BAD_REQUEST";
    case 429:
      return "OPENSTACK_RATE_LIMITED";
    case 501:
      return "OPENSTACK_NOT_IMPLEMENTED";
    default:
      return status >= 500 ? "OPENSTACK_UNAVAILABLE" : "OPENSTACK_BAD_REQUEST";
  }
}

function pathOf(url: string): string {
  return new URL(url).pathname;
}
