import { allKinds, labels, type Kind } from "@causeway/api";
import { InputError } from "@causeway/foundation";
import type { KubeObject } from "@causeway/kubernetes";

/**
 * The providers that `causeway run cluster-api` may be, with the names that clusterctl and upstream's managers have for
 * them.
 */
export const providers = {
  core: {
    groups: ["cluster.x-k8s.io", "addons.cluster.x-k8s.io", "ipam.cluster.x-k8s.io", "runtime.cluster.x-k8s.io"],
    lease: "controller-leader-election-capi",
  },
  bootstrap: {
    groups: ["bootstrap.cluster.x-k8s.io"],
    lease: "kubeadm-bootstrap-manager-leader-election-capi",
  },
  "control-plane": {
    groups: ["controlplane.cluster.x-k8s.io"],
    lease: "kubeadm-control-plane-manager-leader-election-capi",
  },
} as const;

/** One value of --providers. */
export type ProviderName = keyof typeof providers;

/** @throws FLAG_INVALID */
export function readProviders(text: string): ProviderName[] {
  const names = text
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
  const known = names.filter((name): name is ProviderName => Object.hasOwn(providers, name));
  if (known.length === 0 || known.length < names.length) {
    throw new InputError(
      "FLAG_INVALID",
      `--providers must be core, bootstrap, control-plane, or several of them; it is ${JSON.stringify(text)}.`,
    );
  }
  return known;
}

/** The kinds that a provider brings. */
export function kindsOf(provider: ProviderName): Kind<KubeObject>[] {
  const groups: readonly string[] = providers[provider].groups;
  // Hosted control planes have the same group, and a provider of their own.
  return allKinds.filter(
    (kind) => groups.includes(kind.group) && kind.labels[labels.provider] !== "control-plane-hosted",
  );
}
