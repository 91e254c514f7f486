import type { DaemonSet, Deployment, Job, StatefulSet } from "@causeway/kubernetes";
import { NORTHBOUND, SOUTHBOUND } from "../catalogue/index.ts";
import { plainName } from "../model/cell.ts";
import type { Component } from "../model/component.ts";
import { annotations } from "../model/names.ts";
import {
  commandOf,
  configurationOf,
  digestOf,
  groupsOf,
  imageOf,
  metadataOf,
  objectName,
  selectorOf,
  type Context,
  type NodeGroup,
  type Rendered,
} from "./context.ts";
import { externalObject } from "./external.ts";
import type { PerconaXtraDBCluster, RabbitmqCluster } from "./optional-types.ts";
import { podOf } from "./pod.ts";
import { replicasOf } from "./sizes.ts";

/** An object that runs a component. */
export type Workload = Deployment | StatefulSet | DaemonSet | Job | PerconaXtraDBCluster | RabbitmqCluster;

/** The workloads of a component: one, or one for each group of nodes. */
export function workloadsOf(
  context: Context,
  component: Component,
  jobs: ReadonlyMap<string, string>,
): Rendered<Workload>[] {
  const { deployment } = context;
  const name = objectName(deployment.metadata.name, component.name);
  const from = { component: component.name };
  switch (component.kind) {
    case "Deployment":
      return [{ ...from, object: deploymentOf(context, component, name) }];
    case "StatefulSet":
      return [{ ...from, object: statefulSetOf(context, component, name) }];
    case "DaemonSet":
      return groupsOf(deployment.spec, component).map((group) => ({
        ...from,
        object: daemonSetOf(context, component, group),
      }));
    case "Job":
      return [{ ...from, object: jobOf(context, component, jobs) }];
    case "External":
      return [{ ...from, object: externalObject(context, component) as Workload }];
  }
}

function deploymentOf(context: Context, component: Component, name: string): Deployment {
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: metadataOf(context, name, { component }),
    spec: {
      replicas: replicasOf(context.deployment.spec, component),
      selector: { matchLabels: selectorOf(context.deployment.metadata.name, component.name) },
      // No pod goes before its replacement serves: a configuration that does not start stops the rollout.
      strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
      minReadySeconds: 5,
      progressDeadlineSeconds: 900,
      revisionHistoryLimit: 3,
      template: podOf(context, component),
    },
  };
}

function statefulSetOf(context: Context, component: Component, name: string): StatefulSet {
  const { storage } = context.deployment.spec;
  const sizes = { database: storage?.databaseSize ?? "20Gi", broker: storage?.brokerSize ?? "8Gi", ovn: "2Gi" };
  const claim = component.volume && {
    metadata: { name: "data" },
    spec: {
      accessModes: ["ReadWriteOnce"],
      ...(storage?.className === undefined ? {} : { storageClassName: storage.className }),
      resources: { requests: { storage: sizes[component.volume.size] } },
    },
  };
  return {
    apiVersion: "apps/v1",
    kind: "StatefulSet",
    metadata: metadataOf(context, name, { component }),
    spec: {
      replicas: replicasOf(context.deployment.spec, component),
      serviceName: `${name}-members`,
      selector: { matchLabels: selectorOf(context.deployment.metadata.name, component.name) },
      // All members start at once after a loss of all of them: each may have the last transaction.
      podManagementPolicy: component.quorum === "Majority" ? "Parallel" : "OrderedReady",
      updateStrategy: { type: "RollingUpdate", rollingUpdate: { partition: 0 } },
      persistentVolumeClaimRetentionPolicy: { whenDeleted: "Retain", whenScaled: "Retain" },
      revisionHistoryLimit: 3,
      template: podOf(context, component),
      ...(claim ? { volumeClaimTemplates: [claim] } : {}),
    },
  };
}

function daemonSetOf(context: Context, component: Component, group: NodeGroup): DaemonSet {
  const { metadata } = context.deployment;
  const name = objectName(metadata.name, `${plainName(component)}-${group.name}`);
  const groupLabel = { "openstack.causeway.dev/node-group": group.name };
  const template = podOf(context, component, group);
  return {
    apiVersion: "apps/v1",
    kind: "DaemonSet",
    metadata: metadataOf(context, name, { component, labels: groupLabel }),
    spec: {
      selector: { matchLabels: { ...selectorOf(metadata.name, component.name), ...groupLabel } },
      updateStrategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: 1, maxSurge: 0 } },
      revisionHistoryLimit: 3,
      template: {
        ...template,
        metadata: { ...template.metadata, labels: { ...template.metadata?.labels, ...groupLabel } },
      },
    },
  };
}

/**
 * A Job has the digest of all that it depends on in its name: another one runs when that changes, and a finished one
 * never again.
 */
function jobOf(context: Context, component: Component, jobs: ReadonlyMap<string, string>): Job {
  const inputs = jobs.get(component.name) ?? "";
  const name = `${objectName(context.deployment.metadata.name, component.name)}-${inputs}`;
  return {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: { ...metadataOf(context, name, { component }), annotations: { [annotations.inputs]: inputs } },
    spec: {
      backoffLimit: 12,
      parallelism: 1,
      completions: 1,
      // Two processes must not change one schema: the next attempt begins when nothing of the one before is left.
      ...(component.schemas || component.lastWords ? { podReplacementPolicy: "Failed" } : {}),
      template: podOf(context, component),
    },
  };
}

/** Digests of what each Job depends on: its pod, and the Jobs that it runs again with. */
export function jobInputs(context: Context, order: readonly Component[]): ReadonlyMap<string, string> {
  const inputs = new Map<string, string>();
  const { nb = "", sb = "" } = context.rebuilt;
  const own: Readonly<Record<string, string | undefined>> = {
    "compute-nodes": context.computeNodes,
    "credential-keys": context.credentialKeys,
    [NORTHBOUND]: nb,
    [SOUTHBOUND]: sb,
    ...Object.fromEntries(
      (context.deployment.spec.services ?? []).map((each) => [
        `${each.name}.secretConfiguration`,
        each.secretConfiguration?.name,
      ]),
    ),
  };
  for (const component of order) {
    if (component.kind !== "Job") continue;
    const others = (component.rerunWith ?? []).map((name) => own[name] ?? inputs.get(name) ?? "");
    inputs.set(component.name, digestOf([jobPod(context, component), others]));
  }
  return inputs;
}

/**
 * What a Job depends on: image, command, passwords and programs. Not on labels, resources and options without
 * passwords: their change needs no other run.
 */
function jobPod(context: Context, component: Component): unknown {
  const { deployment, keys, programTexts, facts } = context;
  const services = component.configuration ?? [];
  return [
    imageOf(deployment.spec, component),
    commandOf(deployment.spec, component),
    keys.get(component.name),
    services.map((service) => configurationOf(context, { service, component })?.secret),
    component.programs?.map((name) => programTexts[name]),
    facts.spec.storage?.ceph?.secret.name,
  ];
}
