import type * as OpenStack from "@causeway/openstack";
import type { ClusterCloud } from "../openstackcluster/model.ts";
import type { ClusterStep } from "../openstackcluster/steps.ts";
import type { MachineCloud } from "../openstackmachine/model.ts";
import type { MachineStep } from "../openstackmachine/steps.ts";
import { clusterEffects, machineEffects } from "./effects.ts";

/** What planners read of a project, before any step. */
export type ProjectState = Omit<MachineCloud, "floatingIps"> & ClusterCloud;

/**
 * What steps do to a cloud, as values: enough to plan the steps that follow. It is no OpenStack: nothing takes time
 * here, nothing is refused, and the IDs of what a step creates are made up ("network-1").
 */
export class DryRunCloud {
  readonly #before: ProjectState;
  readonly projectId: string;
  networks: OpenStack.Network[];
  subnets: OpenStack.Subnet[];
  routers: OpenStack.Router[];
  ports: OpenStack.Port[];
  securityGroups: OpenStack.SecurityGroup[];
  floatingIps: OpenStack.FloatingIp[];
  loadBalancers: OpenStack.LoadBalancer[];
  listeners: OpenStack.Listener[];
  pools: OpenStack.Pool[];
  members: Map<string, readonly OpenStack.Member[]>;
  servers: OpenStack.Server[];
  volumes: OpenStack.Volume[];
  #next = 0;

  constructor(before: ProjectState) {
    const { loadBalancing } = before;
    this.#before = before;
    this.projectId = before.projectId;
    this.networks = [...before.networks];
    this.subnets = [...before.subnets];
    this.routers = [...before.routers];
    this.ports = [...before.ports];
    this.securityGroups = [...before.securityGroups];
    this.floatingIps = [...before.floatingIps];
    this.loadBalancers = [...loadBalancing.loadBalancers];
    this.listeners = [...loadBalancing.listeners];
    this.pools = [...loadBalancing.pools];
    this.members = new Map(loadBalancing.members);
    this.servers = [...before.servers];
    this.volumes = [...before.volumes];
  }

  id(kind: string): string {
    return `${kind}-${++this.#next}`;
  }

  forCluster(): ClusterCloud {
    const { networks, subnets, routers, ports, securityGroups, floatingIps, loadBalancers, listeners, pools, members } =
      this;
    const { projectId, identity, zones, loadBalancing } = this.#before;
    return {
      projectId,
      identity,
      zones,
      networks: [...networks],
      subnets: [...subnets],
      routers: [...routers],
      ports: [...ports],
      securityGroups: [...securityGroups],
      floatingIps: [...floatingIps],
      loadBalancing: { ...loadBalancing, loadBalancers, listeners, pools, members },
    };
  }

  forMachine(): MachineCloud {
    const { servers, ports, networks, subnets, securityGroups, volumes, floatingIps } = this;
    const { projectId, identity, region, images, flavors, serverGroups, extensions } = this.#before;
    return {
      projectId,
      identity,
      region,
      images,
      flavors,
      serverGroups,
      extensions,
      networks,
      subnets,
      securityGroups,
      servers: [...servers],
      ports: [...ports],
      volumes: [...volumes],
      floatingIps: [...floatingIps],
    };
  }

  applyCluster(step: ClusterStep): void {
    const apply = clusterEffects[step.type] as ((cloud: DryRunCloud, step: ClusterStep) => void) | undefined;
    apply?.(this, step);
  }

  applyMachine(step: MachineStep): void {
    const apply = machineEffects[step.type] as ((cloud: DryRunCloud, step: MachineStep) => void) | undefined;
    apply?.(this, step);
  }
}
