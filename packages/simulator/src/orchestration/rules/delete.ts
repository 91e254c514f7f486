import type { Ask } from "../../kernel/ask.ts";
import type { Caller } from "../../kernel/interface.ts";
import { forgetStack } from "./adopt.ts";
import { stackTree, type Stack, type StackParts, type StackResource } from "../model.ts";

interface Place {
  readonly service: string;
  path(id: string): string;
}

const at = (service: string, path: string): Place => ({ service, path: (id) => path.replace("{id}", id) });

/** How resources are deleted, in the order in which they have to go. Types that are not listed exist in Heat only. */
const places: readonly (readonly [string, Place])[] = [
  ["OS::Nova::Server", at("compute", "/v2.1/servers/{id}")],
  ["OS::Neutron::FloatingIP", at("network", "/v2.0/floatingips/{id}")],
  ["OS::Octavia::HealthMonitor", at("load-balancer", "/v2/lbaas/healthmonitors/{id}")],
  ["OS::Octavia::Pool", at("load-balancer", "/v2/lbaas/pools/{id}")],
  ["OS::Octavia::Listener", at("load-balancer", "/v2/lbaas/listeners/{id}")],
  ["OS::Octavia::LoadBalancer", at("load-balancer", "/v2/lbaas/loadbalancers/{id}")],
  ["OS::Neutron::Port", at("network", "/v2.0/ports/{id}")],
  ["OS::Cinder::Volume", at("volumev3", "/v3/{project}/volumes/{id}")],
  ["OS::Nova::ServerGroup", at("compute", "/v2.1/os-server-groups/{id}")],
  ["OS::Neutron::Subnet", at("network", "/v2.0/subnets/{id}")],
  ["OS::Neutron::Router", at("network", "/v2.0/routers/{id}")],
  ["OS::Neutron::Net", at("network", "/v2.0/networks/{id}")],
  ["OS::Neutron::SecurityGroup", at("network", "/v2.0/security-groups/{id}")],
];

const ROUTER_INTERFACE = "OS::Neutron::RouterInterface";

/** Magnum's driver has types of its own, for which its environments put those of the services. */
function typeOf({ type }: StackResource): string {
  const kind = type.split("::").at(-1) ?? "";
  if (type.startsWith("Magnum::Optional::Neutron::LBaaS::") && kind !== "FloatingIP") return `OS::Octavia::${kind}`;
  if (!type.startsWith("Magnum::Optional::")) return type;
  return kind.startsWith("Volume") ? `OS::Cinder::${kind}` : `OS::Neutron::${kind}`;
}

/** A deletion that is in progress: a restarted cloud continues it. */
interface Deletion {
  readonly id: string;
  readonly caller: Caller;
  readonly attempt: number;
}

const ATTEMPTS = 200;
const PAUSE = 100;

/**
 * Deletes what a stack and its nested ones are made of, then the stack. A conflict is retried; the stack fails when
 * that lasts.
 */
export function createDeletion(parts: StackParts, ask: Ask): (stack: Stack, caller: Caller) => void {
  const { kernel, stacks } = parts;
  const deletions = kernel.table<Deletion>("_stack_deletion");
  const again = (id: string, wait: number): void => kernel.timers.after(wait, "stack.delete", id);
  const run = async (id: string): Promise<void> => {
    const [stack, known] = [stacks.get(id), deletions.get(id)];
    if (!stack || !known) return;
    const problem = await deleteNext(stackTree(stacks, stack), ask, known.caller);
    if (problem === undefined) {
      forgetStack(parts, stack);
      deletions.remove(id);
      return;
    }
    if (known.attempt < ATTEMPTS) {
      deletions.update(id, { attempt: known.attempt + 1 });
      again(id, PAUSE);
      return;
    }
    deletions.remove(id);
    stacks.update(id, { status: "DELETE_FAILED", reason: `Resource DELETE failed: Conflict: ${problem}` });
  };
  kernel.timers.handler("stack.delete", (id) => void run(id));
  return (stack, caller) => {
    for (const { id } of stackTree(stacks, stack))
      stacks.update(id, { status: "DELETE_IN_PROGRESS", reason: "Stack DELETE started" });
    if (!deletions.get(stack.id)) deletions.insert({ id: stack.id, caller, attempt: 0 });
    again(stack.id, 0);
  };
}

/** One pass over what is left; the name of what was not gone yet. */
async function deleteNext(tree: readonly Stack[], ask: Ask, caller: Caller): Promise<string | undefined> {
  const resources = tree.flatMap((stack) => stack.resources);
  for (const [type, place] of places) {
    if (type === "OS::Neutron::Subnet") await removeInterfaces(resources, ask, caller);
    let left: string | undefined;
    for (const resource of resources.filter((one) => typeOf(one) === type && one.physicalId !== "")) {
      const path = place.path(resource.physicalId).replace("{project}", caller.projectId);
      await ask(place.service, { caller, method: "DELETE", path });
      const { status } = await ask(place.service, { caller, method: "GET", path });
      if (status !== 404) left = resource.name;
    }
    if (left !== undefined) return left;
  }
  return undefined;
}

/** Heat names a router interface "ROUTER:subnet_id=SUBNET". */
async function removeInterfaces(resources: readonly StackResource[], ask: Ask, caller: Caller): Promise<void> {
  for (const resource of resources) {
    const match = /^([^:]+):subnet_id=(.+)$/.exec(resource.physicalId);
    if (typeOf(resource) !== ROUTER_INTERFACE || !match) continue;
    const path = `/v2.0/routers/${match[1]}/remove_router_interface`;
    await ask("network", { caller, method: "PUT", path, body: { subnet_id: match[2] } });
  }
}
