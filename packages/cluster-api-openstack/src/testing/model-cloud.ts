import type * as OpenStack from "@causeway/openstack";
import type { ClusterCloud } from "../openstackcluster/model.ts";
import type { ClusterStep } from "../openstackcluster/steps.ts";
import type { MachineCloud } from "../openstackmachine/model.ts";
import type { MachineStep } from "../openstackmachine/steps.ts";
import { clusterEffects, machineEffects } from "./model-effects.ts";
import { external, externalSubnet, flavors, identity, images, projectId } from "./objects.ts";

/**
 * What steps do to a cloud, as values: enough to check whether a planner's steps lead to the planned state. It is no
 * OpenStack (that is the simulator): nothing takes time here, and nothing is refused.
 */
export class ModelCloud {
  networks: OpenStack.Network[] = [external];
  subnets: OpenStack.Subnet[] = [externalSubnet];
  routers: OpenStack.Router[] = [];
  ports: OpenStack.Port[] = [];
  securityGroups: OpenStack.SecurityGroup[] = [];
  floatingIps: OpenStack.FloatingIp[] = [];
  loadBalancers: OpenStack.LoadBalancer[] = [];
  listeners: OpenStack.Listener[] = [];
  pools: OpenStack.Pool[] = [];
  members = new Map<string, OpenStack.Member[]>();
  servers: OpenStack.Server[] = [];
  volumes: OpenStack.Volume[] = [];
  #next = 0;

  /** Everything that is there besides the external network, as "type name". */
  get inventory(): string[] {
    const groups = {
      networks: this.networks.slice(1),
      subnets: this.subnets.slice(1),
      routers: this.routers,
      ports: this.ports,
      securityGroups: this.securityGroups,
      loadBalancers: this.loadBalancers,
      listeners: this.listeners,
      servers: this.servers,
      volumes: this.volumes,
    };
    const named = Object.entries(groups).flatMap(([type, list]) => list.map((r) => `${type} ${r.name}`));
    return [...named, ...this.floatingIps.map((ip) => `floatingIps ${ip.description}`)].sort();
  }

  id(kind: string): string {
    return `${kind}-${++this.#next}`;
  }

  forCluster(): ClusterCloud {
    const { networks, subnets, routers, ports, securityGroups, floatingIps, loadBalancers, listeners, pools, members } =
      this;
    return {
      projectId,
      identity,
      networks: [...networks],
      subnets: [...subnets],
      routers: [...routers],
      ports: [...ports],
      securityGroups: [...securityGroups],
      floatingIps: [...floatingIps],
      loadBalancing: { available: true, providers: ["amphora", "ovn"], loadBalancers, listeners, pools, members },
      zones: [
        { zoneName: "nova", zoneState: { available: true } },
        { zoneName: "az2", zoneState: { available: true } },
        { zoneName: "broken", zoneState: { available: false } },
      ],
    };
  }

  forMachine(): MachineCloud {
    const { servers, ports, networks, subnets, securityGroups, volumes } = this;
    return {
      projectId,
      identity,
      region: "RegionOne",
      servers: [...servers],
      ports: [...ports],
      networks,
      subnets,
      securityGroups,
      images,
      flavors,
      serverGroups: [],
      volumes: [...volumes],
    };
  }

  applyCluster(step: ClusterStep): void {
    const apply = clusterEffects[step.do] as ((cloud: ModelCloud, step: ClusterStep) => void) | undefined;
    apply?.(this, step);
  }

  applyMachine(step: MachineStep): void {
    const apply = machineEffects[step.do] as ((cloud: ModelCloud, step: MachineStep) => void) | undefined;
    apply?.(this, step);
  }
}
