import { isOpenStackConflict, isOpenStackNotFound, isQuotaExceeded, type FloatingIp } from "@causeway/openstack";
import type { StepContext } from "../step-context.ts";
import type { AddressStep } from "../steps.ts";

/**
 * Gives the VIP a floating IP or takes it away; the cache knows at once, and reads again when something is not there.
 */
export async function performAddress(step: AddressStep, context: StepContext): Promise<void> {
  try {
    await change(step, context);
  } catch (error) {
    if (isOpenStackNotFound(error)) await context.using.watch.floatingIps.refresh(context.signal);
    throw error;
  }
}

async function change(step: AddressStep, { using, signal }: StepContext): Promise<void> {
  const { floatingIps } = using.cloud.network;
  const cache = using.watch.floatingIps;
  switch (step.type) {
    case "create-floating-ip":
      cache.observe(await createFloatingIp(step, { using, signal }));
      return;
    case "attach-floating-ip":
      cache.observe(await floatingIps.update(step.id, { port_id: step.portId }, { signal }));
      return;
    case "describe-floating-ip":
      cache.observe(await floatingIps.update(step.id, { description: step.description }, { signal }));
      return;
    case "detach-floating-ip":
      cache.observe(await floatingIps.update(step.id, { port_id: null }, { signal, deletes: true }));
      return;
    case "delete-floating-ip":
      if (step.onlyFree && !(await isStillFree(step.id, { using, signal }))) return;
      await floatingIps.delete(step.id, { signal });
      cache.forget(step.id);
      return;
  }
}

async function isStillFree(id: string, { using, signal }: Pick<StepContext, "using" | "signal">): Promise<boolean> {
  const found = await using.cloud.network.floatingIps.find(id, { signal });
  if (found) using.watch.floatingIps.observe(found);
  return found === undefined || found.port_id === null;
}

/** From the first of the subnets that has an address left. */
async function createFloatingIp(
  step: Extract<AddressStep, { type: "create-floating-ip" }>,
  { using, signal }: Pick<StepContext, "using" | "signal">,
): Promise<FloatingIp> {
  const { floatingIps } = using.cloud.network;
  const body = {
    floating_network_id: step.networkId,
    description: step.description,
    ...(step.portId === undefined ? {} : { port_id: step.portId }),
    ...(step.address === undefined ? {} : { floating_ip_address: step.address }),
  };
  const query =
    step.portId === undefined ? { description: step.description, status: "DOWN" } : { port_id: step.portId };
  const recover = async () => (await floatingIps.all(query, { signal }))[0];
  const [last, ...before] = [...step.subnetIds].reverse();
  for (const subnet of before.reverse()) {
    try {
      return await floatingIps.create({ ...body, subnet_id: subnet }, { signal, recover });
    } catch (error) {
      if (!isOpenStackConflict(error) && !isQuotaExceeded(error)) throw error;
    }
  }
  return floatingIps.create({ ...body, ...(last === undefined ? {} : { subnet_id: last }) }, { signal, recover });
}
