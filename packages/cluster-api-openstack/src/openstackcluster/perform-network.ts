import type { CloudInformer } from "@causeway/openstack";
import type { Session } from "../identity/sessions.ts";
import { lookFor, tell, type Performers, type SessionActor, type StepNamed } from "./actor.ts";

type Name =
  | "create-network"
  | "create-subnet"
  | "update-subnet"
  | "create-router"
  | "update-router"
  | "add-router-interface"
  | "remove-router-interface"
  | "remove-routes"
  | "set-tags"
  | "delete-router"
  | "delete-port"
  | "delete-network";

/** Network, subnet and router. The informers observe each response, so that the next plan sees it without a call. */
export const networkSteps: Performers<Name, SessionActor> = {
  async "create-network"({ body }, actor, signal) {
    const { networks } = actor.session.cloud.network;
    const look = lookFor((s) => networks.all({ name: body.name }, { signal: s }), body, signal);
    const made = await networks.create(body, look);
    actor.session.watch.networks.observe(made);
    tell(actor, "SuccessfulCreateNetwork", `Created network ${made.name} with id ${made.id}`);
  },
  async "create-subnet"({ body }, actor, signal) {
    const { subnets } = actor.session.cloud.network;
    const query = { name: body.name, network_id: body.network_id };
    const made = await subnets.create(
      body,
      lookFor((s) => subnets.all(query, { signal: s }), body, signal),
    );
    actor.session.watch.subnets.observe(made);
    tell(actor, "SuccessfulCreateSubnet", `Created subnet ${made.cidr} with id ${made.id}`);
  },
  async "update-subnet"({ id, dnsNameservers }, actor, signal) {
    const { watch, cloud } = actor.session;
    watch.subnets.observe(await cloud.network.subnets.update(id, { dns_nameservers: dnsNameservers }, { signal }));
    tell(actor, "SuccessfulUpdateSubnet", `Set the name servers of subnet ${id}`);
  },
  async "create-router"({ body }, actor, signal) {
    const { routers } = actor.session.cloud.network;
    const made = await routers.create(
      body,
      lookFor((s) => routers.all({ name: body.name }, { signal: s }), body, signal),
    );
    actor.session.watch.routers.observe(made);
    tell(actor, "SuccessfulCreateRouter", `Created router ${made.name} with id ${made.id}`);
  },
  async "update-router"({ id, gateway }, actor, signal) {
    const { watch, cloud } = actor.session;
    watch.routers.observe(await cloud.network.routers.update(id, { external_gateway_info: gateway }, { signal }));
    tell(actor, "SuccessfulUpdateRouter", `Set the gateway of router ${id}`);
  },
  async "add-router-interface"({ routerId, subnetId }, actor, signal) {
    const { watch, cloud } = actor.session;
    await cloud.network.addRouterInterface(routerId, { subnet_id: subnetId }, { signal });
    // The response does not contain the port that was created.
    await watch.ports.refresh(signal);
    tell(actor, "SuccessfulCreateRouterInterface", `Connected subnet ${subnetId} to router ${routerId}`);
  },
  async "remove-router-interface"({ routerId, subnetId, portId }, actor, signal) {
    const { watch, cloud } = actor.session;
    await cloud.network.removeRouterInterface(routerId, { subnet_id: subnetId }, { signal });
    watch.ports.forget(portId);
    tell(actor, "SuccessfulDeleteRouterInterface", `Disconnected subnet ${subnetId} from router ${routerId}`);
  },
  async "remove-routes"({ id, routes }, actor, signal) {
    const { watch, cloud } = actor.session;
    watch.routers.observe(await cloud.network.removeRoutes(id, routes, { signal }));
    const removed = routes.map(({ destination, nexthop }) => `${destination} via ${nexthop}`);
    tell(actor, "SuccessfulDeleteRoutes", `Removed routes of router ${id}: ${removed.join(", ")}`);
  },
  async "set-tags"(step, { session }, signal) {
    await session.cloud.network.setTags(step.kind, step.id, step.tags, { signal });
    observeTags(step, session);
  },
  async "delete-router"({ id, name }, actor, signal) {
    const { watch, cloud } = actor.session;
    await cloud.network.routers.delete(id, { signal });
    watch.routers.forget(id);
    tell(actor, "SuccessfulDeleteRouter", `Deleted router ${name} with id ${id}`);
  },
  async "delete-port"({ id, name }, actor, signal) {
    const { watch, cloud } = actor.session;
    await cloud.network.ports.delete(id, { signal });
    watch.ports.forget(id);
    tell(actor, "SuccessfulDeletePort", `Deleted port ${name} with id ${id}`);
  },
  async "delete-network"({ id, name }, actor, signal) {
    const { watch, cloud } = actor.session;
    await cloud.network.networks.delete(id, { signal });
    // Neutron takes its subnets and its own ports along.
    for (const subnet of watch.subnets.byIndex("network", id)) watch.subnets.forget(subnet.id);
    for (const port of watch.ports.byIndex("network", id)) watch.ports.forget(port.id);
    watch.networks.forget(id);
    tell(actor, "SuccessfulDeleteNetwork", `Deleted network ${name} with id ${id}`);
  },
};

function observeTags({ kind, id, tags }: StepNamed<"set-tags">, { watch }: Session): void {
  const seen = <T extends { id: string; tags: string[] }>(informer: CloudInformer<T>) => {
    const known = informer.get(id);
    if (known) informer.observe({ ...known, tags });
  };
  switch (kind) {
    case "networks":
      return seen(watch.networks);
    case "subnets":
      return seen(watch.subnets);
    case "routers":
      return seen(watch.routers);
    case "ports":
      return seen(watch.ports);
    case "security-groups":
      return seen(watch.securityGroups);
    case "floatingips":
      return seen(watch.floatingIps);
    case "trunks":
    case "subnetpools":
    case "policies":
      return; // no informer watches them
  }
}
