import type { Cluster } from "@causeway/api";
import { CausewayError, formatIp, nthAddress, parseCidr } from "@causeway/foundation";
import { apiProxy } from "./api-proxy.ts";
import { cinderCsiNode } from "./cinder-csi-node.ts";
import { coreDns } from "./coredns.ts";
import type { BuiltIn, CatalogueChoice, ClusterFacts } from "./facts.ts";
import { flannel } from "./flannel.ts";
import { kubeProxy } from "./kube-proxy.ts";
import { metricsServer } from "./metrics-server.ts";
import { tunnelAgent } from "./tunnel-agent.ts";

const addons: Readonly<Record<CatalogueChoice["name"], (facts: ClusterFacts, choice: CatalogueChoice) => BuiltIn>> = {
  KubeProxy: kubeProxy,
  CoreDNS: coreDns,
  TunnelAgent: tunnelAgent,
  CinderCSINode: cinderCsiNode,
  Flannel: flannel,
  APIProxy: apiProxy,
  MetricsServer: metricsServer,
};

/**
 * The objects of a built-in add-on, and how it is proved to work.
 * @throws ADDON_CATALOGUE_INCOMPLETE, ADDON_NOT_NEEDED
 */
export function builtIn(choice: CatalogueChoice, facts: ClusterFacts): BuiltIn {
  return addons[choice.name](facts, choice);
}

/**
 * What built-in add-ons follow.
 * @throws ADDON_CLUSTER_INCOMPLETE
 */
export function factsOf(cluster: Cluster, version: string | undefined, runtime?: string): ClusterFacts {
  const { controlPlaneEndpoint, clusterNetwork } = cluster.spec;
  const { host = "", port = 0 } = controlPlaneEndpoint ?? {};
  if (host === "" || port === 0) throw incomplete("the Cluster has no control plane endpoint yet");
  if (version === undefined) throw incomplete("the Kubernetes version of the control plane is not known yet");
  const cidr = clusterNetwork?.services?.cidrBlocks?.[0] ?? "10.96.0.0/12";
  const services = parseCidr(cidr);
  const address = (n: number): string => {
    const found = services && nthAddress(services, n);
    if (!found) throw incomplete(`the Cluster's network of Services, ${cidr}, has no address number ${n}`);
    return formatIp(found);
  };
  return {
    server: `https://${host.includes(":") ? `[${host}]` : host}:${port}`,
    version,
    podCidr: clusterNetwork?.pods?.cidrBlocks?.[0] ?? "",
    serviceAddress: address(1),
    dnsAddress: address(10),
    dnsDomain: clusterNetwork?.serviceDomain ?? "cluster.local",
    ...(runtime === undefined ? {} : { runtime }),
  };
}

function incomplete(why: string): CausewayError {
  return new CausewayError("ADDON_CLUSTER_INCOMPLETE", why);
}
