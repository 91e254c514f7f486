import { OPENSTACK_SERVICES, type OpenStackDeployment, type OpenStackDeploymentSpec } from "@causeway/api";
import type { KubeObject, PodTemplateSpec } from "@causeway/kubernetes";
import { resolveCatalogue } from "../catalogue/index.ts";
import { completed } from "../credentials/new-values.ts";
import { desiredOf } from "../render/desired.ts";

/** Every service, on three groups of nodes. */
export const spec: OpenStackDeploymentSpec = {
  release: "2025.1",
  region: "RegionOne",
  domain: "cloud.example.org",
  size: "Small",
  nodeGroups: [
    { name: "control", nodeSelector: { role: "control" }, roles: ["Control", "Network"] },
    { name: "compute", nodeSelector: { role: "compute" }, roles: ["Compute"] },
    { name: "gpu", nodeSelector: { role: "gpu" }, roles: ["Compute"] },
  ],
  services: OPENSTACK_SERVICES.map((name) => ({ name, enabled: true })),
};

/** The same passwords in each call, so that results can be compared. */
let values: Record<string, string> = {};

/** The objects of that deployment with some fields of another one. */
export function desire(more: Partial<OpenStackDeploymentSpec> = {}, upgradeFrom?: string) {
  const deployment: OpenStackDeployment = {
    apiVersion: "openstack.causeway.dev/v1alpha1",
    kind: "OpenStackDeployment",
    metadata: { name: "cloud", namespace: "openstack", uid: "u" },
    spec: { ...spec, ...more },
  };
  const { components } = resolveCatalogue(deployment.spec);
  const credentials = completed({ generation: 1, accounts: [0, 1], values: values }, components);
  values = { ...credentials.values };
  const options = { deployment, credentials, computeNodes: ["one"], messagesOf: "2025.1" };
  const desired = desiredOf(upgradeFrom === undefined ? options : { ...options, upgradeFrom });
  const workloads = [...desired.workloads.values()].flat();
  return { ...desired, workloads, all: [...desired.foundation, ...workloads].map(({ object }) => object), credentials };
}
/** The pod template of a workload. */
export const podOf = (object: KubeObject): PodTemplateSpec =>
  (object as KubeObject & { spec: { template: PodTemplateSpec } }).spec.template;
/** The object of that kind and name. */
export const named = (all: readonly KubeObject[], kind: string, name: string) =>
  all.find((each) => each.kind === kind && each.metadata.name === name);
