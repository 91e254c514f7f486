import { CausewayError, messageOf, shortened } from "@causeway/foundation";
import type { Status } from "@causeway/kubernetes";
import { cutText } from "../bounds.ts";

/** Group and plural of a resource, as messages name it: "configmaps", "deployments.apps". */
export interface GroupResource {
  readonly group: string;
  readonly plural: string;
}

/** One thing that is wrong with one field, in Kubernetes' wording. */
export interface FieldProblem {
  readonly field: string;
  readonly message: string;
  /** FieldValueInvalid, FieldValueRequired, FieldValueNotSupported, FieldValueForbidden, FieldValueDuplicate… */
  readonly reason: string;
}

type Details = NonNullable<Status["details"]> & { uid?: string };

/** An error that the server answers as it is: metav1.Status in `details.status`. Code KUBERNETES_<REASON>. */
export function apiError(code: number, reason: string, message: string, details?: Details): CausewayError {
  const status: Status = {
    kind: "Status",
    apiVersion: "v1",
    status: "Failure",
    message: cutText(message, MAXIMUM_MESSAGE),
    ...(reason ? { reason } : {}),
    ...(details ? { details: { ...details, ...fewCauses(details) } } : {}),
    code,
  };
  const suffix = (reason || "ERROR").replace(/([a-z])([A-Z])/g, "$1_$2").toUpperCase();
  return new CausewayError(`KUBERNETES_${suffix}`, message, { details: { status } });
}

/**
 * Characters of one message, and causes of one refusal, that are sent: no body may make an answer that is much longer
 * than itself.
 */
const [MAXIMUM_MESSAGE, MAXIMUM_CAUSES] = [128 * 1024, 1000];

function fewCauses({ causes }: Details): Pick<Details, "causes"> {
  return causes ? { causes: causes.slice(0, MAXIMUM_CAUSES) } : {};
}

/** "pods" or "deployments.apps", as messages name a resource. */
export function qualified(resource: GroupResource): string {
  return resource.group ? `${resource.plural}.${resource.group}` : resource.plural;
}

function about(resource: GroupResource, name: string): Details {
  return { ...(name ? { name } : {}), ...(resource.group ? { group: resource.group } : {}), kind: resource.plural };
}

/** 404 for an object that does not exist. */
export function notFound(resource: GroupResource, name: string): CausewayError {
  return apiError(404, "NotFound", `${qualified(resource)} "${name}" not found`, about(resource, name));
}

/** No such resource of a version that is served. */
export function noSuchResource(): CausewayError {
  return apiError(404, "NotFound", "the server could not find the requested resource", {});
}

const NO_PATH = "404 page not found";

/** No such path, group or version: the response is plain text, as Go's HTTP servers do. */
export function noSuchPath(): CausewayError {
  return apiError(404, "NotFound", NO_PATH, {});
}

/** Whether an error is `noSuchPath`, which is sent as plain text. */
export function isNoSuchPath({ code, message }: Status & { code: number }): boolean {
  return code === 404 && message === NO_PATH;
}

/** 409 for a create; `state` is put before the message, such as "object is being deleted: ". */
export function alreadyExists(resource: GroupResource, name: string, state = ""): CausewayError {
  return apiError(
    409,
    "AlreadyExists",
    `${state}${qualified(resource)} "${name}" already exists`,
    about(resource, name),
  );
}

const MODIFIED = "the object has been modified; please apply your changes to the latest version and try again";

/** 409 for a write to another revision than the current one, or for another `why`. */
export function conflict(resource: GroupResource, name: string, why = MODIFIED): CausewayError {
  const message = `Operation cannot be fulfilled on ${qualified(resource)} "${name}": ${why}`;
  return apiError(409, "Conflict", message, about(resource, name));
}

/** 403 of authorization and of admission. */
export function forbidden(resource: GroupResource, name: string, why: string): CausewayError {
  const subject = name ? `${qualified(resource)} "${name}"` : qualified(resource);
  return apiError(403, "Forbidden", `${subject} is forbidden: ${why}`, about(resource, name));
}

/** 400 for a request that cannot be read. */
export function badRequest(message: string): CausewayError {
  return apiError(400, "BadRequest", message);
}

/** 405 for a verb that the resource does not have. */
export function methodNotAllowed(): CausewayError {
  const message = "the server does not allow this method on the requested resource";
  return apiError(405, "MethodNotAllowed", message, {});
}

/** The message of a 429. */
export const TOO_MANY = "Too many requests, please try again later.";

/** 429: clients retry after a second. */
export function tooManyRequests(): CausewayError {
  return apiError(429, "TooManyRequests", TOO_MANY, { retryAfterSeconds: 1 });
}

/** 401, which never says what was wrong with the credentials. */
export function unauthorized(): CausewayError {
  return apiError(401, "Unauthorized", "Unauthorized");
}

/** 410 for a revision that was compacted: clients list again. */
export function expired(message: string): CausewayError {
  return apiError(410, "Expired", message);
}

/** The object breaks rules: 422 with one cause per problem. */
export function invalid(
  type: { group: string; kind: string },
  name: string,
  problems: readonly FieldProblem[],
): CausewayError {
  const causes = shownProblems(problems).map(({ field, message, reason }) => ({ reason, message, field }));
  const shown = causes.map((p) => `${p.field}: ${p.message}`);
  const lines = shortened(shown, shown.length, { total: problems.length });
  const summary = lines.length === 1 ? lines[0] : `[${lines.join(", ")}]`;
  const kind = type.group ? `${type.kind}.${type.group}` : type.kind;
  const details = {
    ...(name ? { name } : {}),
    ...(type.group ? { group: type.group } : {}),
    ...(type.kind ? { kind: type.kind } : {}),
    causes,
  };
  return apiError(422, "Invalid", `${kind} "${name}" is invalid: ${summary}`, details);
}

/** As many problems as an answer has room for. */
function shownProblems(problems: readonly FieldProblem[]): readonly FieldProblem[] {
  let left = MAXIMUM_MESSAGE / 2;
  const enough = problems.slice(0, MAXIMUM_CAUSES).findIndex(({ field, message }) => {
    left -= field.length + message.length;
    return left < 0;
  });
  return problems.slice(0, enough < 0 ? MAXIMUM_CAUSES : Math.max(enough, 1));
}

/** Options of a request that break rules: 422 about "ListOptions", "CreateOptions"… */
export function invalidOptions(kind: string, ...problems: readonly FieldProblem[]): CausewayError {
  return invalid({ group: "meta.k8s.io", kind }, "", problems);
}

/** The Status that answers an error; an unexpected error becomes 500 InternalError. */
export function statusOf(error: unknown): Status & { code: number } {
  const carried = error instanceof CausewayError ? error.details["status"] : undefined;
  if (isStatus(carried)) return carried;
  const message = messageOf(error);
  if (error instanceof CausewayError && /^(PATCH|APPLY)_/.test(error.code)) {
    return { kind: "Status", apiVersion: "v1", status: "Failure", message, reason: "BadRequest", code: 400 };
  }
  const known = error instanceof CausewayError ? STORE_CODES[error.code] : undefined;
  if (known) return { kind: "Status", apiVersion: "v1", status: "Failure", message, ...known };
  return {
    kind: "Status",
    apiVersion: "v1",
    status: "Failure",
    message: `Internal error occurred: ${message}`,
    reason: "InternalError",
    details: { causes: [{ message }] },
    code: 500,
  };
}

/** What a message, and all causes of a Status together, may take. */
const LONGEST_MESSAGE = 64 * 1024;
const LONGEST_CAUSES = 1024 * 1024;
const LONGEST_CAUSE = 16 * 1024;

/** The same Status with what is too long cut, so that an error costs little whatever it is about. */
export function boundedStatus(status: Status & { code: number }): Status & { code: number } {
  const { message, details } = status;
  const causes = details?.causes;
  let left = LONGEST_CAUSES;
  const kept = causes
    ?.map((cause) => ({
      ...cause,
      ...(cause.message === undefined ? {} : { message: cut(cause.message, LONGEST_CAUSE) }),
    }))
    .filter((cause) => (left -= (cause.message?.length ?? 0) + (cause.field?.length ?? 0)) > 0);
  return {
    ...status,
    ...(message === undefined ? {} : { message: cut(message, LONGEST_MESSAGE) }),
    ...(details && kept ? { details: { ...details, causes: kept } } : {}),
  };
}

function cut(text: string, limit: number): string {
  return text.length <= limit ? text : `${text.slice(0, limit)}... (${text.length - limit} more characters)`;
}

/** What the store says, as clients know it. */
const STORE_CODES: Readonly<Record<string, Pick<Status, "reason" | "details"> & { code: number }>> = {
  KUBERNETES_EXPIRED: { reason: "Expired", code: 410 },
  STORE_CONFLICT: { reason: "Conflict", code: 409 },
  KUBERNETES_ALREADY_EXISTS: { reason: "AlreadyExists", code: 409 },
  KUBERNETES_NOT_FOUND: { reason: "NotFound", code: 404 },
  SCHEMA_DEFAULTS_TOO_LARGE: { reason: "RequestEntityTooLarge", code: 413 },
  KUBERNETES_REVISION_TOO_LARGE: {
    reason: "Timeout",
    details: {
      causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }],
      retryAfterSeconds: 1,
    },
    code: 504,
  },
};

function isStatus(value: unknown): value is Status & { code: number } {
  return typeof value === "object" && value !== null && "kind" in value && value.kind === "Status" && "code" in value;
}
