import type { Target } from "./interface.ts";
export interface Options {
  /** Admission plugins that are switched off. */
  readonly without?: readonly string[];
  /** Further flags. */
  readonly flags?: readonly string[];
}
/** What only a test of its own needs, and our server has no counterpart for. */
export interface KubeApiserver extends Target {
  /** The bytes of a key in etcd. */
  record(key: string): Promise<Buffer | undefined>;
  /** Kills it and starts it again on the same etcd. */
  restart(): Promise<void>;
}
/** A real kube-apiserver on a real etcd: loopback, free ports, a folder and certificates of their own, all gone at close. */
export declare function startKubeApiserver(options?: Options): Promise<KubeApiserver>;
