import { durationOf, seconds, secondsOf } from "../../lenses/duration.ts";
import { isJson, put, take, valueAt } from "../../lenses/json.ts";
import { all, converted, each, onlyNewer, onlyOlder, type Lens } from "../../lenses/lens.ts";

/** Flags: a map in v1beta1, a list with names in the stored version. */
function flags(path: string): Lens {
  return converted(path, path, {
    up: (value) => {
      if (!isJson(value)) return value;
      const names = Object.keys(value).toSorted();
      return names.map((name) => ({ name, value: value[name] }));
    },
    down: (value) => {
      if (!Array.isArray(value)) return value;
      return Object.fromEntries(value.filter(isJson).map((flag) => [String(flag["name"]), flag["value"]]));
    },
  });
}

const old = "clusterConfiguration.apiServer.timeoutForControlPlane";
const [init, join] = ["initConfiguration", "joinConfiguration"].map(
  (name) => `${name}.timeouts.controlPlaneComponentHealthCheckSeconds`,
) as [string, string];

/** v1beta1 has one limit for the API server's start, the stored version one for each way to start a node. */
const timeoutForControlPlane: Lens = {
  up: (json) => {
    const value = take(json, old);
    if (value === undefined) return;
    put(json, init, secondsOf(value));
    // A configuration without a join gets none: one with timeouts alone would make a joining node of it.
    if (isJson(valueAt(json, "joinConfiguration"))) put(json, join, secondsOf(value));
  },
  down: (json) => {
    const ofInit = take(json, init);
    const ofJoin = take(json, join);
    const value = ofInit ?? ofJoin;
    if (value !== undefined && isJson(valueAt(json, "clusterConfiguration"))) put(json, old, durationOf(value));
  },
};

const later = ["discoverySeconds", "etcdAPICallSeconds", "kubeletHealthCheckSeconds", "kubernetesAPICallSeconds"];

/** Of lists, this one alone says something when it is empty: no taints, in place of kubeadm's own. */
const SAYS_SOMETHING = "taints";

/**
 * Upstream's templates have lists such as `files: []`, which the stored version refuses: its lists have an entry at
 * least. They say the same as none.
 */
const emptyLists: Lens = { up: (json) => void withoutEmptyLists(json), down: () => {} };

/** True if the value says nothing more once its empty lists are removed. */
function withoutEmptyLists(value: unknown): boolean {
  if (Array.isArray(value)) {
    for (const each of value) withoutEmptyLists(each);
    return value.length === 0;
  }
  if (!isJson(value)) return false;
  const before = Object.keys(value);
  for (const key of before) if (key !== SAYS_SOMETHING && withoutEmptyLists(value[key])) delete value[key];
  return before.length > 0 && Object.keys(value).length === 0;
}

/** kubeadm's configuration. */
export const kubeadmLens: Lens = all(
  onlyOlder("useExperimentalRetryJoin"),
  ...["clusterConfiguration", "initConfiguration", "joinConfiguration"].map((name) =>
    onlyOlder(`${name}.apiVersion`, `${name}.kind`),
  ),
  onlyOlder(
    "clusterConfiguration.clusterName",
    "clusterConfiguration.kubernetesVersion",
    "clusterConfiguration.networking",
  ),
  flags("clusterConfiguration.apiServer.extraArgs"),
  flags("clusterConfiguration.controllerManager.extraArgs"),
  flags("clusterConfiguration.scheduler.extraArgs"),
  flags("clusterConfiguration.etcd.local.extraArgs"),
  flags("initConfiguration.nodeRegistration.kubeletExtraArgs"),
  flags("joinConfiguration.nodeRegistration.kubeletExtraArgs"),
  each("initConfiguration.bootstrapTokens", seconds("ttl", "ttlSeconds")),
  seconds("joinConfiguration.discovery.timeout", "joinConfiguration.timeouts.tlsBootstrapSeconds"),
  timeoutForControlPlane,
  onlyNewer(
    "initConfiguration.timeouts.tlsBootstrapSeconds",
    ...later.flatMap((name) => [`initConfiguration.timeouts.${name}`, `joinConfiguration.timeouts.${name}`]),
  ),
  emptyLists,
);
