import type { ClusterFacts, Facts } from "./facts.ts";
import type { Finding } from "./finding.ts";

/** None without a cluster. */
export function clusterFindings(cluster: Facts["cluster"]): Finding[] {
  if (cluster === undefined) return [];
  if ("error" in cluster) {
    const todo = "Check the kubeconfig and the rights of its user.";
    return [
      { feature: "Kubernetes", state: "broken", because: `the cluster cannot be queried: ${cluster.error}`, todo },
    ];
  }
  const facts = cluster.value;
  return [{ feature: "Kubernetes", state: "works", because: `it is ${facts.version}` }, nodes(facts), leader(facts)];
}

function nodes({ nodes: count, known, uninitialized }: ClusterFacts): Finding {
  const feature = "nodes";
  if (count === 0) return { feature, state: "limited", because: "there is none yet", todo: "Let machines join." };
  if (known === count) return { feature, state: "works", because: `all ${count} are servers of this project` };
  const because = `${known} of ${count} are servers of this project, ${uninitialized} wait for a cloud controller`;
  if (uninitialized > 0)
    return {
      feature,
      state: "limited",
      because,
      todo: "Run a cloud controller: `causeway run cloud-controller-manager`.",
    };
  return {
    feature,
    state: "broken",
    because,
    todo: "Use the cloud, region and project of the nodes' providerIDs.",
  };
}

function leader({ leader: holder, withoutElection }: ClusterFacts): Finding {
  const feature = "cloud controller";
  if (holder !== "") return { feature, state: "works", because: `${holder} leads` };
  if (withoutElection)
    return {
      feature,
      state: "works",
      because: "a controller of Causeway serves Services without election, as that of `causeway up`",
    };
  const todo =
    "If `causeway up` created the cluster, start none: `causeway up` serves it. Otherwise start one or, if one runs without leader election, read its log.";
  return {
    feature,
    state: "limited",
    because: "the Lease kube-system/cloud-controller-manager has no holder: no instance is the leader",
    todo,
  };
}
