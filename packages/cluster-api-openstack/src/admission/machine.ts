import type { OpenStackMachine, OpenStackMachineSpec, OpenStackServer, PortSpec } from "@causeway/api";
import { immutable, without } from "./fields.ts";

/** What a running server follows; everything else was decided when it was made. */
const inPlace = ["securityGroups", "tags", "serverMetadata", "ports", "trunk", "identityRef", "providerID"] as const;
const portInPlace = ["securityGroups", "allowedAddressPairs", "tags", "trunk", "subports"] as const;

type Shared = Pick<OpenStackMachineSpec, "ports" | "additionalBlockDevices" | "securityGroups">;

/** What contradicts itself in the spec of a machine. */
export function specRefusals({ ports = [], additionalBlockDevices = [] }: Shared, path = "spec"): string[] {
  return [
    ...additionalBlockDevices.flatMap(({ name }, index) =>
      name === "root"
        ? [`${path}.additionalBlockDevices[${index}].name: Invalid value: "root" is the root volume's`]
        : [],
    ),
    ...ports.flatMap((port, index) => portRefusals(port, `${path}.ports[${index}]`)),
  ];
}

function portRefusals({ enablePortSecurity, securityGroups, subports = [] }: PortSpec, path: string): string[] {
  const ids = subports.map(({ segmentationID }) => segmentationID);
  return [
    ...(enablePortSecurity === false && securityGroups?.length
      ? [`${path}.securityGroups: Forbidden: enablePortSecurity is false`]
      : []),
    ...(new Set(ids).size < ids.length ? [`${path}.subports: Duplicate value: two have one segmentationID`] : []),
  ];
}

/** Why an OpenStackMachine is refused. */
export function machineRefusals(after: OpenStackMachine, before: OpenStackMachine | undefined): string[] {
  if (after.metadata.deletionTimestamp !== undefined) return [];
  const own = specRefusals(after.spec);
  if (!before) return own;
  const id = before.spec.providerID;
  const server = id ?? before.status?.instanceID;
  return [
    ...own,
    ...(id === undefined ? [] : immutable("spec.providerID", id, after.spec.providerID, `it is ${id}`)),
    ...(server === undefined ? [] : serverChanges(after.spec, before.spec)),
  ];
}

/** Why an OpenStackServer is refused. */
export function serverRefusals(after: OpenStackServer, before: OpenStackServer | undefined): string[] {
  if (after.metadata.deletionTimestamp !== undefined) return [];
  const own = specRefusals(after.spec);
  return before?.status?.instanceID === undefined ? own : [...own, ...serverChanges(after.spec, before.spec)];
}

/** Fields of which each is compared as a whole; a new one in one of the two counts, too. */
function serverChanges(after: object, before: object): string[] {
  const fields = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
    (field) => !(inPlace as readonly string[]).includes(field),
  );
  const at = (spec: object, field: string): unknown => (spec as Readonly<Record<string, unknown>>)[field];
  const ports = (spec: object): unknown =>
    ((at(spec, "ports") ?? []) as readonly PortSpec[]).map((port) => without(port, ...portInPlace));
  return [
    ...fields.flatMap((field) => immutable(`spec.${field}`, at(before, field), at(after, field), madeWith)),
    ...immutable("spec.ports", ports(before), ports(after), `only ${portInPlace.join(", ")} can change`),
  ];
}

const madeWith = "the server was made with the old value; create a new machine";
