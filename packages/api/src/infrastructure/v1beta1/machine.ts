import Type from "typebox";
import { age, column } from "../../columns.ts";
import type { VersionDefinition } from "../../schema/define.ts";
import { anyText, flag, intOrString, list, mapOf, object, optional } from "../../schema/fields.ts";
import { oldConditions, oldFailure } from "../../versions/shapes.ts";
import { all, within } from "../../lenses/lens.ts";
import { machineSpec } from "../parameters.ts";
import { machineStatus, resolved } from "../status.ts";
import { conditionsLens, machineLens, readyLens, resolvedLens } from "./lenses.ts";

const { flavor: _flavor, ports, ...shared } = machineSpec.properties;
const { enablePortSecurity: _secure, ...portFields } = ports.items.properties;
const nonEmpty = (description: string) => optional(Type.String({ minLength: 1, description }));
const disablePortSecurity = optional(
  flag({ description: "Whether Neutron does without checks of the port's addresses." }),
);

/** The spec of a machine as v1beta1 has it. */
export const machineSpecV1Beta1 = object({
  ...shared,
  flavor: nonEmpty("Name of the flavor."),
  flavorID: nonEmpty("UUID of the flavor."),
  ports: optional(list(object({ ...portFields, disablePortSecurity }))),
});

const { ports: resolvedPorts, ...resolvedFields } = resolved.properties;
const { enablePortSecurity: _too, ...resolvedPortFields } = resolvedPorts.items.properties;

/** What names and filters were resolved to, as v1beta1 has it. */
export const resolvedV1Beta1 = object({
  ...resolvedFields,
  ports: optional(list(object({ ...resolvedPortFields, disablePortSecurity }))),
});

const { conditions: _conditions, resolved: _resolved, ...statusFields } = machineStatus.properties;

/** How v1beta1 of OpenStackMachine differs from the stored version. */
export const machineV1Beta1: VersionDefinition = {
  version: "v1beta1",
  deprecated: false,
  spec: machineSpecV1Beta1,
  status: object({
    ...statusFields,
    ...oldFailure,
    ready: optional(flag()),
    resolved: optional(resolvedV1Beta1),
    conditions: oldConditions(),
  }),
  columns: [
    column("Cluster", ".metadata.labels.cluster\\.x-k8s\\.io/cluster-name"),
    column("InstanceState", ".status.instanceState"),
    column("Ready", ".status.ready"),
    column("ProviderID", ".spec.providerID"),
    column("Machine", '.metadata.ownerReferences[?(@.kind=="Machine")].name'),
    age,
  ],
  lens: all(within("spec", machineLens), within("status", resolvedLens, conditionsLens, readyLens)),
};

/** How v1beta1 of OpenStackMachineTemplate differs from the stored version. */
export const machineTemplateV1Beta1: VersionDefinition = {
  version: "v1beta1",
  deprecated: false,
  spec: object({ template: object({ spec: machineSpecV1Beta1 }) }),
  status: object({
    capacity: optional(mapOf(intOrString())),
    nodeInfo: optional(object({ operatingSystem: optional(anyText()), architecture: optional(anyText()) })),
    conditions: oldConditions(),
  }),
  columns: [age],
  lens: all(within("spec.template.spec", machineLens), within("status", conditionsLens)),
};
