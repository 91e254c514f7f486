import { Option } from "@commander-js/extra-typings";
import { whole } from "../options/numbers.ts";
import { clusterOptions } from "../options/places.ts";

/** The options that say which management cluster and namespace a command works on. */
export const managementOptions = {
  kubeconfig: () =>
    clusterOptions.kubeconfig(
      "of the management cluster (default: KUBECONFIG, that of `causeway up` in this folder, or ~/.kube/config)",
    ),
  context: clusterOptions.context,
  namespace: () => new Option("-n, --namespace <name>", "namespace of the cluster (default: the context's)"),
};

/** The options that say what a new cluster is made of. */
export const newClusterOptions = {
  cloud: () =>
    new Option(
      "--cloud, --os-cloud <name>",
      "entry of clouds.yaml with the cluster's credentials (default: OS_CLOUD, the simulated cloud of `causeway up` in this folder, else the only entry)",
    ),
  flavor: () => new Option("--flavor <name>", "flavor of the workers").default("m1.small"),
  image: () => new Option("--image <name>", "image of the workers").default("cirros"),
  replicas: () => new Option("--replicas <count>", "workers").argParser(whole(0, 1000)).default(3),
  kubernetesVersion: () => new Option("--kubernetes-version <version>", "version of the cluster").default("v1.34.0"),
};
