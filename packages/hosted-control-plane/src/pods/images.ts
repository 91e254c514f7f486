import { minorNumber } from "../versions.ts";
import type { PodsSettings, VersionImages } from "./options.ts";

/** Minor versions that are run, oldest first, each with the etcd that kubeadm runs with it. */
const known: Readonly<Record<string, VersionImages>> = {
  "v1.32": { etcd: "3.5.16-0" },
  "v1.33": { etcd: "3.5.21-0" },
  "v1.34": { etcd: "3.6.4-0" },
};

/** Full references, such as `registry.k8s.io/etcd:3.6.4-0`. */
export interface Images {
  readonly etcd: string;
  readonly apiServer: string;
  readonly controllerManager: string;
  readonly scheduler: string;
}

/** `v1.34` for `v1.34.2`; undefined if it is not a version. */
export function minorOf(version: string): string | undefined {
  return /^v\d+\.\d+(?=\.)/.exec(version)?.[0];
}

/** Minor versions that have images, with those of the operator: the oldest first. */
export function servedMinors({ versions }: PodsSettings): string[] {
  return Object.keys({ ...known, ...versions }).toSorted((a, b) => minorNumber(a) - minorNumber(b));
}

/** The images of a version; undefined: it is not in the table. */
export function imagesOf(version: string, settings: PodsSettings): Images | undefined {
  const minor = minorOf(version);
  const row = minor === undefined ? undefined : { ...known, ...settings.versions }[minor];
  if (row === undefined) return undefined;
  const registry = settings.registry ?? "registry.k8s.io";
  // A tag has no "+": images of v1.34.0+vendor.1 are tagged v1.34.0_vendor.1.
  const tag = version.replaceAll("+", "_");
  return {
    etcd: `${registry}/etcd:${row.etcd}`,
    apiServer: `${registry}/kube-apiserver:${tag}`,
    controllerManager: `${registry}/kube-controller-manager:${tag}`,
    scheduler: `${registry}/kube-scheduler:${tag}`,
  };
}
