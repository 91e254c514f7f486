import { randomBytes } from "node:crypto";
import { at } from "../contracts/openstack/shape.ts";
import { passage, type Api, type Passage, type Watched } from "./api.ts";

/** Takes down how one operation went. */
export type Note = (operation: string, passage: Passage) => void;

interface Stage {
  readonly api: Api;
  readonly note: Note;
  /** What no other run has in its names. */
  readonly run: string;
}

type Ask = { readonly service: string; readonly call: string; readonly body?: unknown };

/** Does and notes one operation; gives what its answer has at a path of fields. */
async function done(
  stage: Stage,
  operation: string,
  { ask, watched, id = "" }: { ask: Ask; watched?: Watched; id?: string },
) {
  const result = await passage(stage.api, ask, watched);
  stage.note(operation, result);
  return id === "" ? "" : String(at(result.body, id));
}

const network = (call: string, body?: unknown): Ask => ({ service: "network", call, body });
const compute = (call: string, body?: unknown): Ask => ({ service: "compute", call, body });
const volumes = (call: string, body?: unknown): Ask => ({ service: "volumev3", call, body });
const balancing = (call: string, body?: unknown): Ask => ({ service: "load-balancer", call, body });

const parts = { network: playPorts, compute: playServers, volume: playVolumes, "load-balancer": playBalancers };

/** One round of the operations of some services (default: all), on things of its own that are deleted at its end. */
export async function playRound(api: Api, note: Note, services: readonly string[] = Object.keys(parts)): Promise<void> {
  const stage: Stage = { api, note, run: `latency-${randomBytes(3).toString("hex")}` };
  const place = await makePlace(stage);
  try {
    for (const [service, part] of Object.entries(parts)) {
      if (!services.includes(service)) continue;
      // What a busy cloud does not do in time is not measured; the other parts are.
      await part(stage, place).catch((error: unknown) => console.log(`${service}: ${String(error)}`));
    }
  } finally {
    await clear(stage, place);
  }
}

interface Place {
  readonly networkId: string;
  readonly subnetId: string;
  readonly routerId: string;
}

async function makePlace(stage: Stage): Promise<Place> {
  const { run, api } = stage;
  const networkId = await done(stage, "network.create", {
    ask: network("POST /v2.0/networks", { network: { name: run } }),
    id: "network.id",
  });
  const subnet = { network_id: networkId, ip_version: 4, cidr: "10.88.0.0/22", name: run };
  const subnetId = await done(stage, "subnet.create", {
    ask: network("POST /v2.0/subnets", { subnet }),
    id: "subnet.id",
  });
  const external = await api.send("network", "GET /v2.0/networks?name=public");
  const gateway = { network_id: String(at(external, "networks.0.id")) };
  const routerId = await done(stage, "router.create", {
    ask: network("POST /v2.0/routers", { router: { name: run, external_gateway_info: gateway } }),
    id: "router.id",
  });
  await done(stage, "router.interface.add", {
    ask: network(`PUT /v2.0/routers/${routerId}/add_router_interface`, { subnet_id: subnetId }),
  });
  return { networkId, subnetId, routerId };
}

async function clear(stage: Stage, { networkId, subnetId, routerId }: Place): Promise<void> {
  const ports = at(await stage.api.send("network", `GET /v2.0/ports?network_id=${networkId}`), "ports");
  for (const { id, device_owner } of ports as readonly { readonly id: string; readonly device_owner: string }[]) {
    if (device_owner === "") await stage.api.send("network", `DELETE /v2.0/ports/${id}`);
  }
  await done(stage, "router.interface.remove", {
    ask: network(`PUT /v2.0/routers/${routerId}/remove_router_interface`, { subnet_id: subnetId }),
  });
  await done(stage, "router.delete", { ask: network(`DELETE /v2.0/routers/${routerId}`) });
  await done(stage, "network.delete", { ask: network(`DELETE /v2.0/networks/${networkId}`) });
}

async function playPorts(stage: Stage, { networkId }: Place): Promise<void> {
  const { run } = stage;
  const group = await done(stage, "security_group.create", {
    ask: network("POST /v2.0/security-groups", { security_group: { name: run } }),
    id: "security_group.id",
  });
  const rule = {
    security_group_id: group,
    direction: "ingress",
    protocol: "tcp",
    port_range_min: 80,
    port_range_max: 80,
  };
  await done(stage, "security_group_rule.create", {
    ask: network("POST /v2.0/security-group-rules", { security_group_rule: rule }),
  });
  const port = { network_id: networkId, name: run };
  const id = await done(stage, "port.create", { ask: network("POST /v2.0/ports", { port }), id: "port.id" });
  await done(stage, "port.update", {
    ask: network(`PUT /v2.0/ports/${id}`, { port: { security_groups: [group] } }),
  });
  await done(stage, "port.delete", { ask: network(`DELETE /v2.0/ports/${id}`) });
  const many = await passage(stage.api, network("POST /v2.0/ports", { ports: Array.from({ length: 10 }, () => port) }));
  stage.note("port.bulk10", many);
  await done(stage, "port.list", { ask: network("GET /v2.0/ports") });
  for (const made of at(many.body, "ports") as readonly { readonly id: string }[]) {
    await stage.api.send("network", `DELETE /v2.0/ports/${made.id}`);
  }
  await done(stage, "security_group.delete", { ask: network(`DELETE /v2.0/security-groups/${group}`) });
}

async function playServers(stage: Stage, { networkId }: Place): Promise<void> {
  const { api, run } = stage;
  const flavor = String(at(await api.send("compute", "GET /flavors"), "flavors.0.id"));
  const image = String(at(await api.send("image", "GET /v2/images?name=cirros"), "images.0.id"));
  const port = String(
    at(await api.send("network", "POST /v2.0/ports", { port: { network_id: networkId } }), "port.id"),
  );
  const server = { name: run, flavorRef: flavor, imageRef: image, networks: [{ port }] };
  const watch = (until: string, path = (body: unknown) => `/servers/${String(at(body, "server.id"))}`): Watched => ({
    service: "compute",
    path,
    field: "server.status",
    until,
  });
  const id = await done(stage, "server.create", {
    ask: compute("POST /servers", { server }),
    watched: watch("ACTIVE"),
    id: "server.id",
  });
  const here = () => `/servers/${id}`;
  const action = (name: string) =>
    compute(`POST /servers/${id}/action`, { [name]: name === "reboot" ? { type: "SOFT" } : null });
  await playFloating(stage, port);
  await done(stage, "server.stop", { ask: action("os-stop"), watched: watch("SHUTOFF", here) });
  await done(stage, "server.start", { ask: action("os-start"), watched: watch("ACTIVE", here) });
  await done(stage, "server.reboot", { ask: action("reboot"), watched: watch("ACTIVE", here) });
  await playAttachment(stage, id);
  await done(stage, "server.delete", { ask: compute(`DELETE /servers/${id}`), watched: watch("gone", here) });
  await api.send("network", `DELETE /v2.0/ports/${port}`);
}

async function playFloating(stage: Stage, port: string): Promise<void> {
  const external = String(at(await stage.api.send("network", "GET /v2.0/networks?name=public"), "networks.0.id"));
  const id = await done(stage, "floatingip.create", {
    ask: network("POST /v2.0/floatingips", { floatingip: { floating_network_id: external } }),
    id: "floatingip.id",
  });
  const path = () => `/v2.0/floatingips/${id}`;
  const watched: Watched = { service: "network", path, field: "floatingip.status", until: "ACTIVE" };
  await done(stage, "floatingip.update", {
    ask: network(`PUT ${path()}`, { floatingip: { port_id: port } }),
    watched,
  });
  await done(stage, "floatingip.delete", { ask: network(`DELETE ${path()}`) });
}

const volumeAt = (path: (body: unknown) => string, until: string): Watched => ({
  service: "volumev3",
  path,
  field: "volume.status",
  until,
});
const ofVolume = (body: unknown) => `/volumes/${String(at(body, "volume.id"))}`;

async function playAttachment(stage: Stage, server: string): Promise<void> {
  const made = await passage(
    stage.api,
    volumes("POST /volumes", { volume: { size: 1, name: stage.run } }),
    volumeAt(ofVolume, "available"),
  );
  const volume = String(at(made.body, "volume.id"));
  const here = () => `/volumes/${volume}`;
  await done(stage, "server.attach", {
    ask: compute(`POST /servers/${server}/os-volume_attachments`, { volumeAttachment: { volumeId: volume } }),
    watched: volumeAt(here, "in-use"),
  });
  await done(stage, "server.detach", {
    ask: compute(`DELETE /servers/${server}/os-volume_attachments/${volume}`),
    watched: volumeAt(here, "available"),
  });
  await passage(stage.api, volumes(`DELETE /volumes/${volume}`), volumeAt(here, "gone"));
}

async function playVolumes(stage: Stage, _place: Place): Promise<void> {
  const id = await done(stage, "volume.create", {
    ask: volumes("POST /volumes", { volume: { size: 1, name: stage.run } }),
    watched: volumeAt(ofVolume, "available"),
    id: "volume.id",
  });
  const here = () => `/volumes/${id}`;
  await done(stage, "volume.extend", {
    ask: volumes(`POST /volumes/${id}/action`, { "os-extend": { new_size: 2 } }),
    watched: volumeAt(here, "available"),
  });
  const snapshotAt = (path: (body: unknown) => string, until: string): Watched => ({
    service: "volumev3",
    path,
    field: "snapshot.status",
    until,
  });
  const snapshot = await done(stage, "snapshot.create", {
    ask: volumes("POST /snapshots", { snapshot: { volume_id: id, name: stage.run } }),
    watched: snapshotAt((body) => `/snapshots/${String(at(body, "snapshot.id"))}`, "available"),
    id: "snapshot.id",
  });
  await done(stage, "snapshot.delete", {
    ask: volumes(`DELETE /snapshots/${snapshot}`),
    watched: snapshotAt(() => `/snapshots/${snapshot}`, "gone"),
  });
  await done(stage, "volume.delete", { ask: volumes(`DELETE /volumes/${id}`), watched: volumeAt(here, "gone") });
}

const lbaas = "/v2.0/lbaas";
const balancerAt = (path: (body: unknown) => string, until = "ACTIVE"): Watched => ({
  service: "load-balancer",
  path,
  field: "loadbalancer.provisioning_status",
  until,
});
const ofBalancer = (body: unknown) => `${lbaas}/loadbalancers/${String(at(body, "loadbalancer.id"))}`;
const addresses = (count: number, from = 0) =>
  Array.from({ length: count }, (_, i) => ({ address: `10.88.3.${from + i + 1}`, protocol_port: 80 }));

/** Load balancers of OVN: piece by piece, and whole at once. */
async function playBalancers(stage: Stage, { subnetId }: Place): Promise<void> {
  const loadbalancer = { name: stage.run, provider: "ovn", vip_subnet_id: subnetId };
  const id = await done(stage, "loadbalancer.ovn.create", {
    ask: balancing(`POST ${lbaas}/loadbalancers`, { loadbalancer }),
    watched: balancerAt(ofBalancer),
    id: "loadbalancer.id",
  });
  const settles = balancerAt(() => `${lbaas}/loadbalancers/${id}`);
  const listener = { loadbalancer_id: id, protocol: "TCP", protocol_port: 80 };
  const listenerId = await done(stage, "listener.ovn.create", {
    ask: balancing(`POST ${lbaas}/listeners`, { listener }),
    watched: settles,
    id: "listener.id",
  });
  const pool = { listener_id: listenerId, protocol: "TCP", lb_algorithm: "SOURCE_IP_PORT" };
  const poolId = await done(stage, "pool.ovn.create", {
    ask: balancing(`POST ${lbaas}/pools`, { pool }),
    watched: settles,
    id: "pool.id",
  });
  for (const count of [1, 10]) {
    await done(stage, `members.ovn.batch${count}`, {
      ask: balancing(`PUT ${lbaas}/pools/${poolId}/members`, { members: addresses(count) }),
      watched: settles,
    });
  }
  await done(stage, "loadbalancer.ovn.update", {
    ask: balancing(`PUT ${lbaas}/loadbalancers/${id}`, { loadbalancer: { description: stage.run } }),
    watched: settles,
  });
  await done(stage, "listener.ovn.delete", {
    ask: balancing(`DELETE ${lbaas}/listeners/${listenerId}`),
    watched: settles,
  });
  await dropBalancer(stage, "loadbalancer.ovn.delete", id);
  for (const count of [10, 40]) await playWhole(stage, loadbalancer, count);
}

/** A load balancer with three listeners and pools in one request. */
async function playWhole(stage: Stage, loadbalancer: object, members: number): Promise<void> {
  const listeners = [80, 81, 82].map((protocol_port) => ({
    protocol: "TCP",
    protocol_port,
    default_pool: {
      name: `pool-${protocol_port}`,
      protocol: "TCP",
      lb_algorithm: "SOURCE_IP_PORT",
      members: addresses(members),
    },
  }));
  const id = await done(stage, `loadbalancer.ovn.create3x${members}`, {
    ask: balancing(`POST ${lbaas}/loadbalancers`, { loadbalancer: { ...loadbalancer, listeners } }),
    watched: balancerAt(ofBalancer),
    id: "loadbalancer.id",
  });
  await dropBalancer(stage, `loadbalancer.ovn.delete3x${members}`, id);
}

async function dropBalancer(stage: Stage, operation: string, id: string): Promise<void> {
  const path = `${lbaas}/loadbalancers/${id}`;
  await done(stage, operation, {
    ask: balancing(`DELETE ${path}?cascade=true`),
    watched: balancerAt(() => path, "gone"),
  });
}
