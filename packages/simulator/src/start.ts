import { Hono } from "hono";
import { getPath } from "hono/utils/url";
import { CallLog } from "./cloud/calls.ts";
import { cloudsYamlOf } from "./cloud/clouds-yaml.ts";
import { readContent, writeContent } from "./cloud/contents.ts";
import { controlApp, type Route } from "./cloud/control.ts";
import { Faults } from "./cloud/faults.ts";
import { listen, requireLoopback } from "./cloud/listen.ts";
import { answerError, mountServices, type CloudApp, type Mounted } from "./cloud/mount.ts";
import { serviceClient } from "./cloud/service-client.ts";
import { Snapshots } from "./cloud/snapshots.ts";
import { machinesOf } from "./metadata/rules/machines.ts";
import { createMetadataService } from "./metadata/service.ts";
import { createComputeService } from "./compute/service.ts";
import { dataPathApp } from "./data-path/control.ts";
import { startDataPath } from "./data-path/start-data-path.ts";
import type { DataPath } from "./data-path/data-path.ts";
import { identityTables } from "./identity/model.ts";
import { seedIdentity } from "./identity/seed.ts";
import { createIdentityService } from "./identity/service.ts";
import { createImageService } from "./image/service.ts";
import { createShareService } from "./shares/service.ts";
import type { Simulator, SimulatorOptions, StartSimulator } from "./interface.ts";
import { createKeyManagerService } from "./key-manager/service.ts";
import { createKernel, type OwnedKernel } from "./kernel/kernel.ts";
import { createLoadBalancingService } from "./load-balancing/service.ts";
import { createNetworkService, seedNetwork } from "./network/service.ts";
import { createObjectStoreService } from "./object-store/service.ts";
import { createOrchestrationService } from "./orchestration/service.ts";
import { magnumControl } from "./container-infra/control.ts";
import { createContainerInfraService } from "./container-infra/service.ts";
import { createPlacementService } from "./placement/service.ts";
import { createStorageService } from "./storage/service.ts";

const region = "RegionOne";

/**
 * Starts a cloud, new or with the state in `dir`, and waits until it accepts requests. Errors: STATE_TOO_NEW,
 * STATE_IN_USE, STATE_UNREADABLE, PORT_TAKEN, NOT_LOOPBACK.
 * @example
 * const simulator = await startSimulator();
 * writeFileSync("clouds.yaml", simulator.cloudsYaml);
 * await simulator.close();
 */
export const startSimulator: StartSimulator = async (options = {}) => {
  const host = options.host ?? "127.0.0.1";
  requireLoopback(host, options.insecure);
  const kernel = createKernel(options);
  try {
    return await startOn(kernel, host, options);
  } catch (error) {
    kernel.close();
    throw error;
  }
};

async function startOn(kernel: OwnedKernel, host: string, options: SimulatorOptions): Promise<Simulator> {
  seedIdentity(kernel);
  const [calls, faults] = [new CallLog(), new Faults()];
  const projectId = (idOrName: string) => identityTables(kernel).projects.by("name", idOrName)[0]?.id ?? idOrName;
  const network = createNetworkService(kernel, options.extensions);
  const dataPath = options.dataPath === true ? startDataPath(kernel, network) : undefined;
  const heatMagnum = options.heatMagnum === true;
  const snapshots = new Snapshots(kernel);
  const app = assemble(kernel, network, { calls, faults, snapshots, projectId, dataPath, heatMagnum });
  kernel.flush();
  const kept = Number(kernel.store.setting("port") ?? 0);
  const server = await listen(app.fetch, { host, port: options.port ?? kept });
  kernel.store.setSetting("port", String(server.port));
  kernel.start();
  const authUrl = `${originOf(host, server.port)}/identity/v3`;
  return {
    authUrl,
    cloudsYaml: cloudsYamlOf(authUrl, region),
    calls: calls.records,
    setFaults: (decide) => {
      faults.decide = decide;
    },
    setQuota: (project, resource, limit) => {
      kernel.setQuota(projectId(project), resource, limit);
      kernel.flush();
    },
    setOutcomes: (rules) => {
      kernel.settings.outcomes = rules;
      dataPath?.refresh();
    },
    setDelay: (operation, milliseconds) => void kernel.settings.delays.set(operation, milliseconds),
    inventory: (project) => kernel.inventory(project === undefined ? undefined : projectId(project)),
    content: (id) => readContent(kernel, id),
    write: (id, write) => writeContent(kernel, id, write),
    snapshot(name) {
      snapshots.take(name);
      return () => void snapshots.restore(name);
    },
    advance: (milliseconds) => kernel.advance(milliseconds),
    machines: machinesOf(kernel, network),
    dataPath: dataPath && {
      listeners: () => dataPath.listeners(),
      setMembers: (members) => dataPath.table.setMembers(members),
      setClients: (clients) => dataPath.table.setClients(clients),
    },
    async close() {
      await dataPath?.close();
      await server.close();
      kernel.close();
    },
  };
}

/** Where clients on this machine reach it: an address that represents all of them is not an address. */
function originOf(host: string, port: number): string {
  const reached = host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "::1" : host;
  return `http://${reached.includes(":") ? `[${reached}]` : reached}:${port}`;
}

type NetworkService = ReturnType<typeof createNetworkService>;

interface Handles {
  readonly calls: CallLog;
  readonly faults: Faults;
  readonly snapshots: Snapshots;
  readonly projectId: (idOrName: string) => string;
  readonly dataPath: DataPath | undefined;
  readonly heatMagnum: boolean;
}

/** All services and the control API in one app. */
function assemble(kernel: OwnedKernel, network: NetworkService, handles: Handles): CloudApp {
  const { calls, faults, snapshots, projectId, dataPath } = handles;
  const mounted: Mounted[] = [];
  const identity = createIdentityService(kernel, { region, services: () => mounted });
  seedNetwork(kernel);
  const storage = createStorageService(kernel);
  const ask = serviceClient(() => mounted);
  const compute = createComputeService(kernel, { network, volumes: storage.links, ask });
  mounted.push(
    { root: "/identity", service: identity },
    { root: "/network", service: network },
    { root: "/share", service: createShareService(kernel) },
    { root: "/compute", service: compute },
    { root: "/load-balancer", service: createLoadBalancingService(kernel, network) },
    { root: "/image", service: createImageService(kernel) },
    { root: "/volume", service: storage },
    { root: "/placement", service: createPlacementService(kernel) },
    { root: "/key-manager", service: createKeyManagerService(kernel) },
    { root: "/object-store", service: createObjectStoreService(kernel) },
    { root: "/orchestration", service: createOrchestrationService(kernel, ask, { mayAbandon: handles.heatMagnum }) },
  );
  if (handles.heatMagnum) mounted.push({ root: "/container-infra", service: createContainerInfraService(kernel) });
  const app: CloudApp = new Hono({ getPath: (request) => withoutRootSlash(getPath(request)) });
  app.onError((error, c) => answerError(error, c));
  app.route("/metadata", createMetadataService(kernel, network));
  const control = controlApp({ kernel, calls, faults, snapshots, projectId, region, routes: () => routesOf(mounted) });
  if (handles.heatMagnum) control.route("/magnum", magnumControl(kernel));
  if (dataPath) control.route("/data-path", dataPathApp(dataPath));
  app.route("/_control", control);
  // For a person who opens the address that `causeway cloud` prints.
  const services = mounted.map(({ root, service }) => ({ type: service.type, path: root }));
  app.get("/", (c) => c.json({ name: "simulated OpenStack", services, control: "/_control" }));
  app.route("/", mountServices({ kernel, calls, faults, authenticate: identity.authenticate }, mounted));
  return app;
}

function routesOf(mounted: readonly Mounted[]): readonly Route[] {
  return mounted.flatMap(({ root, service }) =>
    service.app.routes
      .filter(({ method }) => method !== "ALL")
      .map(({ method, path }) => ({ method, path: root + path })),
  );
}

/**
 * A service's root is one with a slash at its end and without, as with the real ones: Go's SDK requests the former. So
 * is all of Keystone.
 */
function withoutRootSlash(path: string): string {
  return path.replace(/^(\/[^/]+|\/identity\/v3\/.+)\/$/, "$1");
}
