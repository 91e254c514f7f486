import type { Clock } from "@causeway/foundation";
import { watchCloud, type Cloud, type CloudWatch } from "@causeway/openstack";

/** How large the world is. */
export interface Size {
  readonly clusters: number;
  /** Of each cluster. */
  readonly machines: number;
  readonly clouds: number;
  /** Clusters that share a namespace and a project. */
  readonly clustersOfTenant: number;
}

interface Resource {
  readonly id: string;
  readonly name: string;
  status: string;
  readonly project_id: string;
  readonly tags: readonly string[];
}

/** Milliseconds of a list: its beginning, and each object. */
const LIST = { base: 40, object: 0.1 };
/** Objects of a page: Nova's and Neutron's usual limit. */
const PAGE = 1000;
/** Milliseconds of a call that changes something, and until a new server is ACTIVE. */
const WRITE = 150;
const BOOT = 20_000;

/** The lists that the OpenStack provider polls of a project with clusters. */
const POLLED = ["networks", "subnets", "routers", "ports", "securityGroups", "floatingIps", "servers"] as const;

/** One tenant: a namespace with clusters, and the project that their resources are in. */
export class Tenant {
  readonly namespace: string;
  readonly cloud: number;
  readonly clusters: readonly string[];
  readonly machines: readonly string[];
  readonly servers = new Map<string, Resource>();
  readonly #few: readonly Resource[];
  readonly #ports: Resource[] = [];
  readonly #estate: Estate;

  constructor(estate: Estate, index: number, clusters: readonly string[], machinesOfCluster: number) {
    this.#estate = estate;
    this.namespace = `tenant-${index}`;
    this.cloud = index % estate.size.clouds;
    this.clusters = clusters;
    this.machines = clusters.flatMap((cluster) =>
      Array.from({ length: machinesOfCluster }, (_, machine) => `${cluster}-${machine}`),
    );
    this.#few = clusters.map((name) => this.#resource(name));
    for (const name of this.machines) {
      this.servers.set(name, this.#resource(name));
      this.#ports.push(this.#resource(name));
    }
  }

  /** The project as one process sees it: pollers of its own, whose calls count for the cloud. */
  watch(clock: Clock): CloudWatch {
    const few = this.#collection(() => this.#few);
    const ports = this.#collection(() => this.#ports);
    const servers = this.#collection(() => [...this.servers.values()]);
    const none = this.#collection(() => []);
    const network = { networks: few, subnets: few, routers: few, securityGroups: few, floatingIps: few, ports };
    const cloud = {
      name: this.namespace,
      projectId: () => Promise.resolve(this.namespace),
      network,
      compute: { servers, flavors: none, serverGroups: none },
      image: { images: none },
      blockStorage: { volumes: none },
      loadBalancing: { loadBalancers: none, listeners: none, pools: none },
    };
    return watchCloud(cloud as unknown as Cloud, { clock });
  }

  /** The informers that a reconcile needs. */
  needed(watch: CloudWatch) {
    return POLLED.map((type) => watch[type]);
  }

  /** Replaces a server: delete, port, create. Resolves with the new one, which boots. */
  async replace(name: string): Promise<Resource> {
    for (let call = 0; call < 4; call++) await this.#estate.call(this.cloud, WRITE);
    const server = { ...this.#resource(`${name}`), id: `${name}-${this.#estate.clock.now()}`, status: "BUILD" };
    this.servers.set(name, server);
    void this.#estate.clock.sleep(BOOT).then(() => {
      server.status = "ACTIVE";
    });
    return { ...server };
  }

  #resource(name: string): Resource {
    return { id: `${this.namespace}/${name}`, name, status: "ACTIVE", project_id: this.namespace, tags: [] };
  }

  #collection(objects: () => readonly Resource[]) {
    return {
      all: async () => {
        const count = objects().length;
        const pages = Math.max(1, Math.ceil(count / PAGE));
        for (let page = 0; page < pages; page++)
          await this.#estate.call(this.cloud, LIST.base + LIST.object * Math.min(PAGE, count));
        // Each process has objects of its own, as if they came over the wire.
        return objects().map((object) => ({ ...object }));
      },
    };
  }
}

/** All tenants, and the calls to their clouds. */
export class Estate {
  readonly clock: Clock;
  readonly size: Size;
  readonly tenants = new Map<string, Tenant>();
  readonly calls: number[];

  constructor(clock: Clock, size: Size) {
    this.clock = clock;
    this.size = size;
    this.calls = Array.from({ length: size.clouds }, () => 0);
    for (let first = 0, index = 0; first < size.clusters; first += size.clustersOfTenant, index++) {
      const count = Math.min(size.clustersOfTenant, size.clusters - first);
      const clusters = Array.from({ length: count }, (_, i) => `c${first + i}`);
      const tenant = new Tenant(this, index, clusters, size.machines);
      this.tenants.set(tenant.namespace, tenant);
    }
  }

  get total(): number {
    return this.calls.reduce((sum, calls) => sum + calls, 0);
  }

  call(cloud: number, milliseconds: number): Promise<void> {
    this.calls[cloud] = (this.calls[cloud] ?? 0) + 1;
    return this.clock.sleep(milliseconds);
  }
}
