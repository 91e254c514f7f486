import type { OpenStackClusterTemplate, OpenStackMachineTemplate, PortSpec } from "@causeway/api";
import { ownRefusals } from "./cluster.ts";
import { immutable, without } from "./fields.ts";
import { specRefusals } from "./machine.ts";

const another = "field is immutable; create another template and refer to that";

/** Why an OpenStackMachineTemplate is refused: machines that were made from it would differ from it. */
export function machineTemplateRefusals(
  after: OpenStackMachineTemplate,
  before: OpenStackMachineTemplate | undefined,
): string[] {
  if (after.metadata.deletionTimestamp !== undefined) return [];
  const path = "spec.template.spec";
  const { spec } = after.spec.template;
  const fixed = (of: OpenStackMachineTemplate): unknown => ({
    ...of.spec.template.spec,
    ports: (of.spec.template.spec.ports ?? []).map((port: PortSpec) => without(port, "allowedAddressPairs")),
  });
  return [
    ...(spec.providerID === undefined ? [] : [`${path}.providerID: Forbidden: it is of one machine`]),
    ...specRefusals(spec, path),
    ...(before
      ? immutable(path, fixed(before), fixed(after), `${another} (ports[].allowedAddressPairs can change)`)
      : []),
  ];
}

/** Why an OpenStackClusterTemplate is refused. */
export function clusterTemplateRefusals(
  after: OpenStackClusterTemplate,
  before: OpenStackClusterTemplate | undefined,
): string[] {
  if (after.metadata.deletionTimestamp !== undefined) return [];
  const { template } = after.spec;
  return [
    ...ownRefusals(template),
    ...(before ? immutable("spec.template.spec", before.spec.template.spec, template.spec, another) : []),
  ];
}
