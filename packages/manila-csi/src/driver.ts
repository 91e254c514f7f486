import { serveCsi, type CsiServer } from "@causeway/csi";
import { callMetrics, linuxHost, metadataReader, translate, type ServerMetadata } from "@causeway/csi-openstack";
import { InputError, silentLog, systemClock, type Clock, type Log, type Metrics } from "@causeway/foundation";
import { connectCloud } from "@causeway/openstack";
import { createController } from "./controller/controller.ts";
import type { ClaimAnnotations } from "./controller/placement.ts";
import { createIdentity } from "./identity.ts";
import { DRIVER_NAME } from "./names.ts";
import { proxiedDriver } from "./node/forward.ts";
import { createNode } from "./node/node.ts";
import { requireProtocol } from "./protocol.ts";
import { readRuntimeConfig } from "./runtime-config.ts";
import { Connections } from "./shares/connections.ts";

/** The socket, the services, the cloud and the protocol of a driver. */
export interface DriverOptions {
  readonly endpoint: string;
  /** Of this program. */
  readonly version: string;
  readonly driverName?: string;
  /** NFS or CEPHFS. */
  readonly protocol: string;
  /** The socket of the protocol's own driver; the node service needs it. */
  readonly proxiedEndpoint?: string;
  readonly services: readonly ("controller" | "node")[];
  readonly clusterId?: string;
  readonly withTopology?: boolean;
  readonly runtimeConfigFile?: string;
  readonly claimAnnotations?: ClaimAnnotations;
  /** In place of the server's own metadata. */
  readonly metadata?: () => Promise<Pick<ServerMetadata, "uuid" | "zone">>;
  readonly userAgent?: string;
  readonly metrics?: Metrics;
  readonly clock?: Clock;
  readonly log?: Log;
}

/** A driver that serves its socket until it is closed. */
export interface RunningDriver {
  close(): Promise<void>;
}

/**
 * Serves the driver. Wrong input ends it before anything is served. Throws MANILA_CSI_FLAG_INVALID,
 * CSI_ENDPOINT_INVALID, CSI_ENDPOINT_IN_USE, CSI_ENDPOINT_UNUSABLE.
 * @example
 * const serving = { endpoint: "unix:///csi/csi.sock", version: "1.0.0" };
 * const driver = await startDriver({ ...serving, protocol: "NFS", services: ["controller"] });
 * await driver.close();
 */
export async function startDriver(options: DriverOptions): Promise<RunningDriver> {
  const { clock = systemClock, log = silentLog, metrics, withTopology = false } = options;
  const protocol = requireProtocol(options.protocol);
  requireName(options.driverName ?? DRIVER_NAME);
  const hasNode = options.services.includes("node");
  if (hasNode && (options.proxiedEndpoint ?? "") === "") {
    throw new InputError("MANILA_CSI_FLAG_INVALID", "The node service needs --fwdendpoint.", {
      hint: "Specify the socket of csi-driver-nfs or ceph-csi on this node.",
    });
  }
  const proxied = hasNode ? proxiedDriver(options.proxiedEndpoint ?? "") : undefined;
  const userAgent = ["manila-csi-plugin", options.userAgent ?? ""].join(" ").trim();
  const connections = new Connections({
    clock,
    connect: (config) => connectCloud(config, { clock, log, userAgent, ...(metrics && { metrics }) }),
  });
  const shared = { connections, protocol, withTopology };
  let server: CsiServer | undefined;
  const close = async () => {
    await server?.close();
    proxied?.close();
    await connections.close();
  };
  try {
    server = await serveCsi({
      endpoint: options.endpoint,
      clock,
      log,
      translate,
      ...(metrics && { onCall: callMetrics(metrics) }),
      identity: createIdentity({ ...options, withTopology, ...(proxied && { proxied }) }),
      ...(options.services.includes("controller") && {
        controller: createController({ ...options, ...shared, clock, log }),
      }),
      ...(proxied && {
        node: createNode({
          ...shared,
          proxied,
          metadata: options.metadata ?? metadataReader({ host: linuxHost() }),
          runtime: () => readRuntimeConfig(options.runtimeConfigFile),
        }),
      }),
    });
  } catch (error) {
    await close();
    throw error;
  }
  return { close };
}

/** As the CSI specification has the names of plugins. */
function requireName(name: string): void {
  if (name.length <= 63 && /^[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?$/i.test(name)) return;
  throw new InputError("MANILA_CSI_FLAG_INVALID", `The driver name "${name.slice(0, 100)}" is not valid.`, {
    hint: "--drivername has at most 63 letters, digits, dots and hyphens, like nfs.manila.csi.openstack.org.",
  });
}
