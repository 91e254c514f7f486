import type { HttpBindings } from "@hono/node-server";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { Hono, type Context, type MiddlewareHandler } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { messageOf } from "@causeway/foundation";
import type { CallRecord, Fault } from "../interface.ts";
import type { Caller, Service } from "../kernel/interface.ts";
import type { OwnedKernel } from "../kernel/kernel.ts";
import { ServiceError } from "../kernel/service-error.ts";
import type { CallLog } from "./calls.ts";
import type { Faults } from "./faults.ts";

/** What the middleware sets for every route; `requestId` is the X-Openstack-Request-Id of the response. */
export type CloudVariables = { caller: Caller; requestId: string };
/** The app in front of all services: it has Node's own request and response as bindings. */
export type CloudApp = Hono<{ Bindings: HttpBindings; Variables: CloudVariables }>;
type CloudContext = Context<{ Bindings: HttpBindings; Variables: CloudVariables }>;

/** A service and the path that it is mounted under ("/network"). */
export interface Mounted {
  readonly root: string;
  readonly service: Service;
}

/** What the middleware before every service needs. */
export interface Front {
  readonly kernel: OwnedKernel;
  readonly calls: CallLog;
  readonly faults: Faults;
  /** The caller behind a token; undefined: none, or no longer. */
  readonly authenticate: (token: string) => Caller | undefined;
}

/**
 * All services under one app, each behind the same middleware: call log, token, faults, commit before the response,
 * request id.
 */
export function mountServices(front: Front, mounted: readonly Mounted[]): CloudApp {
  const app: CloudApp = new Hono();
  app.onError((error, c) => answerError(error, c));
  for (const { root, service } of mounted) {
    const gate = gateOf(front, root, service);
    app.use(`${root}/*`, gate);
    app.route(root, service.app);
  }
  return app;
}

/** A ServiceError as it says; anything else is a defect of the simulator: 500, and a process warning. */
export function answerError(error: unknown, c: Context): Response {
  if (error instanceof ServiceError) return answer(c, error);
  process.emitWarning(
    `simulator: ${c.req.method} ${c.req.path}: ${error instanceof Error ? error.stack : messageOf(error)}`,
  );
  const message = "Unexpected API Error. The simulated service failed; its process has printed why.";
  return c.json({ error: { code: 500, title: "Internal Server Error", message } }, 500);
}

function answer(c: Context, { status, body, headers }: Pick<ServiceError, "status" | "body" | "headers">): Response {
  const text = body === undefined ? "" : typeof body === "string" ? body : JSON.stringify(body);
  return c.body(text, status as ContentfulStatusCode, { "content-type": "application/json", ...headers });
}

function gateOf(front: Front, root: string, service: Service): MiddlewareHandler {
  const open = new Set(service.open ?? ["", "/"]);
  const { kernel, calls, faults } = front;
  return async (c: CloudContext, next) => {
    const path = c.req.path.slice(root.length);
    const token = c.req.header("x-auth-token");
    const caller = token === undefined ? undefined : front.authenticate(token);
    const call = calls.add({
      at: kernel.clock.now(),
      method: c.req.method,
      service: service.type,
      path: path + queryOf(c.req.url),
      projectId: caller?.projectId,
      userAgent: c.req.header("user-agent") ?? "",
    });
    if (caller) c.set("caller", caller);
    else if (!open.has(path) && !open.has("*")) return unauthorized(c, call, service);
    c.set("requestId", `req-${kernel.newId()}`);
    const fault = faults.of(call);
    if (fault?.when === "before") return meet(c, fault, call);
    await latency(kernel, service.type);
    await next();
    // What the request changed is on disk before the caller can know of it.
    kernel.flush();
    call.status = c.res.status;
    c.res.headers.set("x-openstack-request-id", c.get("requestId"));
    if (fault) {
      const replaced = meet(c, fault, call);
      c.res = undefined;
      c.res = replaced;
    }
    return undefined;
  };
}

function queryOf(url: string): string {
  const at = url.indexOf("?");
  return at < 0 ? "" : url.slice(at);
}

function unauthorized(c: CloudContext, call: CallRecord, service: Service): Response {
  call.status = 401;
  const message = "The request you have made requires authentication.";
  const uri = `${new URL(c.req.url).origin}/identity/v3`;
  const { body, headers } = service.unauthorized?.() ?? {
    body: { error: { code: 401, title: "Unauthorized", message } },
    headers: {},
  };
  return answer(c, { status: 401, body, headers: { ...headers, "www-authenticate": `Keystone uri="${uri}"` } });
}

async function latency(kernel: OwnedKernel, type: string): Promise<void> {
  const wait = kernel.delay("request") + kernel.delay(`request.${type}`);
  if (wait > 0) await kernel.clock.sleep(wait);
}

function meet(c: CloudContext, fault: Fault, call: CallRecord): Response {
  if ("cut" in fault) {
    // In-process requests have no socket to cut; they get the response that a broken gateway would give.
    const socket = c.env?.incoming?.socket;
    if (!socket) return answer(c, { status: 502, body: "cut", headers: {} });
    socket.destroy();
    return RESPONSE_ALREADY_SENT;
  }
  call.status = fault.status;
  return answer(c, { status: fault.status, body: fault.body ?? {}, headers: fault.headers ?? {} });
}
