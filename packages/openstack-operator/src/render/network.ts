import type { KubeObject, Role, RoleBinding, Secret, Service } from "@causeway/kubernetes";
import type { ExternalBackend } from "../catalogue/index.ts";
import type { Component, Port } from "../model/component.ts";
import { labels } from "../model/names.ts";
import { metadataOf, objectName, selectorOf, type Context, type Rendered } from "./context.ts";
import { externalPeer } from "./external.ts";
import { vaultPort } from "./vault.ts";
import { hasProber, PROBER_PORT } from "./probes.ts";
import { metricsPort } from "./metrics.ts";
import { replicasOf } from "./sizes.ts";
import type { NetworkPolicy, NetworkPolicySpec, PodDisruptionBudget, PolicyPeer, PolicyPort } from "./types.ts";

/** Services, NetworkPolicies in both directions and budgets, from the ports and connections of the table. */

/** The Services of a component; none for those without ports, on every node, or outside of the cluster. */
export function servicesOf(context: Context, component: Component): Rendered<Service>[] {
  const { name: deployment } = context.deployment.metadata;
  const name = objectName(deployment, component.name);
  const selector = selectorOf(deployment, component.name);
  const ports = (component.ports ?? []).map(({ name: portName, port, protocol = "TCP" }) => ({
    name: portName,
    port,
    targetPort: port,
    protocol,
  }));
  if (ports.length === 0 || component.kind === "DaemonSet" || component.kind === "External") return [];
  const service = (serviceName: string, more: Service["spec"]): Rendered<Service> => ({
    component: component.name,
    object: {
      apiVersion: "v1",
      kind: "Service",
      metadata: metadataOf(context, serviceName, { component }),
      spec: { selector, ports, ...more },
    },
  });
  const found = [service(name, {})];
  if (component.kind === "StatefulSet")
    found.push(service(`${name}-members`, { clusterIP: "None", publishNotReadyAddresses: true }));
  return found;
}

/** Nothing is allowed but what a component's own policy allows. */
export function defaultDeny(context: Context): Rendered<NetworkPolicy> {
  const { name } = context.deployment.metadata;
  return {
    object: {
      apiVersion: "networking.k8s.io/v1",
      kind: "NetworkPolicy",
      metadata: metadataOf(context, `${name}-default-deny`),
      spec: { podSelector: { matchLabels: { [labels.deployment]: name } }, policyTypes: ["Ingress", "Egress"] },
    },
  };
}

/** Who may talk to pods of another operator, which it talks to itself, is that operator's. */
export function policiesOf(context: Context, component: Component): Rendered<NetworkPolicy>[] {
  return component.kind === "External" ? [] : [policyOf(context, component)];
}

function policyOf(context: Context, component: Component): Rendered<NetworkPolicy> {
  const { name } = context.deployment.metadata;
  const spec: NetworkPolicySpec = {
    podSelector: { matchLabels: selectorOf(name, component.name) },
    policyTypes: ["Ingress", "Egress"],
    ingress: ingressOf(context, component),
    egress: egressOf(context, component),
  };
  return {
    component: component.name,
    object: {
      apiVersion: "networking.k8s.io/v1",
      kind: "NetworkPolicy",
      metadata: metadataOf(context, objectName(name, component.name), { component }),
      spec,
    },
  };
}

const portOf = ({ port, protocol = "TCP" }: Pick<Port, "port" | "protocol">): PolicyPort => ({ port, protocol });

function ingressOf(context: Context, component: Component): NonNullable<NetworkPolicySpec["ingress"]> {
  const rules = (component.ports ?? []).flatMap((port): NonNullable<NetworkPolicySpec["ingress"]> => {
    const ports = [portOf(port)];
    if (port.publicName !== undefined) return [{ ports }];
    const from = sourcesOf(context, component, port);
    return from.length === 0 ? [] : [{ from, ports }];
  });
  const metrics = metricsPort(context.deployment.spec, component);
  const namespace = context.deployment.spec.monitoring?.namespace ?? "";
  if (metrics !== undefined)
    rules.push({
      from: [{ namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": namespace } } }],
      ports: [{ port: metrics, protocol: "TCP" }],
    });
  // The kubelet asks from the node's address.
  const prober: PolicyPort[] = hasProber(component) ? [{ port: PROBER_PORT, protocol: "TCP" }] : [];
  return prober.length > 0 ? [...rules, { ports: prober }] : rules;
}

function sourcesOf(context: Context, component: Component, port: Port): PolicyPeer[] {
  const { name } = context.deployment.metadata;
  const callers = context.facts.catalogue.components.filter((each) =>
    (each.connections ?? []).some((connection) => connection.to === component.name && connection.port === port.name),
  );
  const peers: PolicyPeer[] = callers
    .filter(({ host }) => !host?.network)
    .map((each) => ({ podSelector: { matchLabels: selectorOf(name, each.name) } }));
  if (port.peers) peers.push({ podSelector: { matchLabels: selectorOf(name, component.name) } });
  // Pods in the host's network come from the node's own address, which no selector of pods matches.
  if (callers.some(({ host }) => host?.network)) peers.push(...nodePeers(context));
  return peers;
}

function nodePeers({ deployment }: Context): PolicyPeer[] {
  const networks = deployment.spec.network?.nodeNetworks ?? ["0.0.0.0/0", "::/0"];
  return networks.map((cidr) => ({ ipBlock: { cidr } }));
}

function egressOf(context: Context, component: Component): NonNullable<NetworkPolicySpec["egress"]> {
  const { name } = context.deployment.metadata;
  const { catalogue } = context.facts;
  const rules = (component.connections ?? []).flatMap(({ to, port }) => {
    const target = catalogue.components.find((each) => each.name === to);
    const found = target?.ports?.find((each) => each.name === port);
    if (!target || !found) return [];
    const peers = target.host?.network
      ? nodePeers(context)
      : target.kind === "External"
        ? [externalPeer(name, target)]
        : [{ podSelector: { matchLabels: selectorOf(name, target.name) } }];
    return [{ to: peers, ports: [portOf(found)] }];
  });
  const peers = (component.ports ?? [])
    .filter((port) => port.peers)
    .map((port) => ({
      to: [{ podSelector: { matchLabels: selectorOf(name, component.name) } }],
      ports: [portOf(port)],
    }));
  const dns = {
    to: [{ namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "kube-system" } } }],
    ports: [
      { port: 53, protocol: "UDP" as const },
      { port: 53, protocol: "TCP" as const },
    ],
  };
  const store = vaultPort(context, component);
  const outside = [
    ...(store === undefined ? [] : [store]),
    // The Kubernetes API: behind its Service it has one of these ports.
    ...(component.writesSecret === undefined ? [] : [443, 6443]),
  ].map((port) => ({ ports: [{ port, protocol: "TCP" as const }] }));
  const { external } = context.deployment.spec.canary ?? {};
  // An echo request has no port.
  const pinged = component.pings && external ? [{ to: [{ ipBlock: { cidr: external.cidr } }] }] : [];
  const servers = (component.outside ?? []).map((port) => ({ ports: [portOf(port)] }));
  return [dns, ...rules, ...externalRules(context, component), ...outside, ...servers, ...pinged, ...peers];
}

/** Servers outside the cluster have no pods to select. */
function externalRules({ facts }: Context, component: Component): NonNullable<NetworkPolicySpec["egress"]> {
  const { catalogue } = facts;
  const backends = [catalogue.databases.get(component.service), catalogue.brokers.get(component.service)];
  return backends
    .filter((each): each is ExternalBackend => typeof each === "object")
    .map(({ port }) => ({ ports: [{ port, protocol: "TCP" }] }));
}

/**
 * One pod may be away for maintenance; of a quorum less than half. Single pods have none: it would block every drain.
 */
export function budgetsOf(context: Context, component: Component): Rendered<PodDisruptionBudget>[] {
  const { name } = context.deployment.metadata;
  const replicas = replicasOf(context.deployment.spec, component);
  const isOthers = component.kind === "DaemonSet" || component.kind === "External";
  if (component.quorum === undefined || isOthers || replicas < 2) return [];
  return [
    {
      component: component.name,
      object: {
        apiVersion: "policy/v1",
        kind: "PodDisruptionBudget",
        metadata: metadataOf(context, objectName(name, component.name), { component }),
        spec: { maxUnavailable: 1, selector: { matchLabels: selectorOf(name, component.name) } },
      },
    },
  ];
}

/** The account of all pods that have no rights in the cluster: no token is mounted. */
export function serviceAccountOf(context: Context): Rendered {
  const object: KubeObject & { automountServiceAccountToken: boolean } = {
    apiVersion: "v1",
    kind: "ServiceAccount",
    metadata: metadataOf(context, context.deployment.metadata.name),
    automountServiceAccountToken: false,
  };
  return { object };
}

/** What a component's pod may do through the Kubernetes API: read and change one Secret, which exists for that. */
export function rightsOf(context: Context, component: Component): Rendered[] {
  const { writesSecret } = component;
  if (writesSecret === undefined) return [];
  const { name: deployment, namespace = "" } = context.deployment.metadata;
  const name = objectName(deployment, component.name);
  const secretName = objectName(deployment, writesSecret);
  const metadata = metadataOf(context, name, { component });
  const account = { apiVersion: "v1", kind: "ServiceAccount", metadata, automountServiceAccountToken: false };
  const secret: Secret = {
    apiVersion: "v1",
    kind: "Secret",
    metadata: metadataOf(context, secretName, { component }),
    type: "Opaque",
  };
  const rbac = "rbac.authorization.k8s.io";
  const rule = { apiGroups: [""], resources: ["secrets"], resourceNames: [secretName], verbs: ["get", "patch"] };
  const role: Role = { apiVersion: `${rbac}/v1`, kind: "Role", metadata, rules: [rule] };
  const binding: RoleBinding = {
    apiVersion: `${rbac}/v1`,
    kind: "RoleBinding",
    metadata,
    roleRef: { apiGroup: rbac, kind: "Role", name },
    subjects: [{ kind: "ServiceAccount", name, namespace }],
  };
  return [account, secret, role, binding].map((object) => ({ component: component.name, object }));
}
