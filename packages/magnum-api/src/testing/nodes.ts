import { KubeadmConfigTemplate, MachineDeployment, type MagnumCluster } from "@causeway/api";
import { desiredManifests, nothingStands } from "../cluster/desired.ts";
import { settled } from "./observed.ts";

type Spec = Partial<MagnumCluster["spec"]>;
type Template = Partial<MagnumCluster["spec"]["template"]>;

/** How the nodes of a cluster boot, and the name of their template: another one replaces them. */
export function made(template: Template, spec: Spec) {
  const { object } = settled();
  const cluster = { ...object, spec: { ...object.spec, ...spec, template: { ...object.spec.template, ...template } } };
  const all = desiredManifests(cluster, { authUrl: "http://keystone" }, nothingStands).map((one) => one.object);
  const own = all.find(({ kind }) => kind === KubeadmConfigTemplate.kind) as unknown as KubeadmConfigTemplate;
  const pool = all.find(({ kind }) => kind === MachineDeployment.kind) as unknown as MachineDeployment;
  return { ...own.spec.template.spec, name: pool.spec.template.spec.bootstrap.configRef?.name };
}
