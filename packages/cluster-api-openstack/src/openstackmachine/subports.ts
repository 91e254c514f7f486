import type { ResolvedPort } from "@causeway/api";
import type { Port } from "@causeway/openstack";
import { description } from "../resources/naming.ts";
import { creation, findPort, trunksOf } from "./build.ts";
import { severalOf, surplusOf } from "./duplicate-ports.ts";
import type { MachineContext } from "./model.ts";
import type { RunningTrunks } from "./running-trunks.ts";
import type { MachineStep } from "./steps.ts";
import { takenOff, trunkSteps } from "./trunks.ts";

const failure = { reason: "SubportUpdateFailed", isUpdate: true } as const;

/**
 * Brings the subports on the trunks of a running server to what the spec says: new ones are made and added, those that
 * the spec had are removed and deleted. A trunk that is created later gets its subports once it exists.
 */
export function planSubports(
  context: MachineContext,
  ports: readonly Port[],
  wanted: readonly ResolvedPort[],
): RunningTrunks {
  const trunks = new Map(ports.filter((port) => port.trunk_details !== undefined).map((port) => [port.name, port]));
  const subports = wanted.filter(({ parent }) => parent !== undefined && trunks.has(parent));
  const found = new Map(trunks);
  const creations: MachineStep[] = [];
  const problems: string[] = [];
  for (const port of subports) {
    const one = findPort(context, port);
    if (one.kind === "one") found.set(port.name, one.resource);
    else if (one.kind === "none") creations.push({ ...creation(context, port), ...failure });
    else problems.push(severalOf(port, one.ids));
  }
  const steps = [
    ...removals(context, wanted, trunks),
    ...subports.flatMap((port) => surplusOf(context, port)).map(deletion),
    ...creations,
    ...trunksOf(wanted, found).flatMap((each) => trunkSteps(each)),
  ];
  return { steps, ...(problems.length > 0 ? { problem: problems.join(". ") } : {}) };
}

function deletion({ id, name }: Port): MachineStep {
  return { type: "delete-port", ...failure, id, name };
}

/** Subports that the server was given and the spec no longer has: off the trunk, then deleted. */
function removals(
  { object, cloud, crn }: MachineContext,
  wanted: readonly ResolvedPort[],
  trunks: ReadonlyMap<string, Port>,
): MachineStep[] {
  const dropped = (object.status?.resolved?.ports ?? []).filter(
    ({ name, parent }) => parent !== undefined && !wanted.some((port) => port.name === name),
  );
  return dropped.flatMap((before): MachineStep[] => {
    const port = cloud.ports.find(
      (p) =>
        p.name === before.name &&
        p.description === (before.description ?? description(crn)) &&
        p.project_id === cloud.projectId,
    );
    if (!port) return [];
    const trunk = trunks.get(before.parent ?? "")?.trunk_details;
    const isOn = trunk?.sub_ports.some(({ port_id }) => port_id === port.id) === true;
    return [...(isOn ? takenOff(trunk.trunk_id, [port.id]) : []), deletion(port)];
  });
}
