import type { Cloud, NetworkService } from "@causeway/openstack";

type Json = Readonly<Record<string, unknown>>;

export interface HeatClusterOptions {
  readonly uuid: string;
  readonly name: string;
  readonly masters: number;
  /** Workers of default-worker, and of a second node group with a stack of its own. */
  readonly workers: readonly [number, number];
  readonly version: string;
  readonly labels?: Readonly<Record<string, string>>;
  /** Name of the image of its servers. Default "cirros". */
  readonly image?: string;
}

/** A cluster as Magnum's Heat driver makes it: resources in the cloud, its stacks, and the rows of Magnum. */
export interface HeatCluster {
  readonly vip: string;
  readonly masters: readonly string[];
  readonly workers: readonly { readonly id: string; readonly name: string; readonly address: string }[];
  /** What the simulated Magnum is given, but for the address of the API and the authorities. */
  readonly rows: { readonly cluster: Json; readonly template: Json; readonly nodegroups: readonly Json[] };
}

interface Nodes {
  readonly group: Json;
  readonly made: readonly {
    readonly id: string;
    readonly name: string;
    readonly address: string;
    readonly port: string;
  }[];
}

const resource = (type: string, id = "") => ({ type, resource_id: id });

/** Makes the resources by the cloud's own APIs, and has Heat adopt them as the driver's stacks. */
export async function makeHeatCluster(cloud: Cloud, options: HeatClusterOptions): Promise<HeatCluster> {
  const { name, uuid, version } = options;
  const stack = `${name.slice(0, 30)}-abcdefgh1234`;
  const { network, compute } = cloud;
  const net = await network.networks.create({ name: "private" });
  const subnet = await network.subnets.create({
    network_id: net.id,
    name: "private_subnet",
    cidr: "10.0.0.0/24",
    ip_version: 4,
  });
  const [external] = await network.networks.all({ name: "public" });
  const router = await network.routers.create({
    name: "extrouter",
    external_gateway_info: { network_id: external?.id ?? "" },
  });
  await network.addRouterInterface(router.id, { subnet_id: subnet.id });
  const group = (role: string) => network.securityGroups.create({ name: `${stack}-secgroup_kube_${role}-xyz` });
  const [masterGroup, minionGroup] = [await group("master"), await group("minion")];
  const flavor = (await compute.flavors.all({}))[0]?.id ?? "";
  const image = (await cloud.image.images.all({ name: options.image ?? "cirros" }))[0]?.id ?? "";
  const hosts = async (role: "master" | "node", count: number, of: string, security: string): Promise<Nodes> => {
    const made: Nodes["made"][number][] = [];
    for (let index = 0; index < count; index += 1) {
      const port = await network.ports.create({
        ...portBody(net.id, subnet.id, security),
        name: `${of}-${role}-${index}-eth0-xyz`,
      });
      const server = await compute.servers.create({
        name: `${of}-${role}-${index}`,
        flavorRef: flavor,
        imageRef: image,
        networks: [{ port: port.id }],
      });
      made.push({
        id: server.id,
        name: `${of}-${role}-${index}`,
        address: port.fixed_ips[0]?.ip_address ?? "",
        port: port.id,
      });
    }
    const kind = role === "master" ? "kube-master" : "kube-minion";
    const nested = made.map((one, index) => [
      String(index),
      {
        type: `${kind.replace("-", "")}.yaml`,
        resources: {
          [kind]: resource("OS::Nova::Server", one.id),
          [`${kind.replace("-", "_")}_eth0`]: resource("OS::Neutron::Port", one.port),
          agent_config: resource("OS::Heat::SoftwareConfig", `config-${index}`),
        },
      },
    ]);
    return { group: { type: "OS::Heat::ResourceGroup", resources: Object.fromEntries(nested) as Json }, made };
  };
  const masters = await hosts("master", options.masters, stack, masterGroup.id);
  const workers = await hosts("node", options.workers[0], stack, minionGroup.id);
  const second = `${name.slice(0, 30)}-big-ijklmnop5678`;
  const others = await hosts("node", options.workers[1], second, minionGroup.id);
  const api = await balancer(cloud, { name: `${stack}-api_lb`, subnet: subnet.id, port: 6443, members: masters.made });
  const etcd = await balancer(cloud, {
    name: `${stack}-etcd_lb`,
    subnet: subnet.id,
    port: 2379,
    members: masters.made,
  });
  const parameters = {
    parameters: { kube_service_account_private_key: { hidden: true } },
    outputs: { api_address: { value: api.vip } },
  };
  const main = await adoptStack(cloud, stack, {
    template: parameters,
    environment: { parameters: { cluster_uuid: uuid, kube_service_account_private_key: "secret" } },
    resources: {
      network: {
        type: "file:///magnum/drivers/common/templates/network.yaml",
        resources: {
          private_network: resource("Magnum::Optional::Neutron::Net", net.id),
          private_subnet: resource("Magnum::Optional::Neutron::Subnet", subnet.id),
          extrouter: resource("Magnum::Optional::Neutron::Router", router.id),
          extrouter_inside: resource(
            "Magnum::Optional::Neutron::RouterInterface",
            `${router.id}:subnet_id=${subnet.id}`,
          ),
        },
      },
      api_lb: api.stack,
      etcd_lb: etcd.stack,
      secgroup_kube_master: resource("OS::Neutron::SecurityGroup", masterGroup.id),
      secgroup_kube_minion: resource("OS::Neutron::SecurityGroup", minionGroup.id),
      kube_masters: masters.group,
      kube_minions: workers.group,
      kube_cluster_config: resource("OS::Heat::SoftwareConfig", "cluster-config"),
    },
  });
  const own = await adoptStack(cloud, second, {
    template: parameters,
    environment: { parameters: { is_cluster_stack: false } },
    resources: { kube_minions: others.group },
  });
  const made = (nodes: Nodes) => nodes.made.map(({ id, name: server, address }) => ({ id, name: server, address }));
  return {
    vip: api.vip,
    masters: masters.made.map(({ address }) => address),
    workers: [...made(workers), ...made(others)],
    rows: rowsOf(
      { ...options, labels: { kube_tag: version, cert_manager_api: "true", ...options.labels } },
      { main, own, project: await cloud.projectId(), image, flavor },
    ),
  };
}

const portBody = (
  network_id: string,
  subnet_id: string,
  group: string,
): Omit<Parameters<NetworkService["ports"]["create"]>[0], "name"> => ({
  network_id,
  fixed_ips: [{ subnet_id }],
  security_groups: [group],
  allowed_address_pairs: [{ ip_address: "10.100.0.0/16" }],
});

interface BalancerOf {
  readonly name: string;
  readonly subnet: string;
  readonly port: number;
  readonly members: Nodes["made"];
}

async function balancer(
  { loadBalancing }: Cloud,
  { name, subnet, port, members }: BalancerOf,
): Promise<{ vip: string; stack: Json }> {
  const active = async (id: string): Promise<void> => {
    for (let i = 0; i < 500; i += 1) {
      if ((await loadBalancing.loadBalancers.get(id)).provisioning_status === "ACTIVE") return;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    throw new Error(`load balancer ${name} does not become ACTIVE`);
  };
  const made = await loadBalancing.loadBalancers.create({ name, vip_subnet_id: subnet });
  await active(made.id);
  const listener = await loadBalancing.listeners.create({
    loadbalancer_id: made.id,
    name: "listener",
    protocol: "TCP",
    protocol_port: port,
  });
  await active(made.id);
  const pool = await loadBalancing.pools.create({
    listener_id: listener.id,
    name: "pool",
    protocol: "TCP",
    lb_algorithm: "ROUND_ROBIN",
  });
  await active(made.id);
  await loadBalancing.replaceMembers(
    pool.id,
    members.map(({ address, name: member }) => ({ name: member, address, protocol_port: port })),
  );
  await active(made.id);
  const resources = {
    loadbalancer: resource("Magnum::Optional::Neutron::LBaaS::LoadBalancer", made.id),
    listener: resource("Magnum::Optional::Neutron::LBaaS::Listener", listener.id),
    pool: resource("Magnum::Optional::Neutron::LBaaS::Pool", pool.id),
  };
  return { vip: made.vip_address, stack: { type: "file:///magnum/drivers/common/templates/lb.yaml", resources } };
}

async function adoptStack({ orchestration }: Cloud, stack_name: string, data: Json): Promise<string> {
  return (await orchestration.create({ stack_name, adopt_stack_data: JSON.stringify(data) })).id;
}

interface Ids {
  readonly main: string;
  readonly own: string;
  readonly project: string;
  readonly image: string;
  readonly flavor: string;
}

function rowsOf(options: HeatClusterOptions, { main, own, project, image, flavor }: Ids): HeatCluster["rows"] {
  const { uuid, name, version, masters, workers, labels = {} } = options;
  const template = {
    uuid: "6e8ae3a5-0b4c-4f0e-9d26-00000000000a",
    name: "heat",
    coe: "kubernetes",
    image_id: image,
    external_network_id: "public",
    network_driver: "calico",
    tls_disabled: false,
    master_lb_enabled: true,
    floating_ip_enabled: false,
    dns_nameserver: "8.8.8.8",
  };
  const group = (id: string, group_name: string, role: string, more: Json) => ({
    uuid: `6e8ae3a5-0b4c-4f0e-9d26-0000000000${id}`,
    name: group_name,
    cluster_id: uuid,
    role,
    image_id: image,
    flavor_id: flavor,
    min_node_count: 0,
    max_node_count: null,
    labels,
    ...more,
  });
  return {
    cluster: {
      uuid,
      name,
      project_id: project,
      user_id: "heat-user",
      status: "CREATE_COMPLETE",
      status_reason: null,
      stack_id: main,
      cluster_template_id: template.uuid,
      keypair: null,
      node_count: workers[0],
      master_count: masters,
      master_flavor_id: flavor,
      flavor_id: flavor,
      coe_version: version,
      labels,
    },
    template,
    nodegroups: [
      group("b1", "default-master", "master", { is_default: true, node_count: masters, stack_id: main }),
      group("b2", "default-worker", "worker", { is_default: true, node_count: workers[0], stack_id: main }),
      group("b3", "big", "worker", { is_default: false, node_count: workers[1], stack_id: own }),
    ],
  };
}
