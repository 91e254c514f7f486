import type { ResolvedPort } from "@causeway/api";
import type { Port } from "@causeway/openstack";
import type { MachineContext } from "./model.ts";
import type { MachineStep } from "./steps.ts";

/** The reason of a refused change of a running server's trunk. It holds back no other change. */
export const TRUNK_UPDATE_FAILED = "TrunkUpdateFailed";

/** Milliseconds: what a network driver refuses once it refuses always, until the spec or the server changes. */
const REFUSED_PAUSE = 10 * 60_000;
const refusal = {
  pause: REFUSED_PAUSE,
  advice:
    "Not every network driver of Neutron changes trunks of a port that a server uses (Open vSwitch without OVN does not); recreate the Machine, or undo the change",
} as const;
const failure = { reason: TRUNK_UPDATE_FAILED, isUpdate: true, refusal } as const;

/** What the trunks of a running server need. */
export interface RunningTrunks {
  readonly steps: readonly MachineStep[];
  /** Why a trunk is not as the spec says, where no call would change that. */
  readonly problem?: string;
}

/**
 * A trunk that the spec wants for a port of a running server is created on it, without subports: these follow once it
 * exists. One that the machine was given and the spec no longer has is deleted, unless others use it.
 */
export function planRunningTrunks(
  context: MachineContext,
  ports: readonly Port[],
  wanted: readonly ResolvedPort[],
): RunningTrunks {
  const all = wanted.flatMap((spec): RunningTrunks[] => {
    const port = spec.parent === undefined ? ports.find(({ name }) => name === spec.name) : undefined;
    if (!port) return [];
    return [spec.trunk === true ? addition(context, port, spec) : removal(context, port)];
  });
  const problems = all.flatMap(({ problem }) => problem ?? []);
  return {
    steps: all.flatMap(({ steps }) => steps),
    ...(problems.length > 0 ? { problem: problems.join(". ") } : {}),
  };
}

const nothing: RunningTrunks = { steps: [] };

function addition({ cloud }: MachineContext, port: Port, wanted: ResolvedPort): RunningTrunks {
  if (port.trunk_details !== undefined) return nothing;
  if (cloud.extensions?.has("trunk") === false)
    return {
      steps: [],
      problem: `Port ${port.name} gets no trunk: Neutron's extension trunk is missing; set trunk to false`,
    };
  const body = { name: port.name, description: port.description, port_id: port.id };
  return { steps: [{ type: "create-trunk", ...failure, body, tags: wanted.tags ?? [] }] };
}

/** The steps for subports have removed the machine's own before. */
function removal({ object, cloud }: MachineContext, port: Port): RunningTrunks {
  const trunk = port.trunk_details;
  const given = object.status?.resolved?.ports ?? [];
  if (!trunk || given.find(({ name }) => name === port.name)?.trunk !== true) return nothing;
  const own = new Set(given.filter(({ parent }) => parent === port.name).map(({ name }) => name));
  const ids = new Set(cloud.ports.filter(({ name }) => own.has(name)).map(({ id }) => id));
  const foreign = trunk.sub_ports.find(({ port_id }) => !ids.has(port_id));
  if (foreign) {
    const what = `Trunk ${trunk.trunk_id} of port ${port.name} remains`;
    return { steps: [], problem: `${what}: its subport ${foreign.port_id} is not this machine's; remove it` };
  }
  if (trunk.sub_ports.length > 0) return nothing;
  return { steps: [{ type: "delete-trunk", ...failure, id: trunk.trunk_id, portId: port.id, subports: [] }] };
}
