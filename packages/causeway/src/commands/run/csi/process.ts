import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { serveRegistration, type RegistrationOptions, type RegistrationServer } from "@causeway/csi";
import { claimAnnotationsFrom } from "@causeway/csi-openstack";
import { InputError, messageOf, systemClock, whenAborted, type Log, type Metrics } from "@causeway/foundation";
import { createClient, inClusterConfig, loadKubeconfig } from "@causeway/kubernetes";
import { levelOf } from "../../../options/logging.ts";
import { commandLog } from "../../../terminal/text-log.ts";
import { invalidFlag } from "./flags.ts";

/** A driver, and what is served next to it. */
export interface DriverProcess {
  /** host:port of /metrics and /healthz; undefined serves none. */
  readonly httpEndpoint: string | undefined;
  readonly metrics: Metrics;
  /** What the log says of the driver when it is served. */
  readonly served: { readonly driver: string; readonly endpoint: string; readonly services: readonly string[] };
  readonly start: () => Promise<{ close(): Promise<void> }>;
  readonly log: Log;
  /** undefined: another process registers the driver. */
  readonly registration: Omit<RegistrationOptions, "log"> | undefined;
}

/** The flags about the kubelet; without the first one the driver is not registered. */
export interface RegistrationFlags {
  readonly kubeletRegistrationPath?: string | undefined;
  readonly pluginRegistrationPath: string;
}

/** For `runDriver`; `name` is the driver's. */
export function registrationOf(
  { kubeletRegistrationPath: endpoint, pluginRegistrationPath: folder }: RegistrationFlags,
  name: string,
): DriverProcess["registration"] {
  return endpoint === undefined ? undefined : { folder, name, endpoint };
}

/**
 * Runs a driver until the signal aborts, or the kubelet refuses it.
 * @throws FLAG_INVALID, ENDPOINT_PORT_TAKEN, CSI_REGISTRATION_REFUSED, and what its start throws
 */
export async function runDriver(
  { httpEndpoint, metrics, served, start, log, registration }: DriverProcess,
  signal: AbortSignal,
): Promise<void> {
  const driver = await start();
  let server: Server | undefined;
  let registered: RegistrationServer | undefined;
  try {
    registered = registration && (await serveRegistration({ ...registration, log }));
    server = httpEndpoint === undefined ? undefined : await serveHttp(httpEndpoint, metrics);
    log.info("the CSI driver is served", { ...served });
    await Promise.race([whenAborted(signal), ...(registered ? [registered.refused] : [])]);
  } finally {
    await registered?.close();
    server?.closeAllConnections();
    server?.close();
    await driver.close();
  }
}

/** The flags about annotations of claims, and how the cluster is reached that has them. */
export interface ClaimFlags {
  readonly pvcAnnotations: "true" | "false";
  readonly kubeconfig?: string | undefined;
  readonly master?: string | undefined;
}

/** Reads annotations of claims (--pvc-annotations); undefined: the flag is not set. */
export function claimReader(flags: ClaimFlags, userAgent: string) {
  if (flags.pvcAnnotations !== "true") return undefined;
  const client = createClient(clusterOf(flags), { userAgent, clock: systemClock });
  return { read: claimAnnotationsFrom(client), close: () => client.close() };
}

function clusterOf({ kubeconfig, master }: ClaimFlags) {
  const config =
    kubeconfig !== undefined
      ? loadKubeconfig({ path: kubeconfig })
      : master === undefined
        ? inClusterConfig()
        : { server: master };
  return master === undefined ? config : { ...config, server: master };
}

/** Metrics of a pod's own network, as upstream serves them: without TLS and without a login. */
async function serveHttp(address: string, metrics: Metrics): Promise<Server> {
  const [, host = "", port = ""] = /^\[?([^\]]*?)\]?:(\d{1,5})$/.exec(address) ?? [];
  if (port === "" || Number(port) > 65_535) throw invalidFlag("http-endpoint", "HOST:PORT or :PORT");
  const server = createServer((request, response) => {
    const path = (request.url ?? "/").split("?", 1)[0];
    if (path !== "/metrics")
      return void response.writeHead(path === "/healthz" ? 200 : 404).end(path === "/healthz" ? "ok\n" : "not found\n");
    metrics.render().then(
      (text) => response.writeHead(200, { "Content-Type": metrics.contentType }).end(text),
      () => response.writeHead(500).end("internal error\n"),
    );
  });
  server.listen(Number(port), host === "" ? undefined : host);
  try {
    await once(server, "listening");
  } catch (cause) {
    throw new InputError("ENDPOINT_PORT_TAKEN", `Metrics cannot be served at ${address}: ${messageOf(cause)}.`, {
      cause,
      hint: "Choose another address with --http-endpoint.",
    });
  }
  return server;
}

/** The log of a driver, at the level of its flags. */
export const logOf = (flags: Parameters<typeof levelOf>[0]): Log => commandLog(levelOf(flags));
