import { CausewayError } from "@causeway/foundation";
import type { Port } from "@causeway/openstack";
import { emit, type Call, type ServerPerformContext } from "./perform-context.ts";
import type { MachineStep } from "./steps.ts";

type Step<D extends MachineStep["type"]> = Extract<MachineStep, { type: D }>;
type UpdateStep = Step<
  "update-port" | "add-subports" | "remove-subports" | "attach-port" | "set-server-tags" | "set-server-metadata"
>;

/** Sets what a step has of the security groups and address pairs of a port. */
async function updatePort(step: Step<"update-port">, using: ServerPerformContext, call: Call): Promise<void> {
  const { session, signal } = call;
  const { id, pairs, groups } = step;
  const change = {
    ...(pairs ? { allowed_address_pairs: pairs } : {}),
    ...(groups ? { security_groups: groups } : {}),
  };
  session.watch.ports.observe(await session.cloud.network.ports.update(id, change, { signal }));
  const what = [...(pairs ? ["allowed address pairs"] : []), ...(groups ? ["security groups"] : [])].join(" and ");
  emit(using, "SuccessfulUpdatePort", `Set the ${what} of port ${id}`);
}

/** Changes a server that runs, or the trunks of its ports. */
export async function performUpdate(step: UpdateStep, using: ServerPerformContext, call: Call): Promise<void> {
  switch (step.type) {
    case "update-port":
      return updatePort(step, using, call);
    case "add-subports":
    case "remove-subports":
      return changeSubports(step, using, call);
    case "attach-port":
      return attachPort(step, using, call);
    case "set-server-tags":
    case "set-server-metadata":
      return labelServer(step, using, call);
  }
}

async function changeSubports(
  step: Step<"add-subports" | "remove-subports">,
  using: ServerPerformContext,
  { session, signal }: Call,
): Promise<void> {
  const { network } = session.cloud;
  const trunk =
    step.type === "add-subports"
      ? await network.addSubPorts(step.id, step.subports, { signal })
      : await network.removeSubPorts(step.id, step.ports, { signal });
  const parent = session.watch.ports.get(trunk.port_id);
  const sub_ports = trunk.sub_ports.map(({ port_id, segmentation_id }) => ({ port_id, segmentation_id }));
  if (parent) session.watch.ports.observe({ ...parent, trunk_details: { trunk_id: trunk.id, sub_ports } });
  const verb = step.type === "add-subports" ? "Added subports to" : "Removed subports from";
  emit(using, "SuccessfulUpdateTrunk", `${verb} trunk ${trunk.id}`);
}

async function attachPort(
  { serverId, portId }: Step<"attach-port">,
  using: ServerPerformContext,
  { session, signal }: Call,
): Promise<void> {
  await session.cloud.compute.interfaces(serverId).attach({ port_id: portId }, { signal });
  const port: Port | undefined = session.watch.ports.get(portId);
  if (port) session.watch.ports.observe({ ...port, device_id: serverId, device_owner: "compute:" });
  emit(using, "SuccessfulAttachPort", `Attached port ${portId} to server ${serverId}`);
}

async function labelServer(
  step: Step<"set-server-tags" | "set-server-metadata">,
  using: ServerPerformContext,
  { session, signal }: Call,
): Promise<void> {
  const { compute } = session.cloud;
  const { servers } = session.watch;
  const known = servers.get(step.id);
  if (!known) throw new CausewayError("SERVER_GONE", `Server ${step.id} is gone, so its labels cannot be set`);
  if (step.type === "set-server-tags") {
    await compute.setServerTags(step.id, step.tags, { signal });
    servers.observe({ ...known, tags: [...step.tags] });
    return emit(using, "SuccessfulUpdateServer", `Set the tags of server ${step.id}`);
  }
  if (Object.keys(step.set).length > 0) await compute.setMetadata(step.id, step.set, { signal });
  for (const key of step.remove) await compute.deleteMetadata(step.id, key, { signal });
  const kept = Object.entries(known.metadata).filter(([key]) => !step.remove.includes(key));
  servers.observe({ ...known, metadata: { ...Object.fromEntries(kept), ...step.set } });
  emit(using, "SuccessfulUpdateServer", `Set the metadata of server ${step.id}`);
}
