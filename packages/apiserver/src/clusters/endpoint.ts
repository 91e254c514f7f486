import { basename } from "node:path";
import type { TLSSocket } from "node:tls";
import { InputError, messageOf, steadyPorts, systemClock, type Log } from "@causeway/foundation";
import type { LogicalClusterOptions } from "../interface.ts";
import { requestHandler, type HandlerOptions } from "../server/handler.ts";
import { listen, type Listener, type ListenerOptions } from "../server/listener.ts";
import { issueServing, readServing, renewInTime, type Identified, type ServingCertificate } from "./serving.ts";
import type { KeptPorts } from "./kept-ports.ts";
import type { Shared } from "./open-cluster.ts";
import type { WatchedFile } from "./watched-files.ts";

/** How often a kept port is tried, and the time between, in ms. */
const [ATTEMPTS, PAUSE] = [40, 250];

/** Where a cluster is reached: a listener, and a certificate that remains valid. */
export interface Endpoint {
  readonly host: string;
  readonly port: number;
  /** PEM: whom clients trust here. */
  readonly authority: string;
  /** The files its certificate is from; none when it is issued here. */
  readonly files: readonly WatchedFile[];
  /**
   * Takes the certificate as the files have it now, for connections from now on. Throws SERVING_CERTIFICATE_INVALID.
   */
  reload(): void;
  /** Issues its certificate again, of the cluster's roots as they are now, unless it is from files. */
  reissue(): Promise<void>;
  /** Ends connections that `keeps` is false for, with their watches. */
  endUnless(keeps: (socket: TLSSocket) => boolean): void;
  /**
   * Keeps a port that was requested, for a start that asks for none; one that was found is kept before a client can
   * know it.
   */
  keepPort(): void;
  close(): Promise<void>;
}

/** Where a cluster is served. */
export interface Place {
  /** Keeps the port over restarts. */
  readonly folder: string;
  readonly listen: NonNullable<LogicalClusterOptions["listen"]>;
  readonly route: HandlerOptions["route"];
  /** Answers every request instead of what `route` leads to. */
  readonly answer?: ReturnType<typeof requestHandler>;
}

const isTaken = (error: unknown): boolean => error instanceof InputError && error.code === "APISERVER_PORT_TAKEN";

/**
 * At the port that it had, which a process that is ending may have for a moment. Real time: the other process has no
 * other.
 */
async function back(options: Omit<ListenerOptions, "port">, port: number, log: Log): Promise<Listener> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await listen({ ...options, port });
    } catch (error) {
      if (!isTaken(error) || attempt === ATTEMPTS) throw error;
      if (attempt === 1) log.warn("another process has the port; it is tried again for ten seconds", { port });
    }
    await systemClock.sleep(PAUSE);
  }
}

/** Ports of clients that are tried where none of the steady ones is free. */
const OF_CLIENTS = 16;

/**
 * At a port that will be free at the next start, too, as long as no other server takes it, and that no other cluster
 * has, which may not be served now. Throws APISERVER_NO_FREE_PORT: to take the port of another one would keep that one
 * from coming back.
 */
export async function anywhere(
  options: Omit<ListenerOptions, "port">,
  others: Pick<ReadonlySet<number>, "has">,
): Promise<Listener> {
  for (const port of steadyPorts().filter((each) => !others.has(each))) {
    try {
      return await listen({ ...options, port });
    } catch (error) {
      if (!isTaken(error)) throw error;
    }
  }
  for (let attempt = 1; attempt <= OF_CLIENTS; attempt++) {
    const listener = await listen({ ...options, port: 0 });
    if (!others.has(listener.port)) return listener;
    await listener.close();
  }
  const { host } = options;
  throw new InputError("APISERVER_NO_FREE_PORT", `no port of ${host} was found that no other cluster has`, {
    hint: "Remove clusters that are not needed, run those with runtime Pods, or name a free port for this one.",
    details: { host },
  });
}

/** A port that is requested and that another cluster has would keep that one from coming back. */
function refuseKept(place: { readonly host: string; readonly port: number }, name: string, ports: KeptPorts): void {
  const owner = ports.ownerOf(place, name);
  if (owner === undefined) return;
  const { host, port } = place;
  throw new InputError("APISERVER_PORT_TAKEN", `port ${port} of ${host} is kept for cluster ${owner}`, {
    hint: `Choose another port, or remove ${owner}: it is not served now, and comes back at this port.`,
    details: { host, port },
  });
}

/** Throws APISERVER_PORT_TAKEN, APISERVER_NO_FREE_PORT, APISERVER_CANNOT_LISTEN, SERVING_CERTIFICATE_INVALID. */
export async function openEndpoint(
  cluster: Identified,
  { folder, listen: wanted, route, answer }: Place,
  { files, clock, log, turns, pool, ports }: Pick<Shared, "files" | "clock" | "log" | "turns" | "pool" | "ports">,
): Promise<Endpoint> {
  const { host, port, names, serving: given } = wanted;
  const kept = Number(files.read(`${folder}/port`) ?? 0);
  const issue = (): Promise<ServingCertificate> => issueServing(cluster, [...names, host]);
  let serving = given ? readServing(given, { clock, log }) : await issue();
  const handler = answer ?? requestHandler({ route, log, clock });
  const accepted = (): void => turns.noticed();
  const { certificate } = serving;
  const isManagement = folder === "management";
  const limits = { pool, isManagement };
  const options = { host, certificate, handler, accepted, ...limits };
  const name = basename(folder);
  if (port && port !== kept) refuseKept({ host, port }, name, ports);
  const found = (): Promise<Listener> => anywhere(options, ports.others(name));
  const listener = await (port ? listen({ ...options, port }) : kept ? back(options, kept, log) : found());
  const keep = (): void => {
    if (listener.port !== kept) files.write(`${folder}/port`, String(listener.port));
  };
  if (!port) keep();
  const keepPort = (): void => {
    try {
      keep();
    } catch (error) {
      log.warn("the port was not kept for the next start", { reason: messageOf(error) });
    }
  };
  const closing = new AbortController();
  const take = (next: ServingCertificate): void => {
    listener.renew(next.certificate);
    serving = next;
  };
  const reload = (): void => {
    if (given) take(readServing(given, { clock, log }));
  };
  if (!given) {
    const renew = async () => {
      take(await issue());
      return serving.certificate;
    };
    renewInTime(serving.certificate, { clock, signal: closing.signal, renew }).catch((error: unknown) => {
      if (!closing.signal.aborted) log.error("the serving certificate was not renewed", { reason: messageOf(error) });
    });
  }
  return {
    host: listener.host,
    port: listener.port,
    get authority() {
      return serving.authority;
    },
    files: given
      ? [given.certificateFile, given.keyFile, given.authorityFile].map((path) => ({ path, changed: reload }))
      : [],
    reload,
    reissue: async () => {
      if (!given) take(await issue());
    },
    endUnless: (keeps) => listener.endUnless(keeps),
    keepPort,
    close: () => {
      closing.abort();
      keepPort();
      return listener.close();
    },
  };
}
