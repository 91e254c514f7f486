import type { IncomingMessage } from "node:http";
import type { Clock } from "@causeway/foundation";
import type { User } from "../contract/user.ts";
import { at, isRecord, record, text, type Json } from "../json/json.ts";
import type { Request } from "../contract/exchange.ts";

import type { RequestAudit } from "../contract/audit.ts";
import type { AuditDecision, Stage } from "./policy.ts";
import type { Audited } from "../contract/audit.ts";
import { watchResponse } from "./response.ts";
import type { RequestStart } from "../contract/audit.ts";

/** When a request came, and how its events leave. */
export interface Recorder {
  readonly clock: Clock;
  write(event: string): void;
}

const LONGEST_USER_AGENT = 1024;
const STREAMS = new Set(["watch", "proxy"]);

/** Records one request: one event for each stage that the policy wants. */
export function recordRequest(recorder: Recorder, recording: AuditDecision, beginning: RequestStart): RequestAudit {
  const { request, response, asked } = beginning;
  const received = recorder.clock.now();
  const event = beginningOf(recording, beginning, received);
  const annotations = new Map<string, string>();
  let requestObject: string | undefined;
  let hasPanicked = false;

  const emit = (stage: Stage, now: number, responseObject?: string): void => {
    if (recording.omitStages.has(stage)) return;
    const whole = JSON.stringify({
      ...event,
      stage,
      ...(annotations.size > 0 ? { annotations: Object.fromEntries(annotations) } : {}),
      requestReceivedTimestamp: microTime(received),
      stageTimestamp: microTime(now),
    });
    const objects = [
      ...(requestObject === undefined ? [] : [`,"requestObject":${requestObject}`]),
      ...(responseObject === undefined ? [] : [`,"responseObject":${responseObject}`]),
    ];
    recorder.write(objects.length === 0 ? whole : `${whole.slice(0, -1)}${objects.join("")}}`);
  };

  // A request without valid credentials is recorded in one event.
  const failed = asked.user === undefined;
  if (!failed) emit("RequestReceived", received);
  const isLong = failed || STREAMS.has(asked.verb);
  watchResponse(response, {
    keepBody: recording.level === "RequestResponse" && !isLong && asked.path === undefined,
    started: (code, status) => {
      event["responseStatus"] = { metadata: {}, ...status, code };
      if (isLong) emit("ResponseStarted", recorder.clock.now());
    },
    ended: ({ code, status, body }) => {
      if (failed) return;
      event["responseStatus"] = { metadata: {}, ...status, code };
      const kept = body === undefined || !recording.omitManagedFields ? body : withoutManagedFields(body);
      emit(hasPanicked ? "Panic" : "ResponseComplete", recorder.clock.now(), kept);
    },
  });

  return {
    annotate: (key, value) => {
      if (!annotations.has(key)) annotations.set(key, value);
    },
    impersonated: (user) => {
      event["impersonatedUser"] = userInfo(user);
    },
    received: (body) => {
      if (body === undefined || asked.path !== undefined) return;
      if (isRecord(body)) nameObject(event, asked.verb, body);
      if (recording.level === "Metadata") return;
      requestObject = JSON.stringify(recording.omitManagedFields ? stripped(body) : body);
    },
    panicked: () => {
      hasPanicked = true;
    },
  };

  function beginningOf({ level }: AuditDecision, { id }: RequestStart, at: number): Json {
    const { headers, url = "/" } = request as IncomingMessage;
    const agent = headers["user-agent"] ?? "";
    const shown = agent.length > LONGEST_USER_AGENT ? `${agent.slice(0, LONGEST_USER_AGENT)}...TRUNCATED` : agent;
    return {
      kind: "Event",
      apiVersion: "audit.k8s.io/v1",
      level,
      auditID: id,
      stage: "",
      requestURI: url,
      verb: asked.verb,
      user: asked.user ? userInfo(asked.user) : {},
      sourceIPs: sourceIps(request),
      ...(shown ? { userAgent: shown } : {}),
      ...(asked.path === undefined ? { objectRef: reference(asked) } : {}),
      requestReceivedTimestamp: microTime(at),
    };
  }
}

/** What the answer says of the object that a write names: creates name it in their body alone. */
function nameObject(event: Json, verb: string, body: Json): void {
  if (verb === "patch") return;
  const { namespace, name, uid, resourceVersion } = record(body["metadata"]);
  const known = record(event["objectRef"]);
  const named = {
    namespace: text(namespace),
    name: text(name),
    uid: text(uid),
    resourceVersion: text(resourceVersion),
  };
  event["objectRef"] = { ...filled(named), ...known };
}

function reference({ plural, namespace, name, group, version, subresource }: Audited): Json {
  return filled({ resource: plural, namespace, name, apiGroup: group, apiVersion: version, subresource });
}

function filled(given: Readonly<Record<string, string>>): Json {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== ""));
}

function userInfo({ name, uid, groups, extra }: User): Json {
  const more = extra && Object.keys(extra).length > 0 ? { extra } : {};
  return { username: name, ...(uid ? { uid } : {}), ...(groups.length > 0 ? { groups } : {}), ...more };
}

/** The addresses that proxies name, then the peer of the connection. */
function sourceIps(request: Request): string[] {
  const { headers } = request;
  const forwarded = text([headers["x-forwarded-for"] ?? ""].flat().join(","))
    .split(",")
    .map((ip) => ip.trim())
    .filter((ip) => /^[\da-fA-F.:]+$/.test(ip));
  const real = text([headers["x-real-ip"]].flat()[0]).trim();
  const named = forwarded.length > 0 || !/^[\da-fA-F.:]+$/.test(real) ? forwarded : [real];
  const socket = "stream" in request ? request.stream.session?.socket : request.socket;
  const remote = (socket?.remoteAddress ?? "").replace(/^::ffff:/, "");
  return remote === "" || named.at(-1) === remote ? named : [...named, remote];
}

/** RFC 3339 in microseconds, as metav1.MicroTime is written. */
function microTime(now: number): string {
  return new Date(now).toISOString().replace("Z", "000Z");
}

function withoutManagedFields(body: string): string {
  return JSON.stringify(stripped(JSON.parse(body) as unknown));
}

/** The object, or the objects of a list or a table, without managedFields. */
function stripped(value: unknown): unknown {
  if (!isRecord(value)) return value;
  const { managedFields: _dropped, ...metadata } = record(value["metadata"]);
  const own = isRecord(value["metadata"]) ? { ...value, metadata } : value;
  const [items, rows] = [at(value, "items"), at(value, "rows")];
  if (Array.isArray(items)) return { ...own, items: items.map(stripped) };
  if (!Array.isArray(rows)) return own;
  return { ...own, rows: rows.map((row) => ({ ...record(row), object: stripped(at(row, "object")) })) };
}
