import type { KubeObject } from "@causeway/kubernetes";
import type { Component } from "../model/component.ts";
import { labels } from "../model/names.ts";
import { groupsOf, objectName, type Context } from "./context.ts";
import type { PerconaXtraDBCluster, RabbitmqCluster } from "./optional-types.ts";
import { replicasOf } from "./sizes.ts";
import type { PolicyPeer } from "./types.ts";

/** Databases and brokers that operators of others run: their objects, and what is read of those. */

const HOSTNAME = "kubernetes.io/hostname";

/** Labels that the other operator gives the pods that clients talk to. */
function podLabels(deployment: string, { name, operator }: Component): Record<string, string> {
  const cluster = objectName(deployment, name);
  return operator === "percona"
    ? { "app.kubernetes.io/instance": cluster, "app.kubernetes.io/component": "haproxy" }
    : { "app.kubernetes.io/name": cluster };
}

/** The pods of another operator's cluster, for network policies. */
export const externalPeer = (deployment: string, component: Component): PolicyPeer => ({
  podSelector: { matchLabels: podLabels(deployment, component) },
});

/** The administrator's account, as the other operator made it: a Secret, and which of its keys become which files. */
export function externalAdministrator(deployment: string, { name, operator }: Component) {
  const cluster = objectName(deployment, name);
  return operator === "percona"
    ? { secret: passwordsOf(cluster), items: [{ key: "root", path: "database.admin" }] }
    : {
        secret: `${cluster}-default-user`,
        items: [
          { key: "username", path: "broker.user" },
          { key: "password", path: "broker.admin" },
        ],
      };
}

const passwordsOf = (cluster: string): string => `${cluster}-passwords`;

/**
 * The object of another operator. It has no owner: volumes of the cluster go with it, and they outlive the deployment
 * as those of StatefulSets do. Nor has it the label of our objects, which that operator would give to its own.
 */
export function externalObject(context: Context, component: Component): KubeObject {
  const { name: deployment, namespace = "" } = context.deployment.metadata;
  const metadata = {
    name: objectName(deployment, component.name),
    namespace,
    labels: { [labels.managedBy]: "causeway-openstack-operator", [labels.backendOf]: deployment },
  };
  return component.operator === "percona"
    ? perconaCluster(context, component, metadata)
    : rabbitmqCluster(context, component, metadata);
}

type Metadata = { name: string; namespace: string; labels: Record<string, string> };

/** The nodes of the control plane; pods with the same labels apart from each other. */
function affinityOf({ deployment }: Context, component: Component, matchLabels: Record<string, string>) {
  const nodeSelectorTerms = groupsOf(deployment.spec, component).map(({ nodeSelector }) => ({
    matchExpressions: Object.entries(nodeSelector).map(([key, value]) => ({ key, operator: "In", values: [value] })),
  }));
  const apart = [{ labelSelector: { matchLabels }, topologyKey: HOSTNAME }];
  return {
    nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } },
    ...(deployment.spec.size === "Tiny"
      ? {}
      : { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: apart } }),
  };
}

function resourcesOf({ deployment }: Context, component: Component) {
  const { cpu, memory } = {
    ...component.resources,
    ...deployment.spec.services?.find(({ name }) => name === component.service)?.resources,
  };
  return { requests: { cpu, memory }, limits: { memory } };
}

function perconaCluster(context: Context, component: Component, metadata: Metadata): PerconaXtraDBCluster {
  const { spec } = context.deployment;
  const { image = "", proxyImage = "", version } = spec.operators?.percona ?? {};
  const size = replicasOf(spec, component);
  const { className, databaseSize = "20Gi" } = spec.storage ?? {};
  const labelsOf = (part: string) => ({
    "app.kubernetes.io/instance": metadata.name,
    "app.kubernetes.io/component": part,
  });
  const shared = { size, podDisruptionBudget: { maxUnavailable: 1 } };
  return {
    apiVersion: "pxc.percona.com/v1",
    kind: "PerconaXtraDBCluster",
    metadata,
    spec: {
      ...(version === undefined ? {} : { crVersion: version }),
      secretsName: passwordsOf(metadata.name),
      updateStrategy: "SmartUpdate",
      // Which version runs is the deployment's, not a service on the Internet's.
      upgradeOptions: { apply: "Disabled" },
      ...(size < 3 ? { unsafeFlags: { pxcSize: true, proxySize: true } } : {}),
      pxc: {
        ...shared,
        image,
        autoRecovery: true,
        // MASTER: as strict as the default, but for locks that Heat and others take.
        configuration: "[mysqld]\nmax_connections=4096\nskip-name-resolve\npxc_strict_mode=MASTER\n",
        resources: resourcesOf(context, component),
        affinity: { advanced: affinityOf(context, component, labelsOf("pxc")) },
        gracePeriod: 600,
        volumeSpec: {
          persistentVolumeClaim: {
            accessModes: ["ReadWriteOnce"],
            ...(className === undefined ? {} : { storageClassName: className }),
            resources: { requests: { storage: databaseSize } },
          },
        },
      },
      haproxy: {
        ...shared,
        enabled: true,
        image: proxyImage,
        affinity: { advanced: affinityOf(context, component, labelsOf("haproxy")) },
        gracePeriod: 30,
      },
    },
  };
}

function rabbitmqCluster(context: Context, component: Component, metadata: Metadata): RabbitmqCluster {
  const { spec } = context.deployment;
  const { image } = spec.operators?.rabbitmq ?? {};
  const { className, brokerSize = "8Gi" } = spec.storage ?? {};
  return {
    apiVersion: "rabbitmq.com/v1beta1",
    kind: "RabbitmqCluster",
    metadata,
    spec: {
      replicas: replicasOf(spec, component),
      ...(image === undefined ? {} : { image }),
      persistence: { ...(className === undefined ? {} : { storageClassName: className }), storage: brokerSize },
      resources: resourcesOf(context, component),
      affinity: affinityOf(context, component, podLabels(context.deployment.metadata.name, component)),
      rabbitmq: {
        additionalConfig: "cluster_partition_handling = pause_minority\nlog.console.formatter = json\n",
      },
    },
  };
}
