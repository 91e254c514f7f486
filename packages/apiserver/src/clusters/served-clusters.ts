import { CausewayError, type Clock } from "@causeway/foundation";
import type { ClusterInfo } from "../contract/cluster-info.ts";
import type { LogicalCluster } from "../interface.ts";
import type { ServedCluster } from "../server/handler.ts";
import type { Endpoint } from "./endpoint.ts";
import { makeKubeconfig } from "./kubeconfig.ts";
import type { OpenCluster } from "./open-cluster.ts";

/** A cluster that is served, with its own listener if it has one. */
export interface Opened {
  readonly open: OpenCluster;
  readonly listener: Endpoint | undefined;
}

/** The clusters that this process serves, by name ("" is the management cluster), and where each is reached. */
export class ServedClusters extends Map<string, Opened> {
  /** The server's listener, for clusters without one of their own. */
  listener: Endpoint | undefined;
  readonly #clock: Clock;

  constructor(clock: Clock) {
    super();
    this.#clock = clock;
  }

  route(path: string): { served: ServedCluster; path: string } | undefined {
    const [, name, below = "/"] = /^\/clusters\/([^/]+)(\/.*)?$/.exec(path) ?? [];
    const known = this.get(name ?? "");
    return known ? { served: known.open, path: name === undefined ? path : below } : undefined;
  }

  urlOf(name: string): string {
    const own = this.get(name)?.listener;
    const listener = own ?? this.listener;
    if (!listener) return "https://kubernetes.default.svc";
    const names = own ? this.get(name)?.open.options.listen?.names : undefined;
    const bound = ["0.0.0.0", "::"].includes(listener.host);
    const host = bound ? (names?.[0] ?? "127.0.0.1") : listener.host;
    const base = `https://${host.includes(":") ? `[${host}]` : host}:${listener.port}`;
    return own || name === "" ? base : `${base}/clusters/${name}`;
  }

  servingOf(name: string): string {
    const own = this.get(name);
    const standing = own?.listener ?? this.listener;
    return standing?.authority ?? this.opened(name).open.cluster.trustedRoots;
  }

  logical(name: string): LogicalCluster {
    const { cluster } = this.opened(name).open;
    const url = (): string => this.urlOf(name);
    const own = (): Endpoint | undefined => this.get(name)?.listener;
    const serving = (): string => this.servingOf(name);
    const clock = this.#clock;
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

  opened(name: string): Opened {
    const known = this.get(name);
    if (known) return known;
    throw new CausewayError("APISERVER_CLOSED", "the cluster is not served any more", {
      hint: "Start the server again.",
    });
  }

  /** What a supervisor has to know of a cluster. */
  info(name: string): ClusterInfo {
    const { url, port, authority } = this.logical(name);
    return { name, url, port, authority, servingAuthority: this.servingOf(name) };
  }
}
