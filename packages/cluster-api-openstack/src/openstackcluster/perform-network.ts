import { OpenStackCluster } from "@causeway/api";
import { keyOf } from "@causeway/kubernetes";
import type { CloudInformer } from "@causeway/openstack";
import type { Session } from "../identity/sessions.ts";
import { ownNetworkAnnotation } from "../resources/naming.ts";
import { possessionOf } from "./possession.ts";
import {
  searchFor,
  emit,
  fieldManager,
  type Performers,
  type SessionPerformContext,
  type StepNamed,
} from "./perform-context.ts";

type Name =
  | "create-network"
  | "check-names"
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
export const networkSteps: Performers<Name, SessionPerformContext> = {
  async "create-network"({ body }, using, signal) {
    const { networks } = using.session.cloud.network;
    const check = searchFor((s) => networks.all({ name: body.name }, { signal: s }), body, signal);
    const made = await networks.create(body, check);
    using.session.watch.networks.observe(made);
    emit(using, "SuccessfulCreateNetwork", `Created network ${made.name} with id ${made.id}`);
  },
  async "check-names"({ id, name, crn }, using, signal) {
    const { session, client, object } = using;
    const { networks, subnets } = session.watch;
    const present = await session.cloud.network.networks.all({ name }, { signal });
    for (const network of present) networks.observe(network);
    const cloud = { networks: present, subnets: subnets.list(), projectId: session.projectId };
    // Else the next plan sees the others.
    if (possessionOf({ object, cloud, crn }).kind !== "unchecked") return;
    const body = { metadata: { annotations: { [ownNetworkAnnotation]: id } } };
    await client.patch(OpenStackCluster, keyOf(object), { type: "merge", body }, { signal, fieldManager });
  },
  async "create-subnet"({ body }, using, signal) {
    const { subnets } = using.session.cloud.network;
    const query = { name: body.name, network_id: body.network_id };
    const made = await subnets.create(
      body,
      searchFor((s) => subnets.all(query, { signal: s }), body, signal),
    );
    using.session.watch.subnets.observe(made);
    emit(using, "SuccessfulCreateSubnet", `Created subnet ${made.cidr} with id ${made.id}`);
  },
  async "update-subnet"({ id, dnsNameservers }, using, signal) {
    const { watch, cloud } = using.session;
    watch.subnets.observe(await cloud.network.subnets.update(id, { dns_nameservers: dnsNameservers }, { signal }));
    emit(using, "SuccessfulUpdateSubnet", `Set the name servers of subnet ${id}`);
  },
  async "create-router"({ body }, using, signal) {
    const { routers } = using.session.cloud.network;
    const made = await routers.create(
      body,
      searchFor((s) => routers.all({ name: body.name }, { signal: s }), body, signal),
    );
    using.session.watch.routers.observe(made);
    emit(using, "SuccessfulCreateRouter", `Created router ${made.name} with id ${made.id}`);
  },
  async "update-router"({ id, gateway }, using, signal) {
    const { watch, cloud } = using.session;
    watch.routers.observe(await cloud.network.routers.update(id, { external_gateway_info: gateway }, { signal }));
    emit(using, "SuccessfulUpdateRouter", `Set the gateway of router ${id}`);
  },
  async "add-router-interface"({ routerId, subnetId }, using, signal) {
    const { watch, cloud } = using.session;
    await cloud.network.addRouterInterface(routerId, { subnet_id: subnetId }, { signal });
    // The response does not contain the port that was created.
    await watch.ports.refresh(signal);
    emit(using, "SuccessfulCreateRouterInterface", `Connected subnet ${subnetId} to router ${routerId}`);
  },
  async "remove-router-interface"({ routerId, subnetId, portId }, using, signal) {
    const { watch, cloud } = using.session;
    await cloud.network.removeRouterInterface(routerId, { subnet_id: subnetId }, { signal, deletes: true });
    watch.ports.forget(portId);
    emit(using, "SuccessfulDeleteRouterInterface", `Disconnected subnet ${subnetId} from router ${routerId}`);
  },
  async "remove-routes"({ id, routes }, using, signal) {
    const { watch, cloud } = using.session;
    watch.routers.observe(await cloud.network.removeRoutes(id, routes, { signal, deletes: true }));
    const removed = routes.map(({ destination, nexthop }) => `${destination} via ${nexthop}`);
    emit(using, "SuccessfulDeleteRoutes", `Removed routes of router ${id}: ${removed.join(", ")}`);
  },
  async "set-tags"(step, { session }, signal) {
    await session.cloud.network.setTags(step.kind, step.id, step.tags, { signal });
    observeTags(step, session);
  },
  async "delete-router"({ id, name }, using, signal) {
    const { watch, cloud } = using.session;
    await cloud.network.routers.delete(id, { signal });
    watch.routers.forget(id);
    emit(using, "SuccessfulDeleteRouter", `Deleted router ${name} with id ${id}`);
  },
  async "delete-port"({ id, name }, using, signal) {
    const { watch, cloud } = using.session;
    await cloud.network.ports.delete(id, { signal });
    watch.ports.forget(id);
    emit(using, "SuccessfulDeletePort", `Deleted port ${name} with id ${id}`);
  },
  async "delete-network"({ id, name }, using, signal) {
    const { watch, cloud } = using.session;
    await cloud.network.networks.delete(id, { signal });
    // Neutron takes its subnets and its own ports along.
    for (const subnet of watch.subnets.byIndex("network", id)) watch.subnets.forget(subnet.id);
    for (const port of watch.ports.byIndex("network", id)) watch.ports.forget(port.id);
    watch.networks.forget(id);
    emit(using, "SuccessfulDeleteNetwork", `Deleted network ${name} with id ${id}`);
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
