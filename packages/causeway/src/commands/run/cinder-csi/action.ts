import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { claimAnnotationsFrom, startDriver, type DriverOptions } from "@causeway/cinder-csi";
import {
  createMetrics,
  InputError,
  messageOf,
  readTextFile,
  systemClock,
  whenAborted,
  type Log,
  type Metrics,
} from "@causeway/foundation";
import { createClient, inClusterConfig, loadKubeconfig } from "@causeway/kubernetes";
import { ownVersion } from "../../../release.ts";
import type { RawFlags } from "./command.ts";
import { commandLog } from "../../../terminal/text-log.ts";

/**
 * Serves the driver until the signal aborts.
 * @throws FLAG_INVALID, CLOUD_CONF_UNREADABLE, CINDER_CSI_CONFIG_INVALID, CSI_ENDPOINT_INVALID, CSI_ENDPOINT_IN_USE, ENDPOINT_PORT_TAKEN
 */
export async function runCinderCsi(raw: RawFlags, signal: AbortSignal): Promise<void> {
  const services = servicesOf(raw);
  const files = raw.cloudConfig ?? [];
  if (services.includes("controller") && files.length === 0)
    throw invalid("cloud-config", "given: the controller service needs it");
  const topology = topologyOf(raw.additionalTopology ?? []);
  const log = logOf(raw);
  const metrics = createMetrics();
  const client =
    raw.pvcAnnotations === "true"
      ? createClient(clusterOf(raw), { userAgent: "cinder-csi", clock: systemClock })
      : undefined;
  const driver = await startDriver({
    endpoint: raw.endpoint,
    version: ownVersion(),
    services,
    topology,
    log,
    metrics,
    clusterId: raw.cluster,
    withTopology: raw.withTopology === "true",
    cloudConf: () => files.map(read).join("\n"),
    cloudNames: raw.cloudName ?? [""],
    userAgent: (raw.userAgent ?? []).join(" "),
    ...(client && { claimAnnotations: claimAnnotationsFrom(client) }),
  });
  let server: Server | undefined;
  try {
    server = raw.httpEndpoint === undefined ? undefined : await serveHttp(raw.httpEndpoint, metrics);
    log.info("the CSI driver is served", { endpoint: raw.endpoint, services });
    await whenAborted(signal);
  } finally {
    server?.closeAllConnections();
    server?.close();
    await driver.close();
    await client?.close();
  }
}

function servicesOf({
  controller,
  node,
  provideControllerService,
  provideNodeService,
}: RawFlags): DriverOptions["services"] {
  const isOnly = controller === true || node === true;
  const all = [
    { name: "controller" as const, serves: isOnly ? controller === true : provideControllerService === "true" },
    { name: "node" as const, serves: isOnly ? node === true : provideNodeService === "true" },
  ];
  const services = all.filter(({ serves }) => serves).map(({ name }) => name);
  if (services.length > 0) return services;
  throw invalid("provide-node-service", "true, unless --provide-controller-service is");
}

function topologyOf(pairs: readonly string[]): Readonly<Record<string, string>> {
  const segments = pairs
    .flatMap((text) => text.split(","))
    .map((text) => {
      const at = text.indexOf("=");
      if (at < 1) throw invalid("additional-topology", "KEY=VALUE");
      return [text.slice(0, at), text.slice(at + 1)] as const;
    });
  return Object.fromEntries(segments);
}

function read(path: string): string {
  try {
    return readTextFile(path);
  } catch (cause) {
    throw new InputError("CLOUD_CONF_UNREADABLE", `The cloud.conf ${path} cannot be read: ${messageOf(cause)}`, {
      cause,
      hint: "Give the path of a file that this user may read with --cloud-config.",
    });
  }
}

function clusterOf({ kubeconfig, master }: RawFlags) {
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
  if (port === "" || Number(port) > 65_535) throw invalid("http-endpoint", "HOST:PORT or :PORT");
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

function logOf({ logLevel, v }: RawFlags): Log {
  const level = logLevel ?? (Number(v) >= 4 ? "debug" : Number(v) >= 1 ? "info" : "warn");
  return commandLog(level);
}

const invalid = (flag: string, must: string) => new InputError("FLAG_INVALID", `--${flag} must be ${must}.`);
