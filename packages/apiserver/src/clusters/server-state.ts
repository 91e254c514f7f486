import {
  canonicalJson,
  CausewayError,
  issueCertificate,
  type Clock,
  type KeyPair,
  type Log,
} from "@causeway/foundation";
import type { ApiServerOptions, LogicalCluster, LogicalClusterOptions } from "../interface.ts";
import { isRecord, type Json } from "../json.ts";
import { builtInKinds } from "../kinds/builtin.ts";
import { ensureDefinitions } from "../definitions/preinstall.ts";
import { requestHandler, type ServedCluster } from "../server/handler.ts";
import { listen, type Listener } from "../server/listener.ts";
import { serviceNetwork } from "../kinds/addresses.ts";
import { openStore, type Store } from "../store/index.ts";
import { makeKubeconfig } from "./kubeconfig.ts";
import { openCluster, type OpenCluster, type Shared } from "./open-cluster.ts";
import { stateFiles, type StateFiles } from "./state-files.ts";

const YEAR = 365 * 86_400_000;
const NAME = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/;
const LOOPBACK = ["localhost", "127.0.0.1", "::1"];

interface Opened {
  readonly open: OpenCluster;
  readonly listener: Listener | undefined;
}

type Settings = ApiServerOptions & { readonly clock: Clock; readonly log: Log };

/** Everything a running server holds: the store, the listeners, the open clusters. */
export class ServerState {
  readonly #settings: Settings;
  readonly #clusters = new Map<string, Opened>();
  readonly #opening = new Map<string, Promise<LogicalCluster>>();
  readonly #closing = new AbortController();
  #store: Store | undefined;
  #files: StateFiles = stateFiles(undefined);
  #shared: Shared | undefined;
  #listener: Listener | undefined;

  constructor(settings: Settings) {
    this.#settings = settings;
  }

  async open(): Promise<void> {
    const { dir, host = "127.0.0.1", port = 0, clock, log, crds = [], management: guard = {} } = this.#settings;
    const { conversions = [] } = this.#settings;
    this.#files = stateFiles(dir);
    this.#store = openStore(dir === undefined ? {} : { dir });
    this.#shared = { store: this.#store, files: this.#files, clock, log, builtIns: builtInKinds(), conversions };
    const place = {
      name: "",
      folder: "management",
      url: () => this.#urlOf(""),
      servingAuthority: () => this.#servingOf(""),
    };
    const management = await openCluster(this.#shared, place, guard);
    await ensureDefinitions(management.cluster, crds);
    this.#clusters.set("", { open: management, listener: undefined });
    this.#listener = await this.#listen(management, {
      folder: "management",
      listen: { host, port, names: [] },
      route: (path) => this.#route(path),
    });
    management.resume();
    for (const name of this.#files.names("clusters")) {
      const saved = this.#files.read(`clusters/${name}/cluster.json`);
      if (saved !== undefined) await this.ensureCluster(name, JSON.parse(saved) as LogicalClusterOptions);
    }
  }

  management(): LogicalCluster {
    return this.#logical("");
  }

  cluster(name: string): LogicalCluster | undefined {
    return name !== "" && this.#clusters.has(name) ? this.#logical(name) : undefined;
  }

  async ensureCluster(name: string, options: LogicalClusterOptions): Promise<LogicalCluster> {
    if (!NAME.test(name)) {
      throw new CausewayError("APISERVER_NAME_INVALID", `"${name}" cannot name a logical cluster`, {
        hint: "Use lower-case letters, digits, '-' and '.', at most 253.",
      });
    }
    const known = this.#clusters.get(name);
    if (known && !differs(known, options)) return this.#logical(name);
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
    if (known && !differs(known, options)) return this.#logical(name);
    const folder = `clusters/${name}`;
    const merged = { ...savedOptions(this.#files, folder), ...options };
    if (known) await this.#end(name);
    const place = { name, folder, url: () => this.#urlOf(name), servingAuthority: () => this.#servingOf(name) };
    const open = await openCluster(shared, place, merged);
    const listener = merged.listen
      ? await this.#listen(open, {
          folder,
          listen: merged.listen,
          route: (path) => ({ served: open, path }),
        })
      : undefined;
    const { authority: _authority, serviceAccountKey: _key, ...kept } = merged;
    this.#files.write(`${folder}/cluster.json`, JSON.stringify(kept));
    this.#clusters.set(name, { open, listener });
    open.resume();
    return this.#logical(name);
  }

  async removeCluster(name: string): Promise<void> {
    await this.#opening.get(name)?.catch(() => {});
    const shared = this.#running();
    if (name === "" || (!this.#clusters.has(name) && !shared.store.clusters().includes(name))) return;
    await this.#end(name);
    await shared.store.drop(name);
    this.#files.remove(`clusters/${name}`);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    for (const { open } of this.#clusters.values()) open.endWatches();
    const listeners = [this.#listener, ...[...this.#clusters.values()].map((c) => c.listener)];
    await Promise.all(listeners.filter((l) => l !== undefined).map((l) => l.close()));
    await Promise.all([...this.#clusters.values()].map((c) => c.open.stop()));
    this.#clusters.clear();
    await this.#store?.close();
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
      throw new CausewayError("APISERVER_CLOSED", "the API server is closed", { hint: "Start it again." });
    }
    return this.#shared;
  }

  #route(path: string): { served: ServedCluster; path: string } | undefined {
    const [, name, below = "/"] = /^\/clusters\/([^/]+)(\/.*)?$/.exec(path) ?? [];
    const known = this.#clusters.get(name ?? "");
    return known ? { served: known.open, path: name === undefined ? path : below } : undefined;
  }

  async #listen(
    { cluster }: OpenCluster,
    where: {
      folder: string;
      listen: NonNullable<LogicalClusterOptions["listen"]>;
      route: (path: string) => { served: ServedCluster; path: string } | undefined;
    },
  ): Promise<Listener> {
    const { host, port, names } = where.listen;
    const kept = Number(this.#files.read(`${where.folder}/port`) ?? 0);
    const { clock, log } = this.#settings;
    const certificate = await servingCertificate(cluster.authority, {
      names: [...names, host, ...clusterNames(cluster.dnsDomain, cluster.serviceCidr)],
      now: clock.now(),
    });
    const handler = requestHandler({ route: where.route, log });
    const listener = await listen({ host, port: port || kept, certificate, handler });
    if (listener.port !== kept) this.#files.write(`${where.folder}/port`, String(listener.port));
    return listener;
  }

  #urlOf(name: string): string {
    const own = this.#clusters.get(name)?.listener;
    const listener = own ?? this.#listener;
    if (!listener) return "https://kubernetes.default.svc";
    const names = own ? this.#clusters.get(name)?.open.options.listen?.names : undefined;
    const bound = ["0.0.0.0", "::"].includes(listener.host);
    const host = bound ? (names?.[0] ?? "127.0.0.1") : listener.host;
    const base = `https://${host.includes(":") ? `[${host}]` : host}:${listener.port}`;
    return own || name === "" ? base : `${base}/clusters/${name}`;
  }

  #servingOf(name: string): string {
    const own = this.#clusters.get(name);
    return (own?.listener ? own : this.#opened("")).open.cluster.authority.certificate;
  }

  #logical(name: string): LogicalCluster {
    const { cluster } = this.#opened(name).open;
    const url = (): string => this.#urlOf(name);
    const own = (): Listener | undefined => this.#clusters.get(name)?.listener;
    const serving = (): string => this.#servingOf(name);
    const { clock } = this.#settings;
    return {
      name,
      get url() {
        return url();
      },
      get port() {
        return own()?.port;
      },
      authority: cluster.authority,
      kubeconfig: (options = {}) => {
        const { authority } = cluster;
        const about = { name: name || "management", server: url(), servingAuthority: serving(), authority, clock };
        return makeKubeconfig(about, options);
      },
    };
  }

  #opened(name: string): Opened {
    const known = this.#clusters.get(name);
    if (known) return known;
    throw new CausewayError("APISERVER_CLOSED", "the cluster is not served any more", {
      hint: "Start the server again.",
    });
  }
}

function savedOptions(files: StateFiles, folder: string): LogicalClusterOptions {
  const saved = files.read(`${folder}/cluster.json`);
  const parsed: unknown = saved === undefined ? {} : JSON.parse(saved);
  return isRecord(parsed) ? (parsed as LogicalClusterOptions) : {};
}

/** True if what is asked for is not what is. Roots that were kept, and a port that was found, count as asked for. */
function differs({ open, listener }: Opened, asked: LogicalClusterOptions): boolean {
  const { authority, serviceAccountKey } = open.cluster;
  const onPort = (listen: LogicalClusterOptions["listen"]) =>
    listen && { ...listen, port: listen.port || (listener?.port ?? 0) };
  const has: LogicalClusterOptions = { ...open.options, authority, serviceAccountKey };
  const pairs = Object.entries({ ...asked, listen: onPort(asked.listen) } as Json);
  const standing = { ...has, listen: onPort(has.listen) } as Json;
  return pairs.some(([name, value]) => value !== undefined && canonicalJson(value) !== canonicalJson(standing[name]));
}

function clusterNames(domain: string, serviceCidr: string): string[] {
  const service = ["kubernetes", "kubernetes.default", "kubernetes.default.svc", `kubernetes.default.svc.${domain}`];
  return [...service, serviceNetwork(serviceCidr).address(1), ...LOOPBACK];
}

async function servingCertificate(
  authority: KeyPair,
  { names, now }: { names: readonly string[]; now: number },
): Promise<KeyPair> {
  const unique = [...new Set(names)];
  const isAddress = (name: string): boolean => /^[\d.]+$/.test(name) || name.includes(":");
  return issueCertificate(authority, {
    commonName: "kube-apiserver",
    dnsNames: unique.filter((n) => !isAddress(n)),
    ipAddresses: unique.filter(isAddress),
    usages: ["server"],
    lifetime: YEAR,
    now,
  });
}
