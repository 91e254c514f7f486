import { serveCsi, type CsiServer } from "@causeway/csi";
import { callMetrics, deviceFromMetadata, linuxHost, metadataReader, translate } from "@causeway/csi-openstack";
import { messageOf, silentLog, systemClock, type Clock, type Log, type Metrics } from "@causeway/foundation";
import { connectCloud, watchCloud, type Cloud, type CloudWatch } from "@causeway/openstack";
import { Clouds, type BlockStorageOptions, type StorageCloud } from "./clouds.ts";
import { parseDriverConfig, parseNamedCloud } from "./config.ts";
import { createController, type ControllerOptions } from "./controller/controller.ts";
import { createGroupController } from "./controller/group-controller.ts";
import { createIdentity } from "./identity.ts";
import { createNode } from "./node/node.ts";

/** The socket, the services and the cloud of a driver. */
export interface DriverOptions {
  readonly endpoint: string;
  /** Of this program. */
  readonly version: string;
  /** Reads the text of cloud.conf, at the start and whenever credentials may have been rotated. */
  readonly cloudConf?: () => string;
  /** Sections [Global "NAME"]; "" is the unnamed one. */
  readonly cloudNames?: readonly string[];
  readonly services: readonly ("controller" | "node")[];
  readonly clusterId?: string;
  readonly withTopology?: boolean;
  readonly topology?: Readonly<Record<string, string>>;
  readonly claimAnnotations?: NonNullable<ControllerOptions["claimAnnotations"]>;
  readonly userAgent?: string;
  readonly metrics?: Metrics;
  readonly clock?: Clock;
  readonly log?: Log;
}

/** A driver that serves its socket until it is closed. */
export interface RunningDriver {
  close(): Promise<void>;
}

/** Connects the clouds of the configuration and serves the driver. Wrong input ends it before anything is served. */
export async function startDriver(options: DriverOptions): Promise<RunningDriver> {
  const { clock = systemClock, log = silentLog, withTopology = true, cloudConf = () => "" } = options;
  const config = parseDriverConfig(cloudConf());
  for (const warning of config.warnings) log.warn(`cloud.conf: ${warning}`);
  const blockStorage = liveOptions(cloudConf, config.blockStorage, { clock, log });
  const isController = options.services.includes("controller");
  const connected = isController ? connect(options, cloudConf) : [];
  const clouds = new Clouds(
    connected.map(({ name, cloud, watch }): StorageCloud => {
      return {
        name,
        cloud,
        volumes: watch.volumes,
        get options() {
          return blockStorage();
        },
      };
    }),
  );
  warmUp(connected);
  const observed = options.metrics && callMetrics(options.metrics);
  let server: CsiServer | undefined;
  const close = async () => {
    await server?.close();
    for (const { cloud, watch } of connected) {
      await watch.close();
      await cloud.close();
    }
  };
  try {
    server = await serveCsi({
      endpoint: options.endpoint,
      clock,
      log,
      translate,
      ...(observed && { onCall: observed }),
      identity: createIdentity({
        version: options.version,
        withTopology,
        clock,
        ...(isController && { check: reachable(connected) }),
      }),
      ...(isController && {
        controller: createController({ ...options, clouds, withTopology, clock, log }),
        groupController: createGroupController({ ...options, clouds, clock, log }),
      }),
      ...(options.services.includes("node") && { node: nodeOf(options, config, { clock, withTopology }) }),
    });
  } catch (error) {
    await close();
    throw error;
  }
  return { close };
}

/** Milliseconds. */
const REREAD = 10_000;

/** [BlockStorage] as cloud.conf has it now. A file that is not valid changes nothing. */
function liveOptions(
  read: () => string,
  first: BlockStorageOptions,
  { clock, log }: { readonly clock: Clock; readonly log: Log },
): () => BlockStorageOptions {
  let [current, readAt] = [first, clock.now()];
  return () => {
    if (clock.now() - readAt < REREAD) return current;
    readAt = clock.now();
    try {
      current = parseDriverConfig(read()).blockStorage;
    } catch (error) {
      log.warn("cloud.conf cannot be read again; the earlier values remain", { error: messageOf(error) });
    }
    return current;
  };
}

interface Connected {
  readonly name: string;
  readonly cloud: Cloud;
  readonly watch: CloudWatch;
}

/**
 * Every call that decides something reads a list that began after it, or asks the cloud: while nothing is under way,
 * lists are for ListVolumes alone. Volumes that change at the same time share a list.
 */
const INTERVALS = { slow: 30 * 60_000, apart: 250 };

function connect(
  { cloudNames = [""], clock = systemClock, log = silentLog, metrics, userAgent }: DriverOptions,
  read: () => string,
): Connected[] {
  return cloudNames.map((name) => {
    const reload = () => parseNamedCloud(read(), name);
    const settings = {
      clock,
      log,
      reload,
      ...(metrics && { metrics }),
      userAgent: ["cinder-csi", userAgent ?? ""].join(" ").trim(),
    };
    const cloud = connectCloud(reload(), settings);
    return { name, cloud, watch: watchCloud(cloud, { clock, log, intervals: INTERVALS }) };
  });
}

/**
 * Authenticates and lists while the server and the sidecars start: both are needed by their first calls, which then do
 * not wait for the cloud. What fails here fails again, with its error, in the call that needs it.
 */
function warmUp(connected: readonly Connected[]): void {
  for (const { watch } of connected) watch.volumes.start().catch(() => {});
}

/** Whether every cloud accepts the credentials. */
function reachable(connected: readonly Connected[]): (signal: AbortSignal) => Promise<void> {
  return async (signal) => {
    for (const { cloud } of connected) await cloud.projectId({ signal });
  };
}

function nodeOf(
  { topology = {} }: DriverOptions,
  config: ReturnType<typeof parseDriverConfig>,
  { clock, withTopology }: { readonly clock: Clock; readonly withTopology: boolean },
) {
  const host = linuxHost();
  return createNode({
    host,
    metadata: metadataReader({ host, order: config.metadataOrder }),
    withTopology,
    topology,
    clock,
    rescanOnResize: config.rescanOnResize,
    deviceFallback: (id) => deviceFromMetadata({ host }, id).catch(() => undefined),
    ...(config.attachLimit !== undefined && { attachLimit: config.attachLimit }),
  });
}
