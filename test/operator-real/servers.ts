/** Servers of the rig's cloud. */
import { eventually } from "../support/processes.ts";
import { adminToken, request, serviceAddress } from "./cloud.ts";
import { TIMEOUT, type Rig } from "./rig.ts";

export interface BootedServer {
  readonly id: string;
  readonly status: string;
  readonly network: string;
  readonly port: string;
}

/**
 * An image, a flavor, a network with a subnet and a port on it, and a server on that. Waits until it is no longer being
 * built.
 */
export async function bootServer(rig: Rig, name: string, host?: string): Promise<BootedServer> {
  const { send, neutron, nova } = await apis(rig);
  const { image, flavor } = await makeImageAndFlavor(rig, name);
  const { network } = await send<{ network: { id: string } }>("POST", `${neutron}/v2.0/networks`, {
    network: { name },
  });
  await send("POST", `${neutron}/v2.0/subnets`, {
    subnet: { network_id: network.id, ip_version: 4, cidr: "192.0.2.0/24" },
  });
  const { port } = await send<{ port: { id: string } }>("POST", `${neutron}/v2.0/ports`, {
    port: { network_id: network.id, name },
  });
  const { server } = await send<{ server: { id: string } }>("POST", `${nova}/servers`, {
    server: {
      name,
      imageRef: image,
      flavorRef: flavor,
      networks: [{ port: port.id }],
      // An administrator may name the host in addition to the zone.
      ...(host === undefined ? {} : { availability_zone: `nova:${host}` }),
    },
  });
  let status = "";
  await eventually(TIMEOUT, async () => {
    const { server: now } = await send<{ server: { status: string; fault?: { message: string } } }>(
      "GET",
      `${nova}/servers/${server.id}`,
    );
    status = now.fault ? `${now.status}: ${now.fault.message}` : now.status;
    return now.status !== "BUILD";
  });
  return { id: server.id, status, network: network.id, port: port.id };
}

/** A public image with a few bytes, and a flavor, of that name; their IDs. */
export async function makeImageAndFlavor(rig: Rig, name: string): Promise<{ image: string; flavor: string }> {
  const { send, token, glance, nova } = await apis(rig);
  const image = await send<{ id: string }>("POST", `${glance}/v2/images`, {
    name,
    disk_format: "raw",
    container_format: "bare",
    visibility: "public",
  });
  const header = (name_: string, value: string) => ["-H", `${name_}: ${value}`];
  await rig.inNetwork(
    "curl",
    "-sfXPUT",
    ...header("X-Auth-Token", token),
    ...header("Content-Type", "application/octet-stream"),
    "--data-binary",
    "a disk",
    `${glance}/v2/images/${image.id}/file`,
  );
  const { flavor } = await send<{ flavor: { id: string } }>("POST", `${nova}/flavors`, {
    flavor: { name, ram: 64, vcpus: 1, disk: 1 },
  });
  return { image: image.id, flavor: flavor.id };
}

/** A router on the subnet of a network. */
export async function addRouter(rig: Rig, network: string): Promise<void> {
  const { send, neutron } = await apis(rig);
  const { subnets } = await send<{ subnets: { id: string }[] }>("GET", `${neutron}/v2.0/subnets?network_id=${network}`);
  const { router } = await send<{ router: { id: string } }>("POST", `${neutron}/v2.0/routers`, {
    router: { name: "router" },
  });
  await send("PUT", `${neutron}/v2.0/routers/${router.id}/add_router_interface`, { subnet_id: subnets[0]?.id });
}

/** Names of servers and networks of all projects. */
export async function namesNow(rig: Rig): Promise<{ servers: string[]; networks: string[] }> {
  const { send, neutron, nova } = await apis(rig);
  type Named = { readonly name: string }[];
  const { servers } = await send<{ servers: Named }>("GET", `${nova}/servers?all_tenants=true`);
  const { networks } = await send<{ networks: Named }>("GET", `${neutron}/v2.0/networks`);
  return { servers: servers.map(({ name }) => name), networks: networks.map(({ name }) => name) };
}

/** Where a server is, and what it does. */
export async function serverNow(rig: Rig, id: string): Promise<{ status: string; host: string }> {
  const { send, nova } = await apis(rig);
  const { server } = await send<{ server: { status: string; "OS-EXT-SRV-ATTR:host": string } }>(
    "GET",
    `${nova}/servers/${id}`,
  );
  return { status: server.status, host: server["OS-EXT-SRV-ATTR:host"] };
}

/** Orders a server to another host, while it runs. */
export async function liveMigrate(rig: Rig, id: string, host: string): Promise<void> {
  const { send, nova } = await apis(rig);
  const order = { "os-migrateLive": { host, block_migration: false, disk_over_commit: false } };
  await send("POST", `${nova}/servers/${id}/action`, order);
}

/** Compute nodes of which Nova says that they serve. */
export async function computesUp(rig: Rig): Promise<string[]> {
  const { send, nova } = await apis(rig);
  const { services } = await send<{ services: { host: string; state: string; status: string }[] }>(
    "GET",
    `${nova}/os-services?binary=nova-compute`,
  );
  return services.filter(({ state, status }) => state === "up" && status === "enabled").map(({ host }) => host);
}

/** What the cloud's services and OVN have of a compute node: how many of each. */
export async function tracesOf(rig: Rig, host: string): Promise<Record<string, number>> {
  const { send, neutron, nova, placement } = await apis(rig);
  const { services } = await send<{ services: unknown[] }>(
    "GET",
    `${nova}/os-services?host=${host}&binary=nova-compute`,
  );
  const { resource_providers: providers } = await send<{ resource_providers: unknown[] }>(
    "GET",
    `${placement}/resource_providers?name=${host}`,
  );
  const { agents } = await send<{ agents: unknown[] }>("GET", `${neutron}/v2.0/agents?host=${host}`);
  const find = ["ovn-sbctl", "--no-leader-only", "--bare", "--columns=name", "find", "chassis", `hostname=${host}`];
  const chassis = (await rig.inContainer("cloud-ovn-sb-0", "ovn-sb", ...find))
    .split("\n")
    .filter((line) => line !== "");
  return { services: services.length, providers: providers.length, agents: agents.length, chassis: chassis.length };
}

async function apis(rig: Rig) {
  const token = await adminToken(rig);
  const at = (component: string, port: number) => `http://${serviceAddress(rig, component)}:${port}`;
  return {
    token,
    glance: at("glance-api", 9292),
    neutron: at("neutron-server", 9696),
    placement: at("placement-api", 8778),
    nova: `${at("nova-api", 8774)}/v2.1`,
    send: async <T>(method: string, url: string, body?: unknown): Promise<T> => {
      const answer = await request(rig, method, url, { token, body });
      if (answer.status >= 300) throw new Error(`${method} ${url}: ${answer.status} ${answer.body.slice(0, 500)}`);
      return (answer.body === "" ? {} : JSON.parse(answer.body)) as T;
    },
  };
}
