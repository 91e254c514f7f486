import type { Socket } from "node:net";
import { cidrContains, messageOf, parseIp, type Cidr, type Clock, type Log } from "@causeway/foundation";
import { alertRecord, alerts, type Alert } from "../preface/alert.ts";
import { PrefaceReader, type Preface } from "../preface/preface.ts";
import { dial, prepare, relay } from "../relay/relay.ts";
import type { Route, Routes } from "../routes/routes.ts";
import type { Held, ConnectionLimiter } from "./connection-limiter.ts";
import type { GatewayMetrics } from "./metrics.ts";

/** Times in ms, sizes in bytes. */
export interface ConnectionLimits {
  readonly helloTimeout: number;
  readonly helloLimit: number;
  readonly dialTimeout: number;
  readonly halfOpenTimeout: number;
}

/** What all connections of a gateway share. */
export interface ConnectionContext {
  readonly routes: Routes;
  readonly limiter: ConnectionLimiter;
  readonly timing: ConnectionLimits;
  /** Networks of load balancers whose PROXY headers say who the client is. */
  readonly trusted: readonly Cidr[];
  readonly metrics: GatewayMetrics;
  readonly clock: Clock;
  readonly log: Log;
}

/** How long a client may take to read an alert. */
const ALERT_TIMEOUT = 2_000;

type Routed = Extract<Preface, { type: "route" }>;

/** One connection, from its first byte to the end of both directions. */
export async function serve(client: Socket, context: ConnectionContext): Promise<void> {
  prepare(client);
  // Errors before the relay: the connection is gone, which its `close` says.
  client.on("error", () => {});
  const arrived = await readPreface(client, context);
  if (arrived === undefined) return;
  const { found, source } = arrived;
  const { serverName } = found;
  if (serverName === undefined) return refuse(client, context, "no_server_name", alerts.missingExtension);
  const route = context.routes.find(serverName);
  if (route?.isHibernated === true) {
    context.metrics.hibernated.increment({ tenant: route.tenant });
    return sendAlert(client, alerts.accessDenied, context.clock);
  }
  if (route !== undefined) return forward(client, { route, found, source }, context);
  // Before the routes are read the client is to try again; afterwards no tenant has the name.
  const reason = context.routes.ready ? "unknown_server_name" : "not_ready";
  return refuse(client, context, reason, context.routes.ready ? alerts.unrecognizedName : alerts.internalError);
}

function refuse(client: Socket, { metrics, clock }: ConnectionContext, reason: string, alert?: Alert): void {
  metrics.refused.increment({ reason });
  if (alert === undefined) client.destroy();
  else sendAlert(client, alert, clock);
}

/** Unread bytes would have the kernel reset the connection, and the client miss the alert. */
function sendAlert(client: Socket, alert: Alert, clock: Clock): void {
  if (client.destroyed) return;
  const gone = new AbortController();
  client.once("close", () => gone.abort());
  client.resume();
  client.end(alertRecord(alert));
  clock.sleep(ALERT_TIMEOUT, gone.signal).then(
    () => client.destroy(),
    () => {},
  );
}

interface Arrived {
  readonly found: Routed;
  /** The client's address, as far as it is known. */
  readonly source: string;
}

/** Undefined: it was refused, or ended. */
function readPreface(client: Socket, context: ConnectionContext): Promise<Arrived | undefined> {
  const { limiter, timing, trusted, clock } = context;
  const peer = client.remoteAddress ?? "";
  const ip = parseIp(peer.replace(/^::ffff:(?=\d+\.)/, ""));
  const isTrusted = ip !== undefined && trusted.some((cidr) => cidrContains(cidr, ip));
  let source = peer;
  const reader = new PrefaceReader({ trusted: isTrusted, helloLimit: timing.helloLimit });
  return new Promise((resolve) => {
    const over = new AbortController();
    const held: Held = {
      end(reason) {
        refuse(client, context, reason);
        done(undefined);
      },
    };
    const done = (found: Routed | undefined): void => {
      over.abort();
      client.off("data", onData).off("end", onEnd).off("close", onClose);
      limiter.leavePending(source, held);
      resolve(found && { found, source: found.source ?? source });
    };
    // Clients of one load balancer are counted apart as soon as it has said who they are.
    const countAs = (found = source): void => {
      if (found === source) return;
      limiter.leavePending(source, held);
      source = found;
      limiter.arrive(source, held);
    };
    const onClose = (): void => done(undefined);
    const onEnd = (): void => held.end("ended_early");
    const onData = (chunk: Buffer): void => {
      const preface = reader.push(chunk);
      if (preface.type === "more") return countAs(reader.source);
      client.pause();
      if (preface.type === "route") return done(preface);
      context.log.debug("a connection is refused", { peer, reason: preface.reason });
      refuse(client, context, "malformed", preface.alert);
      done(undefined);
    };
    client.on("data", onData).on("end", onEnd).on("close", onClose);
    limiter.arrive(peer, held);
    clock.sleep(timing.helloTimeout, over.signal).then(
      () => held.end("timeout"),
      () => {},
    );
  });
}

async function forward(
  client: Socket,
  { route, found, source }: { readonly route: Route; readonly found: Routed; readonly source: string },
  context: ConnectionContext,
): Promise<void> {
  const { limiter, metrics, timing, clock, log } = context;
  const { tenant } = route;
  const gone = new AbortController();
  const onClose = (): void => gone.abort(new Error("the client is gone"));
  client.once("close", onClose);
  let server: Socket | undefined;
  const held: Held = {
    end(reason) {
      metrics.limited.increment({ tenant, limit: reason });
      client.resetAndDestroy();
      server?.destroy();
      limiter.leave(tenant, source, held);
    },
  };
  const admission = limiter.admit(tenant, source, held);
  if (!admission.admitted) {
    metrics.limited.increment({ tenant, limit: admission.reason });
    return sendAlert(client, alerts.internalError, clock);
  }
  try {
    const began = clock.now();
    server = await dial(route, timing.dialTimeout, gone.signal).catch((error: unknown) => {
      if (client.destroyed) return undefined;
      metrics.unreachable.increment({ tenant });
      log.warn("an API server cannot be reached", {
        tenant,
        host: route.host,
        port: route.port,
        error: messageOf(error),
      });
      sendAlert(client, alerts.internalError, clock);
      return undefined;
    });
    if (server === undefined) return;
    metrics.dialSeconds.observe((clock.now() - began) / 1000);
    metrics.accepted.increment({ tenant });
    await relay(client, server, { head: found.bytes, halfOpenTimeout: timing.halfOpenTimeout });
    metrics.bytes.increment({ tenant, direction: "received" }, client.bytesRead);
    metrics.bytes.increment({ tenant, direction: "sent" }, client.bytesWritten);
  } finally {
    client.off("close", onClose);
    limiter.leave(tenant, source, held);
  }
}
