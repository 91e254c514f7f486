import { join } from "node:path";
import type { Source } from "../backup/archive.ts";
import { backUp, type Backup } from "../backup/backup.ts";
import type { Parked } from "../contract/parked.ts";
import type { ClusterInfo } from "../contract/cluster-info.ts";
import { CausewayError, messageOf, type Metrics } from "@causeway/foundation";
import type { KubeObject } from "@causeway/kubernetes";
import type { InProcessClient, LogicalCluster, LogicalClusterOptions } from "../interface.ts";
import type { ServerProblem } from "../contract/server-problem.ts";
import type { User } from "../contract/user.ts";
import { LocalClient } from "../local/client.ts";
import { startOwners } from "../local/controllers.ts";
import { builtInKinds } from "../kinds/builtin.ts";
import { ensureDefinitions } from "../definitions/preinstall.ts";
import { ConnectionPool, defaultLimits } from "../server/connection-pool.ts";
import { LogLimit } from "../server/log-limit.ts";
import { BytesInFlight } from "../flow/in-flight.ts";
import { ThreadTime } from "../contract/thread-time.ts";
import { Turns } from "../flow/turns.ts";
import { corrupt, isCorrupt, openStore, STATE_FILE, type Store } from "../store/index.ts";
import type { Charge } from "../store/interface.ts";
import { encryptionAtRest, type EncryptionAtRest } from "../encryption/at-rest.ts";
import { openEndpoint, type Endpoint } from "./endpoint.ts";
import { FirstObjects } from "./first-objects.ts";
import { checkOptions, openCluster, type Shared } from "./open-cluster.ts";
import { KeptPorts } from "./kept-ports.ts";
import { openParked } from "./parked.ts";
import { changeLive } from "./change-live.ts";
import { areLive, checkName, differences, savedOptions } from "./cluster-options.ts";
import { ServedClusters } from "./served-clusters.ts";
import type { ServerSettings } from "./server-settings.ts";
import { ReopenQueue } from "./reopen-queue.ts";
import { checkDescriptors, Problems } from "./problems.ts";
import { stateFiles, type StateFiles } from "../store/state-files.ts";
import { watchFiles, type WatchedFile } from "./watched-files.ts";

/** Everything a running server holds: the store, the listeners, the open clusters. */
export class ServerState {
  readonly #settings: ServerSettings;
  readonly #clusters: ServedClusters;
  readonly #opening = new Map<string, Promise<LogicalCluster>>();
  /** Endpoints of clusters that are parked. */
  readonly #parked = new Map<string, Endpoint>();
  readonly #closing = new AbortController();
  readonly #problems: Problems;
  readonly #reopening: ReopenQueue;
  #store: Store | undefined;
  #files: StateFiles = stateFiles(undefined);
  #shared: Shared | undefined;
  #encryption: EncryptionAtRest | undefined;
  #watch = (): void => {};
  #rewriting: Promise<void> = Promise.resolve();
  #resume: NodeJS.Timeout | undefined;

  constructor(settings: ServerSettings) {
    this.#settings = settings;
    this.#clusters = new ServedClusters(settings.clock);
    const { dir, clock, log, workerProblems: workers, changed = () => {} } = settings;
    const open = (name: string) => this.ensureCluster(name, savedOptions(this.#files, `clusters/${name}`));
    this.#reopening = new ReopenQueue({ open, changed, clock, log, signal: this.#closing.signal });
    const of = { dir, store: () => this.#store, now: () => clock.now() };
    this.#problems = new Problems(workers ? { ...of, workers } : of);
  }

  get problems(): readonly ServerProblem[] {
    return this.#problems.all;
  }

  /** Of the management cluster. */
  get metrics(): Metrics {
    return this.#clusters.opened("").open.cluster.metrics.registry;
  }

  /** Throws STATE_CORRUPT, and what `startApiServer` says. */
  async open(): Promise<void> {
    try {
      await this.#open();
    } catch (error) {
      throw isCorrupt(error) ? corrupt(join(this.#settings.dir ?? "", STATE_FILE), error) : error;
    }
  }

  async #open(): Promise<void> {
    const { dir, clock, log, conversions = [], rules = [] } = this.#settings;
    checkDescriptors(log);
    this.#files = stateFiles(dir);
    const { encryption, history, connections, controllers, authenticators } = this.#settings;
    const { thread = new ThreadTime() } = this.#settings;
    if (dir !== undefined) this.#encryption = encryptionAtRest(this.#files, { options: encryption, log });
    const past = history === undefined ? {} : { history };
    const kept = dir === undefined || !this.#encryption ? {} : { dir, codec: this.#encryption.codec };
    const charge: Charge = (cluster, request, work) => thread.run({ cluster, request }, work);
    this.#store = openStore({ ...past, ...kept, charge });
    await this.#encryption?.open(this.#store.revision === 0);
    this.#shared = {
      authenticators,
      owners: controllers && ((cluster) => startOwners(cluster, controllers)),
      store: this.#store,
      files: this.#files,
      clock,
      log,
      builtIns: builtInKinds(),
      conversions,
      rules,
      first: new FirstObjects(this.#settings.firstObjects),
      turns: new Turns().measuredBy(thread),
      thread,
      problems: this.#problems,
      bytes: new BytesInFlight(),
      ports: new KeptPorts(this.#files, this.#settings.around),
      pool: new ConnectionPool(
        { ...defaultLimits(undefined, this.#tenants !== "only"), ...connections },
        new LogLimit(log, clock),
      ),
    };
    for (const name of this.#settings.removed ?? []) await this.removeCluster(name);
    if (this.#tenants !== "only") await this.#openManagement(this.#shared);
    if (this.#tenants !== "elsewhere") await this.#openTenants();
    this.#watch = watchFiles(() => this.#watched(), { clock, log }, this.#closing.signal);
    this.#watch();
    this.#rewriteLater();
  }

  get #tenants(): NonNullable<ServerSettings["tenants"]> {
    return this.#settings.tenants ?? "here";
  }

  async #openManagement(shared: Shared): Promise<void> {
    const { host = "127.0.0.1", port = 0, crds = [], management: guard = {} } = this.#settings;
    const place = {
      name: "",
      folder: "management",
      url: () => this.#clusters.urlOf(""),
      servingAuthority: () => this.#clusters.servingOf(""),
    };
    const management = await openCluster(shared, place, guard);
    await ensureDefinitions(management.cluster, crds);
    this.#clusters.set("", { open: management, listener: undefined });
    const { serving } = this.#settings;
    const where = {
      folder: "management",
      listen: { host, port, names: [], ...(serving ? { serving } : {}) },
      route: (path: string) => this.#clusters.route(path),
    };
    this.#clusters.listener = await openEndpoint(management.cluster, where, shared);
    const startControllers = () => {
      this.#clusters.listener?.keepPort();
      management.resume();
    };
    const { controllersAfter = 0 } = this.#settings;
    if (controllersAfter > 0) this.#resume = setTimeout(startControllers, controllersAfter);
    else startControllers();
  }

  /**
   * In a worker process a cluster that cannot be opened is reported, and does not keep the others from being served.
   */
  async #openTenants(): Promise<void> {
    for (const name of this.#files.names("clusters")) {
      const saved = this.#files.read(`clusters/${name}/cluster.json`);
      if (saved === undefined) continue;
      try {
        const parked = this.#settings.parked?.get(name);
        if (parked) await this.park(name, parked);
        else await this.ensureCluster(name, JSON.parse(saved) as LogicalClusterOptions);
      } catch (error) {
        if (this.#tenants !== "only") throw error;
        this.#unopened(name, error);
      }
    }
  }

  get firstObjects(): readonly KubeObject[] {
    return this.#running().first.all;
  }

  management(): LogicalCluster {
    return this.#clusters.logical("");
  }

  /** A client of the management cluster without a connection. */
  localClient(user: User, fieldManager?: string): InProcessClient {
    return new LocalClient(this.#clusters.opened("").open.cluster, user, fieldManager);
  }

  cluster(name: string): LogicalCluster | undefined {
    return name !== "" && this.#clusters.has(name) ? this.#clusters.logical(name) : undefined;
  }

  async ensureCluster(name: string, options: LogicalClusterOptions): Promise<LogicalCluster> {
    checkName(name);
    const known = this.#clusters.get(name);
    if (known && differences(known, options).length === 0) return this.#clusters.logical(name);
    const before = this.#opening.get(name) ?? Promise.resolve();
    const made = before.then(() => this.#make(name, options));
    const settled = made.finally(() => {
      if (this.#opening.get(name) === settled) this.#opening.delete(name);
    });
    this.#opening.set(name, settled);
    return settled;
  }

  async #make(name: string, options: LogicalClusterOptions): Promise<LogicalCluster> {
    const shared = this.#running();
    const known = this.#clusters.get(name);
    const changed = known ? differences(known, options) : undefined;
    if (known && changed && areLive(changed)) {
      await changeLive(known, { asked: options, changed, keep: (all) => this.#keep(name, all) });
      return this.#clusters.logical(name);
    }
    const folder = `clusters/${name}`;
    const merged = { ...savedOptions(this.#files, folder), ...options };
    checkOptions(merged);
    if (known) await this.#end(name);
    try {
      await this.#serve(name, merged, shared);
    } catch (error) {
      // What was served before is served again.
      if (known) await this.#serve(name, known.open.options, shared).catch((e: unknown) => this.#unopened(name, e));
      throw error;
    }
    this.#watch();
    return this.#clusters.logical(name);
  }

  async #serve(name: string, options: LogicalClusterOptions, shared: Shared): Promise<void> {
    const folder = `clusters/${name}`;
    const place = {
      name,
      folder,
      url: () => this.#clusters.urlOf(name),
      servingAuthority: () => this.#clusters.servingOf(name),
    };
    const open = await openCluster(shared, place, options);
    let listener: Endpoint | undefined;
    try {
      const route = (path: string) => ({ served: open, path });
      const { listen } = options;
      if (listen) listener = await openEndpoint(open.cluster, { folder, listen, route }, shared);
      this.#keep(name, options);
    } catch (error) {
      await listener?.close();
      await open.stop();
      throw error;
    }
    listener?.keepPort();
    this.#clusters.set(name, { open, listener });
    this.#reopening.served(name);
    open.resume();
  }

  /** What it is opened with the next time, without its keys. */
  #keep(name: string, options: LogicalClusterOptions): void {
    const {
      authority: _authority,
      serviceAccountKey: _key,
      frontProxy: _proxy,
      rotation: _rotation,
      ...kept
    } = options;
    this.#files.write(`clusters/${name}/cluster.json`, JSON.stringify(kept));
  }

  #unopened(name: string, error: unknown): void {
    if (this.#tenants === "only") this.#reopening.failed(name, error);
  }

  /** Has a cluster's endpoint answer 503 and serves nothing else of it; without `parked` it is served again. */
  async park(name: string, parked: Parked | undefined): Promise<void> {
    await this.#opening.get(name)?.catch(() => {});
    const shared = this.#running();
    await this.#end(name);
    await this.#parked.get(name)?.close();
    this.#parked.delete(name);
    const folder = `clusters/${name}`;
    const options = savedOptions(this.#files, folder);
    if (!parked) {
      await this.ensureCluster(name, options).catch((error: unknown) => {
        this.#unopened(name, error);
        throw error;
      });
    } else if (options.listen) {
      this.#parked.set(name, await openParked({ name, folder, options, listen: options.listen, parked }, shared));
    }
  }

  /** What a supervisor has to know of a cluster. */
  info(name: string): ClusterInfo {
    return this.#clusters.info(name);
  }

  get infos(): readonly ClusterInfo[] {
    return [...this.#clusters.keys()].map((name) => this.info(name));
  }

  /** Copies the database to a file, as of one moment; resolves with its revision. */
  snapshot(path: string): Promise<number> {
    return this.#running().store.snapshot(path);
  }

  async removeCluster(name: string): Promise<void> {
    await this.#opening.get(name)?.catch(() => {});
    const shared = this.#running();
    this.#reopening.forget(name);
    if (name === "" || !this.#isThere(name, shared)) return;
    await this.#end(name);
    await this.#parked.get(name)?.close();
    this.#parked.delete(name);
    await shared.store.drop(name);
    this.#files.remove(`clusters/${name}`);
  }

  #isThere(name: string, { store }: Shared): boolean {
    if (this.#clusters.has(name) || this.#parked.has(name)) return true;
    return store.clusters().includes(name) || this.#files.names("clusters").includes(name);
  }

  /** `workers` names the snapshots of databases that worker processes have, by their place in the state folder. */
  backup(file: string, workers: readonly Source[] = []): Promise<Backup> {
    const { store, files, clock } = this.#running();
    return backUp(file, { store, files, clock, workers });
  }

  async close(): Promise<void> {
    this.#closing.abort();
    clearTimeout(this.#resume);
    for (const { open } of this.#clusters.values()) open.endWatches();
    const own = [...this.#clusters.values()].map((c) => c.listener);
    const listeners = [this.#clusters.listener, ...own, ...this.#parked.values()];
    await Promise.all(listeners.filter((l) => l !== undefined).map((l) => l.close()));
    await Promise.all([...this.#clusters.values()].map((c) => c.open.stop()));
    this.#clusters.clear();
    await this.#rewriting;
    await this.#store?.close();
  }

  async reload(): Promise<void> {
    for (const { listener, open } of [
      ...this.#clusters.values(),
      { listener: this.#clusters.listener, open: undefined },
    ]) {
      listener?.reload();
      open?.cluster.clientAuthorities.reload();
    }
    await this.#encryption?.open();
    this.#rewriteLater();
    await this.#rewriting;
  }

  /** The files to read now, and what to do when one has changed. */
  #watched(): readonly WatchedFile[] {
    const clusters = [...this.#clusters.values()];
    const bundles = clusters.flatMap(({ open }): WatchedFile[] => {
      const path = open.options.clientAuthorityFile;
      return path === undefined ? [] : [{ path, changed: () => open.cluster.clientAuthorities.reload() }];
    });
    const served = [this.#clusters.listener, ...clusters.map((c) => c.listener)].flatMap((l) => l?.files ?? []);
    const path = this.#settings.encryption?.configurationFile;
    const configured = path === undefined ? [] : [{ path, changed: () => this.#reconfigure() }];
    return [...bundles, ...served, ...configured];
  }

  async #reconfigure(): Promise<void> {
    await this.#encryption?.open();
    this.#rewriteLater();
  }

  /** Rewrites what is not encrypted as configured, next to everything else; one rewrite at a time. */
  #rewriteLater(): void {
    const { log } = this.#settings;
    this.#rewriting = this.#rewriting.then(async () => {
      if (!this.#store || !this.#encryption?.stale) return;
      await this.#encryption.rewrite(this.#store, this.#closing.signal).catch((error: unknown) => {
        if (!this.#closing.signal.aborted) log.error("records were not rewritten", { reason: messageOf(error) });
      });
    });
  }

  async #end(name: string): Promise<void> {
    const known = this.#clusters.get(name);
    this.#clusters.delete(name);
    known?.open.endWatches();
    await known?.listener?.close();
    await known?.open.stop();
  }

  #running(): Shared {
    if (!this.#shared || this.#closing.signal.aborted) {
      throw new CausewayError("APISERVER_CLOSED", "the API server is closed", {
        hint: "Start a new API server with the same state folder.",
      });
    }
    return this.#shared;
  }
}
