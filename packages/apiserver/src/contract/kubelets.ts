import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";

/** How kubelets of a cluster are reached, for logs, exec, attach and port-forward of pods, and its webhooks. */
export interface KubeletOptions {
  /**
   * Networks of nodes and of webhooks' pods, as CIDRs. Nothing else is dialled, since a tenant writes addresses;
   * loopback and link-local ones only if a network is within their ranges. None: kubelets are not reached.
   */
  readonly networks: readonly string[];
  /** Path of the Unix socket of a tunnel that speaks HTTP CONNECT. Default: kubelets are dialled from here. */
  readonly tunnel?: string;
  /** PEM: the authority of kubelets' serving certificates. Default: they are not verified, as by kube-apiserver. */
  readonly authority?: string;
  /** Connections at a time. Default 200. */
  readonly connections?: number;
}

/** Connections to the kubelets of one cluster, with the client certificate of its API server. */
export interface Kubelets {
  /** Connects with TLS. Throws 503 with what failed, and 429 for too many connections. */
  connect(host: string, port: number, signal: AbortSignal): Promise<TLSSocket>;
  /** Connects to an address in the same networks, such as that of a webhook's pod, by the same way. */
  readonly dial: (target: { readonly host: string; readonly port: number }, signal: AbortSignal) => Promise<Socket>;
  close(): void;
}
