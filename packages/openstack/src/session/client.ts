import { CausewayError, hasCode } from "@causeway/foundation";
import type { CallOptions, CreateOptions, Query } from "../types/collection.ts";
import type { Exchange } from "../http/exchange.ts";
import { SMALL_ANSWER, type HttpAnswer } from "../http/transport.ts";
import { repeatCreate, repeatIdempotent, repeatUnsent, type RepeatOptions } from "../http/repeat.ts";
import { encodeQuery } from "../http/query.ts";
import { baseUrl, versionUrl } from "./endpoints.ts";
import type { ServiceName } from "../types/service-name.ts";
import { compareVersions, microversionHeaders, negotiate, newestOfBoth } from "./microversion.ts";
import type { Session } from "./session.ts";
import { unlessAborted } from "./unless-aborted.ts";

/** A body that is not JSON. */
export interface Content {
  readonly type: string;
  readonly data: Uint8Array | string | (() => AsyncIterable<Uint8Array>);
}

/** A call of a service, as its API reference has it. */
export interface ServiceCall {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** With {id} for each of `ids`, in their order: "/routers/{id}/add_router_interface". */
  readonly route: string;
  readonly ids?: readonly string[];
  /** Already encoded, without "?"; or the fields to encode. */
  readonly query?: string | Query | undefined;
  readonly body?: unknown;
  /** Sent in place of a JSON body. A function is called again for each attempt. */
  readonly content?: Content;
  /** A media type: the response is then returned as bytes (Uint8Array). */
  readonly accept?: string;
  /** A media type: a successful response of another one is refused with OPENSTACK_UNEXPECTED_ANSWER. */
  readonly requires?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Maximum size of the response in bytes. Default 64 MiB. */
  readonly limit?: number;
  /** Receives the number of bytes of the response. */
  readonly received?: (bytes: number) => void;
  /** How many things the call makes or changes; its deadline grows with them. Default 1. */
  readonly size?: number;
}

/** A create, and how what it made is found again. */
export interface CreateCall<T> extends ServiceCall {
  readonly read: (body: unknown) => T;
  readonly options: CreateOptions<T>;
}

/** One service of one cloud: address, token, microversion and repetition for every call. */
export interface ServiceClient {
  readonly service: ServiceName;
  /**
   * The parsed body of the response. GET, PUT, PATCH and DELETE are repeated, other methods only when certainly not
   * executed.
   */
  send(call: ServiceCall, options?: CallOptions): Promise<unknown>;
  create<T>(call: CreateCall<T>): Promise<T>;
}

/** What the clients of all services of a cloud share. */
export interface ClientParts {
  readonly session: Session;
  readonly exchange: Exchange;
  /** Its signal aborts when the cloud is closed. */
  readonly repeat: RepeatOptions & { readonly signal: AbortSignal };
}

/**
 * Services whose first response to a read names their newest microversion, so that no version document is read for it.
 */
const LEARNS: ReadonlySet<ServiceName> = new Set(["block-storage"]);

/** Negotiates the microversion once, at the first call, and renews the token once when it is refused. */
export function createServiceClient(service: ServiceName, parts: ClientParts): ServiceClient {
  const { session, exchange } = parts;
  const repeat = (options: CallOptions | undefined): RepeatOptions => ({
    ...parts.repeat,
    signal: options?.signal ? AbortSignal.any([options.signal, parts.repeat.signal]) : parts.repeat.signal,
  });

  let negotiated: Promise<string | undefined> | undefined;
  let learns = LEARNS.has(service);

  const attempt = async (call: ServiceCall, options: CallOptions | undefined): Promise<unknown> => {
    const base = await address(options);
    const isFirst = learns && negotiated === undefined && call.method === "GET" && options?.microversion === undefined;
    const version = isFirst ? "latest" : await microversion(base, options);
    const sent = authorized(session, options?.signal, (token) =>
      exchange({
        service,
        method: call.method,
        url: urlOf(base, call),
        route: call.route,
        headers: { "X-Auth-Token": token, ...microversionHeaders(service, version), ...call.headers },
        body: call.body,
        content: call.content,
        accept: call.accept,
        deadline: deadlineOf(service, call),
        limit: call.limit,
        deletes: options?.deletes,
        signal: options?.signal,
      }),
    );
    const answer = await sent.catch((error: unknown) => {
      requireOwnNotFound(service, call, error);
      if (!isFirst || !isNotAcceptable(error)) throw error;
      learns = false;
    });
    if (answer === undefined || (isFirst && !learn(answer))) return attempt(call, options);
    call.received?.(answer.size);
    requireType(call, answer);
    return answer.body;
  };

  /**
   * False: the response is of a version that is newer than this kit; the call is repeated with the newest that both
   * know.
   */
  const learn = ({ headers }: HttpAnswer): boolean => {
    const theirs = /^\S+ (\d+\.\d+)$/.exec(headers["openstack-api-version"] ?? "")?.[1];
    // Without the header the version document is read before the next call.
    if (theirs === undefined) learns = false;
    const version = theirs === undefined ? undefined : newestOfBoth(service, theirs);
    if (version !== undefined) negotiated ??= Promise.resolve(version);
    return theirs === undefined || version === theirs;
  };

  const address = async (options: CallOptions | undefined): Promise<string> => {
    const endpoint = await session.endpoint(service, options?.signal);
    if (endpoint !== undefined) return baseUrl(service, endpoint);
    throw new CausewayError("OPENSTACK_NO_SERVICE", `The cloud's catalog has no ${service} service in this region.`, {
      hint: "Check region_name and interface of the cloud's entry, and `openstack catalog list`.",
      details: { service, region: session.region },
    });
  };

  const microversion = async (base: string, options: CallOptions | undefined): Promise<string | undefined> => {
    negotiated ??= askVersions(service, base, parts).catch((error: unknown) => {
      negotiated = undefined;
      throw error;
    });
    // Others wait for the same document: who is to stop does not wait until it can be read.
    const version = await unlessAborted(negotiated, options?.signal);
    const needed = options?.microversion;
    if (needed !== undefined && compareVersions(version ?? "0.0", needed) < 0) {
      throw new CausewayError(
        "OPENSTACK_MICROVERSION",
        `${service} of this cloud supports ${version ?? "no microversion"}, not ${needed}.`,
        {
          hint: "The cloud's release is too old for this feature.",
          details: { service, needed, newest: version },
        },
      );
    }
    return version;
  };

  return {
    service,
    send(call, options) {
      const again = call.method === "POST" ? repeatUnsent : repeatIdempotent;
      return again(() => attempt(call, options), repeat(options));
    },
    create({ read, options, ...call }) {
      const pauses = service === "load-balancer" ? [1_000, 3_000] : [1_000];
      const send = async () => read(await attempt(call, options));
      return repeatCreate(send, options.recover, { ...repeat(options), pauses });
    },
  };
}

/** Sends with a token, and once more with a new one if the service responds 401. */
async function authorized<T>(
  session: Session,
  signal: AbortSignal | undefined,
  send: (token: string) => Promise<T>,
): Promise<T> {
  const { token } = await session.token(signal);
  try {
    return await send(token);
  } catch (error) {
    if (!hasCode(error, "OPENSTACK_UNAUTHORIZED")) throw error;
    session.refuse(token);
    const renewed = await session.token(signal);
    return send(renewed.token);
  }
}

/** Something between the cloud and this program may respond 200 with a page of its own. */
function requireType({ requires, method, route }: ServiceCall, { status, headers }: HttpAnswer): void {
  const type = headers["content-type"]?.split(";")[0]?.trim().toLowerCase() ?? "no type";
  if (requires === undefined || (status === 200 && type === requires)) return;
  throw new CausewayError(
    "OPENSTACK_UNEXPECTED_ANSWER",
    `${method} ${route} responded ${status} with ${type.slice(0, 100)}, not 200 with ${requires}.`,
    { hint: "Something other than the service may respond at its address; check the catalog's endpoint." },
  );
}

/** Services whose response for an object that does not exist is JSON. */
const JSON_ALWAYS: ReadonlySet<ServiceName> = new Set(["compute", "block-storage", "shared-file-system"]);

/**
 * A page with status 404 is of a proxy that does not reach the service: the object may well exist, and a caller that
 * takes it for deleted would lose it.
 */
function requireOwnNotFound(service: ServiceName, { ids = [], method, route }: ServiceCall, error: unknown): void {
  if (ids.length === 0 || !JSON_ALWAYS.has(service) || !hasCode(error, "OPENSTACK_NOT_FOUND")) return;
  if (!(error instanceof CausewayError) || error.details["page"] !== true) return;
  throw new CausewayError("OPENSTACK_UNEXPECTED_ANSWER", `${method} ${route} responded 404 with a page of HTML.`, {
    hint: "Something other than the service may respond at its address; check the catalog's endpoint.",
    // Not as its cause, by whose code it would count as "not found".
    details: { service, page: error.details["serviceMessage"] },
  });
}

const isNotAcceptable = (error: unknown): boolean => error instanceof CausewayError && error.details["status"] === 406;

async function askVersions(service: ServiceName, base: string, parts: ClientParts): Promise<string | undefined> {
  const url = versionUrl(service, base);
  if (url === undefined) return undefined;
  const ask = () =>
    authorized(parts.session, undefined, (token) =>
      parts.exchange({
        service,
        method: "GET",
        url,
        route: "/",
        headers: { "X-Auth-Token": token },
        deadline: 30_000,
        limit: SMALL_ANSWER,
      }),
    );
  try {
    return negotiate(service, (await repeatIdempotent(ask, parts.repeat)).body);
  } catch (error) {
    // Some gateways hide the version document; the base version works everywhere.
    if (hasCode(error, "OPENSTACK_NOT_FOUND") || hasCode(error, "OPENSTACK_FORBIDDEN")) return undefined;
    throw error;
  }
}

function urlOf(base: string, call: ServiceCall): string {
  let next = 0;
  const path = call.route.replace(/\{id\}/g, () => segment(call.ids?.[next++] ?? ""));
  // Octavia's API for operators is next to the one for load balancers.
  const root = path.startsWith("/octavia/") ? base.replace(/\/lbaas$/, "") : base;
  const query = typeof call.query === "string" ? call.query : encodeQuery(call.query ?? {});
  return `${root}${path}${query === "" ? "" : `?${query}`}`;
}

/** URLs have no way to write "." and ".." as a name: they would lead to another object, or to a collection. */
function segment(id: string): string {
  if (id !== "." && id !== "..") return encodeURIComponent(id);
  throw new CausewayError("OPENSTACK_NOT_FOUND", `No object has the ID "${id}".`);
}

/** Milliseconds. A load balancer's driver may do all the work of a call before it responds. */
function deadlineOf(service: ServiceName, call: ServiceCall): number {
  if (call.method === "GET") return 30_000;
  const size = call.size ?? 1;
  return service === "load-balancer" ? 180_000 + size * 1_000 : 60_000 + size * 500;
}
